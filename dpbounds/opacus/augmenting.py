"""Augmented copies of records: the loader reads a record several times, and the rows of its copies follow each other.

``mean_over_copies`` in ``optimizers.py`` averages the gradients of these rows before they are clipped. A batch is drawn
and split by records, and copied afterwards, so that the rows of one mean are those of one record. Section 10 of
``neighbours.md`` has the proof.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch.utils.data import Dataset


class Copies(Dataset[list[Any]]):
    """A dataset whose item is a list of readings of one record, which a random transform makes different.

    Args:
        records: The records.
        number: The number of readings.
    """

    def __init__(self, records: Any, number: int) -> None:
        self.records, self.number = records, number

    def __len__(self) -> int:
        return len(self.records)

    def __getitem__(self, index: int) -> list[Any]:
        return [self.records[index] for _ in range(self.number)]


class AllCopies:
    """A collate function for lists of readings: it gives all readings to another one, record after record.

    Args:
        collate: The collate function of the original loader.
    """

    def __init__(self, collate: Callable[[list[Any]], Any]) -> None:
        self.collate = collate

    def __call__(self, batch: list[list[Any]]) -> Any:
        """Return one batch of all readings."""
        return self.collate([reading for record in batch for reading in record])
