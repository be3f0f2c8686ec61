"""Plans of the contour method: where to integrate and how finely, chosen in floating point.

Nothing here is proven and nothing needs to be: every choice that satisfies the conditions asserted by ``moments``,
``tails`` and ``curve`` gives a valid enclosure, and a poor one only a wide enclosure or a refusal.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from dpbounds.expressions.time_limit import checkpoint
from dpbounds.privacy.pairs.pairs import GaussianProduct
from dpbounds.privacy.proofs import Declined
from dpbounds.privacy.routes.closed_forms import squared_shift_of
from dpbounds.privacy.routes.contour.choices import Bulk, ContourChoices, dyadic
from dpbounds.privacy.routes.contour.landscape import LossSum, SaddlePoint, refined, survey
from dpbounds.privacy.routes.contour.nodes import choose_nodes
from dpbounds.privacy.routes.contour.power_sums import BITS, limbs_for
from dpbounds.privacy.routes.contour.spectrum import (
    MOST_FREQUENCIES,
    bulk_level,
    bulk_softness,
    depth,
    edge_at,
    first_index,
    last_frequency,
    last_jump,
    shortest_period,
    turn_table,
)

SOFTNESSES = (1.0, 4.0, 0.5, 0.25, 0.125, 0.0625)
_SHARPNESSES = (2.5, 5.0, 10.0)  # sharpness of the split between bulk and jumps
GOOD = 15_000_000  # node-frequency products below which no better cut-off or kind is searched
# frequencies above which another kind is tried: each one costs time when a certificate is checked
_MANY_FREQUENCIES = 1000
_LOOKING = 500_000  # products that take as long as the search, for each further distribution
_LOWER = (0.8, 0.65, 0.5, 0.4, 0.3)  # tilts that are tried, in units of the saddle point's tilt
_MISTAKEN = 0.7  # share of the steepest cut-off's tilt below which a softer one is not trusted
_FEW_STEPS, _FEW_LAWS = 3000, 12  # most steps and distributions for a turned line, which is raised to that power
DEAR = 200_000_000  # node-frequency products above which the route declines
_ROUGHLY = 1e-3  # accuracy of a single Chernoff bound


class TooDearError(Declined):
    """A plan exists, but needs too many node-frequency products at this accuracy."""

    def __init__(self, cost: int) -> None:
        super().__init__(cost)
        self.cost = cost

    def __str__(self) -> str:
        return f"{self.cost:.1e} node-frequency products are too many"


@dataclass(frozen=True)
class Draft:
    """A contour for one target, before the cells are laid out, which only a proof needs."""

    product: GaussianProduct
    landscape: LossSum
    saddle: SaddlePoint
    spacing: float
    frequencies: int
    sigmas: tuple[float, ...]
    accuracy: float
    turns: tuple[float | None, ...] = ()  # empty where every tail is bounded by rectangles
    bulks: tuple[Bulk | None, ...] = ()  # empty where no distribution is split
    bulk_tilt: float | None = None

    @cached_property
    def plan(self) -> ContourChoices:
        """The plan without cells."""
        return self._assembled(cells=False)

    def finished(self) -> ContourChoices:
        """Return the plan with cells."""
        return self._assembled(cells=True)

    @cached_property
    def value(self) -> float:
        """Log G(λ)."""
        return float(self.landscape.log_moment(np.array([self.saddle.tilt]))[0])

    @property
    def allowance(self) -> float:
        """Log of the allowed error, relative to G(λ)."""
        return depth(self.landscape, self.saddle) + math.log(self.accuracy)

    @property
    def nats(self) -> float:
        """Accuracy of M over all repetitions, as -log."""
        # how far δ e^{λε} lies below G(λ): what M's errors are measured against
        below = -depth(self.landscape, self.saddle)
        return -math.log(self.accuracy) + max(0.0, below) + 2

    def _assembled(self, cells: bool) -> ContourChoices:
        landscape, saddle, K = self.landscape, self.saddle, self.frequencies
        value, nats = self.value, self.nats
        top = K * self.spacing
        farthest = max(abs(epsilon) for epsilon in (saddle.epsilon, *(epsilon for epsilon, _ in saddle.others)))
        none = (None,) * len(landscape.laws)
        nodes = tuple(
            choose_nodes(law, saddle, self.sigmas, top, nats, turn, bulk, self.bulk_tilt, cells)
            for law, turn, bulk in zip(landscape.laws, self.turns or none, self.bulks or none, strict=True)
        )
        largest = max(
            [abs(saddle.tilt * farthest), abs(value), top * farthest, 1.0]
            + [(saddle.tilt + top) * float(np.abs(law.loss).max()) for law in landscape.laws]
        )
        lift = max((float(n.log_lift(saddle.tilt)) for n in nodes), default=0.0)
        bits = (nats + lift) / math.log(2) + math.log2(landscape.steps + 2)
        behind = bits + math.log2(6 * math.sqrt(K + 1) + 16) + 4
        bits = max(bits + 1.5 * math.log2(landscape.steps + 2) + 36, BITS * limbs_for(behind) + 12)
        return ContourChoices(
            tilt=saddle.tilt,
            spacing=self.spacing,
            frequencies=K,
            aliases=self.sigmas,
            nodes=nodes,
            squared_shift=squared_shift_of(self.product),
            bulk_tilt=self.bulk_tilt,
            precision=64 * math.ceil((bits + math.log2(largest)) / 64),
            bits=behind,
            guess=max(saddle.epsilon, 0.0),
            spread=saddle.spread,
            log_delta=saddle.log_delta,
        )


def make_draft(
    product: GaussianProduct,
    *,
    log_delta: float | None = None,
    epsilon: float | None = None,
    accuracy: float = 1e-13,
    softnesses: tuple[float, ...] = SOFTNESSES,
) -> Draft:
    """Choose a contour for one target, a log δ or an ε, at about this relative accuracy of δ.

    Only cut-offs of the given softnesses are tried. With both targets given, the tilt is the saddle point for ε, and
    the given log δ is trusted.
    """
    best: Draft | None = None
    reasons: list[str] = []
    good = GOOD + _LOOKING * (len(product) - 1)
    # A soft cut-off lets jumps back in that a large tilt then mistakes for the bulk of δ: the tilt stays far too low.
    steep = survey(product, softnesses[-1], math.log(accuracy), log_delta, epsilon)[1].tilt
    for softness in softnesses:
        checkpoint()
        landscape, saddle = survey(product, softness, math.log(accuracy), log_delta, epsilon)
        if saddle.tilt < _MISTAKEN * steep:
            reasons.append(f"softness {softness:g}: the cut-off lets the largest jumps back in")
            continue
        failures: list[str] = []
        best = cheapest(KINDS[:1], begun(product, landscape, saddle, accuracy), best, failures)
        if best is None or best.plan.cost > good or best.frequencies > _MANY_FREQUENCIES:
            # a plan that takes much work is worth a better saddle and other ways to bound the tail
            if log_delta is None or epsilon is None:
                saddle = refined(landscape, saddle, keep_delta=log_delta is not None)
            saddle = _with_shortest_period(landscape, saddle, accuracy)
            best = cheapest(KINDS, begun(product, landscape, saddle, accuracy), best, failures)
        reasons += [f"softness {softness:g}: {failure}" for failure in failures]
        if (best is not None and best.plan.cost <= good) or not landscape.cut:
            break
    if best is None:
        raise Declined("; ".join(dict.fromkeys(reasons)))
    if best.plan.cost > DEAR:
        raise TooDearError(best.plan.cost)
    return best


def _with_shortest_period(landscape: LossSum, saddle: SaddlePoint, accuracy: float) -> SaddlePoint:
    """Return the same target at the tilt, up to the saddle point's, whose period is shortest.

    Where rare jumps of any size make up δ, a smaller tilt costs nothing in accuracy and keeps large jumps small.
    """
    lower = (landscape.saddle(saddle.tilt * share, saddle.epsilon) for share in _LOWER)
    found = [saddle, *(replace(other, log_delta=saddle.log_delta) for other in lower)]
    return min(found, key=lambda candidate: shortest_period(landscape, candidate, -math.log(accuracy))[0])


def begun(product: GaussianProduct, landscape: LossSum, saddle: SaddlePoint, accuracy: float) -> Draft:
    """Return the common part of all contours: the shortest period, and its aliases; no frequency yet."""
    period, right, left = shortest_period(landscape, saddle, -math.log(accuracy))
    return Draft(product, landscape, saddle, dyadic(2 * math.pi / period), 0, (right, left), accuracy)


def plain(draft: Draft) -> Draft:
    """Return all of the distribution on one contour; the tail in the frequency by rectangles below the density."""
    last = last_frequency(draft.landscape, draft.saddle, draft.spacing, -math.log(draft.accuracy))
    return replace(draft, frequencies=last)


def _turned(draft: Draft) -> Draft:
    """Return all of the distribution on one contour, with the tail in the frequency on a turned line (few steps)."""
    landscape = draft.landscape
    if landscape.steps > _FEW_STEPS or len(landscape.laws) > _FEW_LAWS:
        raise Declined("too many steps for turned lines")
    tables = [turn_table(law, draft.saddle.tilt, None) for law in landscape.laws]

    allowance = draft.allowance

    def enough(K: int) -> bool:
        w = K * draft.spacing
        best = (law.part.count * table.best(w)[0] for law, table in zip(landscape.laws, tables, strict=True))
        return sum(best) - 0.5 * w * w * landscape.squared_shift - math.log(math.pi * w) + 0.7 - allowance <= 0

    last = first_index(enough, MOST_FREQUENCIES, 16)
    if last is None:
        raise Declined("the tilted distribution decays too slowly on a turned line")
    best = [table.best(last * draft.spacing)[1] for table in tables]
    turns = tuple(dyadic(v * law.part.z) for v, law in zip(best, landscape.laws, strict=True))
    return replace(draft, frequencies=last, turns=turns)


def _peeled(draft: Draft) -> Draft:
    """Return a contour for sums with at least one jump, which is smooth: the bulk alone cannot reach ε."""
    landscape, saddle = draft.landscape, draft.saddle
    if any(not law.part.cut for law in landscape.laws) or not landscape.laws:
        raise Declined("bounded losses have no jumps to peel off")
    found: list[tuple[float, Draft]] = []
    reasons: list[str] = []
    for sharpness in _SHARPNESSES:
        try:
            level, bulk_tilt = bulk_level(landscape, saddle, -math.log(draft.accuracy), sharpness)
            bulks = tuple(Bulk(edge_at(law, level), bulk_softness(law.part, sharpness)) for law in landscape.laws)
            last, turns = last_jump(landscape, saddle.tilt, bulks, draft.spacing, draft.allowance)
        except Declined as reason:
            reasons.append(str(reason))
            continue
        frequencies = max(4, math.ceil(last / draft.spacing))
        found.append((last, replace(draft, frequencies=frequencies, turns=turns, bulks=bulks, bulk_tilt=bulk_tilt)))
    if not found:
        raise Declined("; ".join(dict.fromkeys(reasons)))
    return min(found, key=lambda each: each[0])[1]


Kind = Callable[[Draft], Draft]  # from what has begun to all but the cells; Declined where that kind does not serve
KINDS: tuple[Kind, ...] = (plain, _turned, _peeled)


def cheapest(
    kinds: Iterable[Kind], start: Draft, best: Draft | None, failures: list[str], enough: int = 0
) -> Draft | None:
    """Return the cheapest of ``best`` and all kinds; stops after one that costs little ``enough``."""
    for kind in kinds:
        try:
            found = kind(start)
        except Declined as reason:
            failures.append(str(reason))
            continue
        if best is None or found.plan.cost < best.plan.cost:
            best = found
        if found.plan.cost <= enough:
            break
    return best


def plain_draft(product: GaussianProduct, landscape: LossSum, saddle: SaddlePoint, accuracy: float) -> Draft:
    """Return the kind that is tried first."""
    return plain(begun(product, landscape, saddle, accuracy))


def chernoff_plan(product: GaussianProduct, epsilon: float, log_delta: float, softness: float = 1.0) -> ContourChoices:
    """Return a plan without frequencies, for one Chernoff bound at ε to be compared with δ."""
    landscape, saddle = survey(product, softness, math.log(_ROUGHLY), log_delta, epsilon)
    return Draft(product, landscape, saddle, dyadic(1 / saddle.spread), 0, (), _ROUGHLY).finished()
