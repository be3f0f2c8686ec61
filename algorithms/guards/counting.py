"""The count of every run: each answer has its entry in the run's own ledger, and at least the noise of the entry.

The noise of gradients, Hessians and quantiles is compared with the entry once for each kind and noise multiplier, as
it does not depend on the points; that of differences, products and answers along a path is compared every time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from dpbounds.algorithms.guards.sizes import least_noise, reach
from dpbounds.algorithms.ledger import DescribedRelease, OpenLedger, Release
from dpbounds.algorithms.oracles.watching import Question, watched_by
from dpbounds.algorithms.run import is_shadow
from dpbounds.algorithms.unreleased import opened
from dpbounds.errors import BudgetExceeded

_ROUNDING = 1e-9
_VARYING = ("path", "difference", "product")  # kinds of which the size of the noise depends on the points


def counted(generators: Sequence[np.random.Generator], ledger: OpenLedger) -> AbstractContextManager[object]:
    """Count the answers inside the ``with`` block; not in a replay, whose answers were counted in its run."""
    return nullcontext() if is_shadow() else watched_by(Count(generators, ledger))


class Count:
    """Counter of answers and entries during a walk.

    Args:
        generators: The run's streams, one per repetition.
        ledger: Its ledger.

    Raises:
        BudgetExceeded: Two repetitions have the same stream.
    """

    def __init__(self, generators: Sequence[np.random.Generator], ledger: OpenLedger) -> None:
        self._ledger = ledger
        states = {repr(generator.bit_generator.state) for generator in generators}
        if len(states) < len(generators):
            raise BudgetExceeded(f"{len(generators)} repetitions have {len(states)} different streams of noise")
        self._sized: dict[str, object] = {}
        self._shares: dict[Any, dict[np.random.Generator, float]] = defaultdict(lambda: defaultdict(float))
        self._drawn: list[tuple[np.random.Generator, Any]] = []  # the batches of the answer that is made

    def drawn(self, generator: np.random.Generator, rows: Any) -> None:
        """Keep a batch that was drawn."""
        self._drawn.append((generator, rows))

    def answer(self, question: Question, answer: Callable[[], Any]) -> Any:
        """Pass the answer through, and compare the ledger's entries before and after."""
        pen: Any = question.ledger
        within = pen
        while within is not self._ledger and within is not None:
            within = getattr(within, "ledger", None)
        if within is None:
            raise BudgetExceeded(
                f"an answer ({question.kind}) was to be written into another ledger than the run's: "
                "its privacy loss would not be counted"
            )
        before, outer, self._drawn = pen.taken, self._drawn, []
        try:
            given = answer()
            self._demand_one_draw(question, given)
        finally:
            self._drawn = outer
        if pen.taken == before:
            raise BudgetExceeded(f"an answer ({question.kind}) has no entry in the ledger: do not publish it")
        if question.kind == "path":
            self._demand_share(question, pen, given)
        if question.kind in _VARYING or self._is_new(question):
            self._demand_size(question, pen.last, given)
        return given

    def _is_new(self, question: Question) -> bool:
        """Return whether no answer of this kind and noise was compared with its entry."""
        return bool(question.points) and self._sized.get(question.kind) is not question.terms[0]

    def _demand_one_draw(self, question: Question, given: Any) -> None:
        """Check that an answer is about one batch per repetition, the one drawn for it: the entry is of one sample."""
        if not self._drawn or question.kind == "mechanism":  # batches of an epoch are dealt, and not drawn one by one
            return
        if len(self._drawn) != len(question.generators):
            raise BudgetExceeded(
                f"one answer ({question.kind}) drew {len(self._drawn)} batches for {len(question.generators)} "
                "repetitions, but its entry in the ledger counts one batch each: do not publish it"
            )
        rows = opened(getattr(given, "rows", None))
        if rows is None:
            raise BudgetExceeded(f"an answer ({question.kind}) drew a batch without the list of its records")
        if not all(np.array_equal(told, used) for (_, told), used in zip(self._drawn, rows, strict=True)):
            raise BudgetExceeded(f"an answer ({question.kind}) does not use exactly the records that were drawn")

    def _demand_share(self, question: Question, pen: Any, given: Any) -> None:
        """Check that answers along a path, which share one entry, have (C/σ)² that add up to at most 1/z²."""
        entry = pen.last.mechanism()
        moved, shares = given.noise_stddev > 0, self._shares[pen]
        parts = np.zeros(len(moved))
        parts[moved] = (reach(question, entry)[moved] / given.noise_stddev[moved]) ** 2
        for generator, part in zip(question.generators, parts, strict=True):
            shares[generator] += part
            if shares[generator] * float(entry.noise_multiplier) ** 2 > 1 + _ROUNDING:
                raise BudgetExceeded(f"answers along a path cost more than {pen.last} allows: do not publish them")

    def _demand_size(self, question: Question, entry: Release | DescribedRelease, given: Any) -> None:
        least = least_noise(question, entry)
        if least is not None and not least.any():  # no point has moved, so that no noise is needed
            return
        self._sized[question.kind] = question.terms[0]
        if least is None:
            return
        drawn = getattr(given, "noise_stddev", None)
        drawn = np.array(question.about.noise_stddev) if drawn is None else drawn
        if not (drawn >= least * (1 - _ROUNDING)).all():
            share = float((drawn / np.where(least > 0, least, 1.0)).min())
            raise BudgetExceeded(
                f"an answer ({question.kind}) has {share:.6g} of the noise that {entry} asks for, by the constants of "
                "the problem: do not publish the output"
            )
