"""Watchers of oracles: a run's own count of its answers, and guards.

Every oracle, choice and mechanism returns its answer through ``answered``, with any ledger. So a run sees answers that
it did not order, and a guard may see them all, or answer in the place of the records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol, TypeVar

import numpy as np

from dpbounds.algorithms.noise import Records
from dpbounds.algorithms.unreleased import demand_released

T = TypeVar("T")


@dataclass(slots=True, eq=False)
class Question:
    """A query of an oracle.

    Attributes:
        kind: "gradient", "batch", "difference", "path", "Hessian", "product", "quantile", "choice" or "mechanism".
        points: The points, one array of shape (R, p) each, which follow from earlier releases.
        terms: By which noise, sampling and the like, as public as the points.
        generators: The streams of the repetitions that ask.
        ledger: The ledger of the answer.
        about: The oracle, if it is one, or ``Scored`` of a choice: for those who know the records.
    """

    kind: str
    points: tuple[Any, ...]
    terms: tuple[object, ...]
    generators: Sequence[np.random.Generator]
    ledger: Records
    about: Any = field(default=None, repr=False)


class Watcher(Protocol):
    """An observer of the answers of a run."""

    def answer(self, question: Question, answer: Callable[[], Any]) -> Any:
        """Return the answer: the oracle's own, made by ``answer``, or a replacement."""


_WATCHERS: ContextVar[tuple[Watcher, ...]] = ContextVar("watchers", default=())  # the innermost first


W = TypeVar("W", bound=Watcher)


@contextmanager
def watched_by(watcher: W) -> Iterator[W]:
    """Pass every answer inside the ``with`` block through the watcher, and then through the earlier watchers."""
    token = _WATCHERS.set((watcher, *_WATCHERS.get()))
    try:
        yield watcher
    finally:
        _WATCHERS.reset(token)


def watchers() -> tuple[Watcher, ...]:
    """Return the watchers that are active in this context."""
    return _WATCHERS.get()


def drawn(generator: np.random.Generator, rows: T) -> T:
    """Report a batch to the watchers, with the stream that drew it, and return its rows."""
    for watcher in _WATCHERS.get():
        hear = getattr(watcher, "drawn", None)
        if hear is not None:
            hear(generator, rows)
    return rows


def answered(question: Question, answer: Callable[[], T]) -> T:
    """Return the answer to a question, through the active watchers.

    Raises:
        BudgetExceeded: A point was made from what is not released; or a watcher found something.
    """
    demand_released("a question", *question.points, *question.terms)
    for watcher in _WATCHERS.get():
        answer = partial(watcher.answer, question, answer)
    return answer()
