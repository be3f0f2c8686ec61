"""The exponential mechanisms against their bounds at three sizes, their exponent in n, and their privacy loss."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from algorithms.selection.net_exponential_mechanism import WhichVariant
from algorithms.verification.cells import Cell, Result, number
from algorithms.verification.checks import Check, Verdict
from algorithms.verification.plans.shapes import CellsAt, bounded, computed, only, quantile_bounded, slope, spent
from algorithms.verification.suite import Planned, Size
from algorithms.verification.tasks.selection import double_well, planned_gibbs, planned_net
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.evaluation import evaluate
from dpbounds.theorems.registry import theorem

_TASKS = "algorithms.verification.tasks.selection"
_NET, _PRINTED = "lowy-ullman-wright-2024/lemma-4.2/explicit", "lowy-ullman-wright-2024/definition-4.1"
_LEMMA = "lowy-ullman-wright-2024/lemma-4.2"
_BALL, _QUOTED = "wang-chen-xu-2019/theorem-4/explicit", "ganesh-liu-oh-thakurta-2023/section-5.2"
_GIBBS = "ganesh-liu-oh-thakurta-2023/theorem-5.6/explicit"
_EPSILON = 1.0
_SIZES = {Size.QUICK: (1000, 2000, 4000, 8000), Size.FULL: (1000, 2000, 4000, 8000, 16_000, 32_000)}
_REPETITIONS = {Size.QUICK: 1500, Size.FULL: 12_000}
_NEIGHBOURS = {Size.QUICK: 1000, Size.FULL: 4000}
# a computed loss falls short of its supremum by what the flat part of the records takes off, and by the mass at one end
_ATTAINED = 0.98


def _net_cell(size: Size, records: int, dimension: int = 1, variant: WhichVariant = "proven") -> Cell:
    return Cell.of(
        f"{_TASKS}:net_choice",
        0,
        records=records,
        dimension=dimension,
        epsilon=_EPSILON,
        variant=variant,
        repetitions=_REPETITIONS[size],
    )


def _gibbs_cell(size: Size, records: int, dimension: int = 1) -> Cell:
    return Cell.of(
        f"{_TASKS}:gibbs_sample",
        0,
        records=records,
        dimension=dimension,
        epsilon=_EPSILON,
        repetitions=_REPETITIONS[size],
    )


def _sweep(cell: Callable[[Size, int], Cell]) -> CellsAt:
    return lambda size: [cell(size, records) for records in _SIZES[size]]


def _net_bounded(records: int, dimension: int, variant: WhichVariant = "proven") -> Planned:
    def bound() -> Enclosure:
        return planned_net(records, dimension, _EPSILON, variant).bound(double_well(records, dimension))

    name = f"choice on a net, {variant}, n = {records}, d = {dimension}"
    return bounded(_NET, name, lambda size: _net_cell(size, records, dimension, variant), "excess", bound)


def _net_tail(records: int) -> Planned:
    """With a probability of 1 - e^-t no more than Lemma 4.2 says, at t = 2."""
    exponent = 2

    def bound() -> Enclosure:
        return (
            theorem(_LEMMA)
            .evaluate(
                None,
                dataset_size=records,
                dimension=1,
                epsilon=Fraction(_EPSILON),
                tail_exponent=exponent,
                lipschitz=evaluate(double_well(records, 1).lipschitz, {}),
                diameter=2 * planned_net(records, 1, _EPSILON, "as-printed").net.radius,
            )
            .value
        )

    name = f"choice on a net, as-printed, quantile at 1 - e^-{exponent}, n = {records}"
    cell, failure = (lambda size: _net_cell(size, records, 1, "as-printed")), math.exp(-exponent)
    return quantile_bounded(_LEMMA, name, cell, "excess", bound, failure)


def _gibbs_bounded(records: int, dimension: int) -> Planned:
    def bound() -> Enclosure:
        return planned_gibbs(records, dimension, _EPSILON).bound(double_well(records, dimension))

    name = f"regularised Gibbs sample, n = {records}, d = {dimension}"
    return bounded(_GIBBS, name, lambda size: _gibbs_cell(size, records, dimension), "excess", bound)


def _loss(theorem: str, name: str, cell: Callable[[int], Cell], promised: float) -> Planned:
    """The loss of two neighbours, computed and not estimated, as a share of what is promised: at most and nearly 1."""

    def judge(results: Sequence[Result], confidence: float) -> Check:
        loss = number(results[0], "loss")
        share = loss / promised
        verdict = Verdict.FAILS if share > 1 + 1e-9 else Verdict.HOLDS if share >= _ATTAINED else Verdict.UNDECIDED
        of = f"{share:.4g} of the {promised:g} promised"
        reason = f"two neighbours have a privacy loss of {loss:.6g} (numerical), {of}"
        return computed(theorem, share, Enclosure.exactly(1, "share"), verdict, reason)

    return Planned(theorem, "formula", name, only(lambda size: cell(_NEIGHBOURS[size])), judge)


def _net_loss(theorem: str, variant: WhichVariant, promised: float) -> Planned:
    def cell(records: int) -> Cell:
        return Cell.of(f"{_TASKS}:net_loss", 0, records=records, epsilon=_EPSILON, variant=variant)

    refuted = "refutes print: " if promised > _EPSILON else ""
    return _loss(theorem, f"{refuted}privacy loss on a net, {variant}", cell, promised)


def _gibbs_loss_cell(records: int) -> Cell:
    return Cell.of(f"{_TASKS}:gibbs_loss", 0, records=records, epsilon=_EPSILON)


PLANNED: tuple[Planned, ...] = (
    spent(_BALL, "choice on a net, ledger", only(lambda size: _net_cell(size, 1000)), _EPSILON),
    spent(_GIBBS, "regularised Gibbs sample, ledger", only(lambda size: _gibbs_cell(size, 1000)), _EPSILON),
    *(_net_bounded(records, 1) for records in (1000, 4000, 8000)),
    *(_net_bounded(records, 2) for records in (50, 100, 200)),
    _net_bounded(1000, 1, "as-printed"),
    *(_net_tail(records) for records in (1000, 4000, 8000)),
    *(_gibbs_bounded(records, 1) for records in (1000, 4000, 8000)),
    *(_gibbs_bounded(records, 2) for records in (50, 100, 200)),
    # the excess falls like 1/n: d/(nε), but for a logarithm that a smooth minimum does not have
    slope(_NET, "choice on a net against n", _sweep(_net_cell), "excess", -1.0),
    slope(_GIBBS, "regularised Gibbs sample against n", _sweep(_gibbs_cell), "excess", -1.0),
    _net_loss(_NET, "proven", 1.0),
    _net_loss(_PRINTED, "as-printed", 0.5),
    _net_loss(_QUOTED, "as-quoted", 2.0),
    _loss(_GIBBS, "privacy loss of a Gibbs sample", _gibbs_loss_cell, 1.0),
)
