"""Gaps between the best known upper and lower bounds: each region of each metric with a gap, by its size, or open.

Problems in general: no special shape of the risk is assumed. A gap is a power product, so its logarithm is linear on
the region; against that of n it is largest on an extreme ray, where it is a power of n alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from dpbounds.expressions.symbols import dataset_size
from dpbounds.rates.cones import Vector, joined, product as inner
from dpbounds.rates.promises import Promise, Promises, compared, metrics, promises
from dpbounds.rates.regimes import Regime, Verdict
from dpbounds.rates.spaces import Space, standard, with_rank, with_width
from dpbounds.theorems.record import Metric, Theorem


@dataclass(frozen=True, slots=True)
class OpenProblem:
    """A region in which nothing known is tight.

    Attributes:
        lowers: The lower bounds that are largest there.
        size: The largest power of n that the gap is in the region; None if it is open, or has no end there.
        at: A ray on which it is so large.
    """

    metric: Metric
    space: Space
    regime: Regime
    lowers: tuple[str, ...]
    size: Fraction | None
    at: Vector | None


def open_problems(statements: Sequence[Theorem] | None = None) -> tuple[OpenProblem, ...]:
    """Return all of them: gaps first, the largest first.

    Args:
        statements: The statements to compare; by default the library.
    """
    found = [one for metric in metrics() for one in _of(Metric(metric), statements)]
    return tuple(sorted(found, key=_key))


def _key(one: OpenProblem) -> tuple[bool, bool, Fraction, str]:
    is_open = one.regime.verdict is Verdict.OPEN
    return is_open, one.size is not None, -(one.size or Fraction(0)), str(one.metric)


def _of(metric: Metric, statements: Sequence[Theorem] | None) -> Iterator[OpenProblem]:
    for space in (standard(), with_width(), with_rank()):
        known = promises(metric, space=space, statements=statements)
        if known.uppers:
            for regime in _merged(compared(known, space)):
                if regime.verdict is not Verdict.TIGHT:
                    size, at = _largest(regime, space)
                    yield OpenProblem(metric, space, regime, _holding(known, regime, space), size, at)
            return


def _merged(found: Sequence[Regime]) -> Iterator[Regime]:
    """Yield regions with the same bounds, merged; ``best`` are the best results in all of them."""
    bounds = dict.fromkeys((one.value, one.floor) for one in found)
    for value, floor in bounds:
        same = [one for one in found if (one.value, one.floor) == (value, floor)]
        for cone in joined([one.cone for one in same]):
            inside = [one for one in same if cone.contains(one.cone.inside)]
            best = tuple(name for name in inside[0].best if all(name in one.best for one in inside))
            yield replace(inside[0], cone=cone, best=best)


def _largest(regime: Regime, space: Space) -> tuple[Fraction | None, Vector | None]:
    """Return the largest power of n that a gap is, and where."""
    if regime.gap is None:
        return None, None
    form = space.form(regime.gap)
    records = space.axes.index(dataset_size)
    rays = sorted(regime.cone.rays)
    if any(ray[records] == 0 and inner(form, ray) > 0 for ray in rays):
        return None, None
    return max((Fraction(inner(form, ray)) / ray[records], ray) for ray in rays if ray[records])


def _holding(known: Promises, regime: Regime, space: Space) -> tuple[str, ...]:
    """Return the lower bounds that are as large as the floor."""
    if regime.floor is None:
        return ()
    point = regime.cone.inside
    level = inner(space.form(regime.floor), point)

    def holds(one: Promise) -> bool:
        there = one.order.region is None or any(cone.contains(point) for cone in one.order.region)
        return there and space.value(one.order.order, point) == level

    return tuple(one.id for one in known.lowers if holds(one))
