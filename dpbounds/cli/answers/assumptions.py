"""Assumptions of a certified value, and who can confirm them."""

from __future__ import annotations

from collections.abc import Iterator

from dpbounds.privacy.mechanisms import Mechanism
from dpbounds.privacy.mechanisms.core import CODE, SETTINGS, Assumption
from dpbounds.privacy.relations import Relation


def assumptions(mechanism: Mechanism, relation: Relation) -> Iterator[Assumption]:
    """Yield all assumptions on a run: first on the code, then on the loading of records."""
    found = dict.fromkeys(each for part in mechanism.nested() for each in part.assumptions(relation))
    yield from sorted(found, key=lambda each: each.who != CODE)
    if relation is Relation.ZERO_OUT_ONE:
        yield Assumption(
            CODE,
            "a record that contributes nothing changes nothing else: its place, its slot in a batch, the number of "
            "records, and what the other records contribute stay",
        )
    yield Assumption(
        SETTINGS,
        "noise, rates and the number of releases are fixed in advance; what is asked may depend on earlier answers",
    )
