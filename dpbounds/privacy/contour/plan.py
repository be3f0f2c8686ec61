"""Where to integrate and how finely: the free choices of the contour route, made in floating point.

Nothing here is proven and nothing needs to be: every choice that satisfies the conditions asserted by ``moments``,
``tails`` and ``curve`` gives a valid enclosure, and a poor one only a wide enclosure or a refusal.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpbounds.privacy.contour.landscape import Floats, Landscape, Law, Part, Saddle, log_erfc, refined, survey
from dpbounds.privacy.pairs import Order, Product, ShiftedGaussians
from dpbounds.privacy.proofs import Declined

SOFTNESSES = (1.0, 4.0, 0.5, 0.25, 0.125, 0.0625)
_SHARPNESSES = (2.5, 5.0, 10.0)  # of the split between bulk and jumps
_GOOD = 150_000  # node-frequency products at which no better cut-off is looked for
_MODEST = 400_000  # and at which no other kind of plan is
_MISTAKEN = 0.7  # share of the steepest cut-off's tilt below which a softer one is not trusted
_FEW_STEPS = 3000  # up to which the turned line may be raised to that power
_DEAR = 24_000_000  # and above which the route declines
_MOST_FREQUENCIES = 40_000
_MOST_CORNERS = 6_000


class TooDearError(Declined):
    """There is a plan, but it takes too much work at this accuracy."""


@dataclass(frozen=True, slots=True)
class Bulk:
    """A smooth split of one law at t = ``edge``: the bulk lies below, the jumps above."""

    edge: float
    softness: float


@dataclass(frozen=True, slots=True)
class Nodes:
    """How one part's moment generating function is summed: nodes t = step·j, first <= j <= last."""

    part: Part
    step: float  # a double with few bits, so that step·j is exact
    first: int
    last: int
    strip: float  # half-width d of the strip of analyticity used
    corners: tuple[float, ...]  # of the cells over which the line bounds are summed; tails lie outside
    edge: float  # the cut-off's position (ignored for the order without one)
    softness: float
    turn: float | None  # |Im t| of the line on which M (or the jumps' part) is bounded; None: by rectangles
    bulk: Bulk | None


@dataclass(frozen=True, slots=True)
class Plan:
    """All free choices of one contour integral."""

    tilt: float
    spacing: float  # D, between frequencies
    frequencies: int  # K
    doublings: int  # B, blocks of the tail bound
    aliases: tuple[float, ...]  # σ₁ > λ and σ₂ in [0, λ)
    nodes: tuple[Nodes, ...]
    squared_shift: Fraction
    bulk_tilt: float | None  # σ of the bound on what the bulk alone contributes (peeled plans)
    precision: int
    guess: float  # ε
    spread: float  # of ε over which the tilt serves
    log_delta: float

    @property
    def softness(self) -> float:
        """Of the cut-offs (0 without any)."""
        return max((nodes.softness for nodes in self.nodes if nodes.part.cut), default=0.0)

    @property
    def reach(self) -> float:
        """How far from ``guess`` the plan still serves well."""
        return min(0.25 * self.spread, 1 / self.tilt, 1 / (self.bulk_tilt or self.tilt))

    @property
    def cost(self) -> int:
        """Node-frequency products."""
        return self.frequencies * sum(nodes.last - nodes.first for nodes in self.nodes)


def dyadic(value: float, bits: int = 12) -> float:
    """The nearest double with that many significant bits."""
    mantissa, exponent = math.frexp(value)
    return math.ldexp(round(math.ldexp(mantissa, bits)), exponent - bits)


def make_plan(
    product: Product,
    *,
    log_delta: float | None = None,
    epsilon: float | None = None,
    accuracy: float = 1e-13,
    softnesses: tuple[float, ...] = SOFTNESSES,
) -> Plan:
    """Choose a contour for one target, a log δ or an ε, at about this relative accuracy of δ.

    Only cut-offs of the given softnesses are tried. With both targets given, the tilt is the saddle point for ε and
    log δ is taken at its word.

    Raises:
        Declined: Every plan would take too many nodes and frequencies.
    """
    best: Plan | None = None
    reasons: list[str] = []
    # A soft cut-off lets jumps back in that a large tilt then mistakes for the bulk of δ: the tilt stays far too low.
    steep = survey(product, softnesses[-1], math.log(accuracy), log_delta, epsilon)[1].tilt
    for softness in softnesses:
        landscape, saddle = survey(product, softness, math.log(accuracy), log_delta, epsilon)
        if saddle.tilt < _MISTAKEN * steep:
            reasons.append(f"softness {softness:g}: the cut-off lets the largest jumps back in")
            continue
        try:
            best = _cheaper(best, plain_plan(product, landscape, saddle, accuracy))
        except Declined as reason:
            reasons.append(f"softness {softness:g}: {reason}")
        if best is None or best.cost > _MODEST:
            # dear plans are worth a better saddle and other ways to bound the tail
            if log_delta is None or epsilon is None:
                saddle = refined(landscape, saddle, keep_delta=log_delta is not None)
            for contender in (plain_plan, _turned, _peeled):
                try:
                    best = _cheaper(best, contender(product, landscape, saddle, accuracy))
                except Declined as reason:
                    reasons.append(f"softness {softness:g}: {reason}")
        if (best is not None and best.cost <= _GOOD) or not any(law.part.cut for law in landscape.laws):
            break
    if best is None:
        raise Declined("; ".join(dict.fromkeys(reasons)))
    if best.cost > _DEAR:
        raise TooDearError(f"{best.cost:.1e} node-frequency products are too many")
    return best


def _cheaper(first: Plan | None, second: Plan) -> Plan:
    return second if first is None or second.cost < first.cost else first


# --- frequencies -------------------------------------------------------------------------------------------------


def _period(landscape: Landscape, saddle: Saddle, nats: float) -> tuple[float, float, float]:
    """The shortest period Λ whose aliases cost e^-nats of δ, and the two alias tilts that show it."""
    tilt, epsilon = saddle.tilt, saddle.epsilon
    steps = np.geomspace(1e-3, 60.0, 48)
    right = steps / saddle.spread
    left = np.minimum(steps / saddle.spread, tilt)
    left = np.append(left[left < tilt], tilt)
    lengths = []
    chosen = []
    for shift, sign in ((right, 1.0), (left, -1.0)):
        sigma = tilt + sign * shift
        need = landscape.log_moment(sigma) - sigma * epsilon - saddle.log_delta + nats
        length = np.where(np.isfinite(need), need, np.inf) / shift
        index = int(np.argmin(length))
        lengths.append(max(float(length[index]), 1e-3 * saddle.spread))
        chosen.append(float(sigma[index]))
    return max(lengths) * 1.02, chosen[0], chosen[1]


def _histogram(law: Law, tilt: float) -> tuple[Floats, Floats]:
    """Rectangles (mass, length) below the tilted density of the loss; the floating twin of ``tails.Rectangles``."""
    exponent = law.log_mass + tilt * law.loss
    weight = np.exp(exponent - exponent.max())
    weight = weight / weight.sum()
    keep = np.flatnonzero(weight > 1e-9)
    loss, weight = law.loss[keep], weight[keep]
    lengths = np.abs(np.diff(loss))
    spacing = np.abs(np.gradient(loss))
    density = weight / np.maximum(spacing, 1e-300)
    heights = np.minimum(density[1:], density[:-1]) * 0.97
    found = layers(heights.tolist(), lengths.tolist())
    return np.array([height * length for height, length in found]), np.array([length for _, length in found])


def layers(heights: list[float], lengths: list[float]) -> list[tuple[float, float]]:
    """Split a histogram into horizontal rectangles (height, length) whose sum it is (exact on integers)."""
    found = []
    stack: list[list[float]] = []  # increasing heights, each with the length it spans so far
    for height, length in zip([*heights, 0], [*lengths, 0], strict=True):
        span: float = 0
        while stack and stack[-1][0] >= height:
            top, width = stack.pop()
            span += width
            below = max(stack[-1][0] if stack else 0, height)
            if top > below:
                found.append((top - below, span))
            if stack and stack[-1][0] >= height:
                stack[-1][1] += span
                span = 0
        if height > 0:
            stack.append([height, span + length])
    return found


def _envelope(x: Floats) -> Floats:
    """S(x) >= sup over y >= x of |sin y / y|, non-increasing."""
    return np.where(x <= 3, np.maximum(np.sinc(x / np.pi), 0.25), np.minimum(0.25, 1 / np.maximum(x, 3)))


def _last_frequency(landscape: Landscape, saddle: Saddle, spacing: float, nats: float) -> tuple[int, int]:
    """Smallest K (and the doublings) at which the rectangles' tail bound is e^-nats of δ."""
    histograms = [(law.part.count, *_histogram(law, saddle.tilt)) for law in landscape.laws]
    # tail0 against δ e^{λε}: both relative to G(λ)
    peak = saddle.log_delta + saddle.tilt * saddle.epsilon - float(landscape.log_moment(np.array([saddle.tilt]))[0])

    def log_tail(K: int, doublings: int) -> float:
        blocks = (K + 1) * 2.0 ** np.arange(doublings + 1)
        w = blocks * spacing
        decay = -0.5 * w * w * landscape.squared_shift
        for count, mass, length in histograms:
            lost = (mass * (1 - _envelope(np.multiply.outer(w, length) / 2))).sum(axis=1)
            decay = decay + count * np.log1p(-np.minimum(lost, 1 - 1e-12))
        return float(np.logaddexp.reduce(decay - np.log(math.pi * spacing * (blocks - 1 + 1e-9)))) - peak

    K = 4
    while K < _MOST_FREQUENCIES:
        for doublings in (0, 8) if landscape.steps < 200 else (0,):
            if log_tail(K, doublings) < -nats:
                return K, doublings
        K = K + max(1, K // 12)
    raise Declined("the tilted law decays too slowly in the frequency")


# --- nodes -------------------------------------------------------------------------------------------------------


def _strip(
    law: Law, saddle: Saddle, sigmas: tuple[float, ...], frequency: float, nats: float, bulk: Bulk | None
) -> tuple[float, float]:
    """The widest step whose strip bound is e^-nats of M(λ) at this frequency, crude at the aliases: (step, d)."""
    part = law.part
    limit = min(math.pi * part.z, 40.0)
    d = np.append(np.geomspace(1e-4, 0.02, 10), np.linspace(0.03, 0.98, 40)) * limit
    v = d / part.z
    stride = max(1, len(law.t) // 200)
    starts = np.arange(0, len(law.t), stride)
    beyond, density, loss = _beyond_scan(law)
    t = np.concatenate([law.t[::stride], beyond])
    p = part.weight(t)
    angle = np.arctan2(np.multiply.outer(np.sin(v), p), 1 - p + np.multiply.outer(np.cos(v), p))
    gain = np.zeros_like(angle)
    if part.order is not Order.REMOVE:
        other = p if part.order is Order.ADD else part.weight(-t)
        dent = np.multiply.outer(np.sin(v / 2) ** 2, 4 * other * (1 - other))
        gain = -0.5 * np.log1p(-np.minimum(dent, 1 - 1e-15))
        if part.order is Order.REPLACE:
            sines, cosines = np.multiply.outer(np.sin(v), other), 1 - other + np.multiply.outer(np.cos(v), other)
            angle = angle + np.arctan2(sines, cosines)
    growth = d * d * (0.5 + (1 / law.softness**2 if part.cut else 0) + (1 / bulk.softness**2 if bulk else 0))
    step = np.full_like(d, math.inf)
    for tilt, w, digits in ((saddle.tilt, frequency, nats), *((sigma, 0.0, 14.0) for sigma in sigmas)):
        within = np.maximum.reduceat(law.log_mass + tilt * law.loss, starts) + math.log(stride)
        weight = np.concatenate([within, density + tilt * loss])
        weight = weight - float(law.log_moment(np.array([tilt]))[0])
        line = np.logaddexp.reduce(weight + w * angle + tilt * gain, axis=1) + growth
        step = np.minimum(step, 2 * math.pi * d / (digits + math.log(8) + np.maximum(line, 0)))
    best = int(np.argmax(step))
    return float(step[best]), dyadic(float(d[best]))


def _beyond_scan(law: Law) -> tuple[Floats, Floats, Floats]:
    """Points beyond the scan where A (add) or A₋ (replace) may all but vanish off the real line: t, log mass, loss."""
    part = law.part
    if part.order is Order.REMOVE:
        return np.array([]), np.array([]), np.array([])
    sign = 1.0 if part.order is Order.ADD else -1.0
    balanced = part.z * (part.log_rest - math.log(part.q)) + 0.5 / part.z  # where p (or p₋) is one half
    start, stop = abs(float(law.t[-1] if sign > 0 else law.t[0])), balanced + 4 * part.z
    if stop <= start:
        return np.array([]), np.array([]), np.array([])
    t = sign * np.linspace(start, stop, 80)
    return t, part.log_density(t) + math.log((stop - start) / 79), part.loss(t)


@dataclass(frozen=True)
class _Line:
    """One bound that is summed over cells: |F| on a line off the real one, at one tilt and frequency."""

    tilt: float
    frequency: float  # negative where the line shrinks the integrand
    v: float
    target: float  # log of what the sum may be, relative to nothing
    bulk: Bulk | None  # the integrand carries ψ (or 1-ψ if the frequency is negative)
    outside: bool = False  # only cells without nodes matter

    def bounds(self, law: Law, left: Floats, right: Floats) -> Floats:
        """Log of the bound over each cell; with left = right, log of the integrand."""
        part = law.part
        nearest = np.where(left > 0, left, np.where(right < 0, right, 0.0))
        value = -0.5 * nearest * nearest
        if part.order is Order.ADD:
            value = value - self.tilt * part.log_ratio(left)
        else:
            value = value + (1 + self.tilt) * part.log_ratio(right) + log_erfc((left - law.edge) / law.softness)
            if part.order is Order.REPLACE:
                value = value - self.tilt * part.log_ratio(-right)
        if self.bulk is not None:
            edge, softness = self.bulk.edge, self.bulk.softness
            value = value + log_erfc((left - edge) / softness if self.frequency >= 0 else (edge - right) / softness)
        turn = self._angle(part.weight(right if self.frequency >= 0 else left))
        if part.order is not Order.REMOVE:
            ends = (part.weight(left), part.weight(right))
            if part.order is Order.REPLACE:
                ends = (part.weight(-right), part.weight(-left))
                turn = turn + (self._angle(ends[1]) if self.frequency >= 0 else 0.0)
            p = np.clip(0.5, *ends)
            dent = 4 * p * (1 - p) * math.sin(self.v / 2) ** 2
            value = value - self.tilt / 2 * np.log1p(-np.minimum(dent, 1 - 1e-15))
        return np.asarray(value + self.frequency * turn)

    def _angle(self, p: Floats) -> Floats:
        return np.asarray(np.arctan2(p * math.sin(self.v), 1 - p + p * math.cos(self.v)))


def _cell_corners(law: Law, marks: tuple[float, float, float, float], lines: list[_Line]) -> tuple[float, ...]:
    """Corners between which every line's bound is close to the integrand wherever that matters.

    ``marks`` are corners in any case: the ends of the cells and of the nodes.
    """
    low, first, last, high = marks
    spread = np.linspace(first, last, 41)
    corners = np.unique(np.concatenate([[low], spread, last + (high - last) * np.linspace(0, 1, 9)[:-1] ** 2, [high]]))
    for _ in range(24):
        left, right = corners[:-1], corners[1:]
        middle = (left + right) / 2
        split = np.zeros(len(left), dtype=bool)
        for line in lines:
            bound = line.bounds(law, left, right)
            slack = bound - line.bounds(law, middle, middle)
            matters = bound + np.log(right - left) > line.target - 9
            if line.outside:
                matters &= (left >= last) | (right <= first)
            split |= matters & (slack > 0.8)
        if not split.any():
            break
        if len(corners) + split.sum() > _MOST_CORNERS:
            raise Declined("the bounds on the line need too many cells")
        corners = np.sort(np.concatenate([corners, middle[split]]))
    return tuple(float(corner) for corner in corners)


def _nodes(
    law: Law,
    saddle: Saddle,
    sigmas: tuple[float, ...],
    frequency: float,
    nats: float,
    turn: float | None,
    bulk: Bulk | None,
    bulk_tilt: float | None,
) -> Nodes:
    part = law.part
    loss = math.log(part.count) + nats
    step, strip = _strip(law, saddle, sigmas, frequency, loss, bulk)
    step = min(step, 0.5)
    mantissa, exponent = math.frexp(step)
    step = math.ldexp(math.floor(mantissa * 4096), exponent - 12)
    reach = math.sqrt(2 * (loss + 2))
    if part.cut:
        low = -max(reach, 0.5 / part.z + step)
        high = _right_end(law, (saddle.tilt, *sigmas), loss)
    else:
        low = _left_end(law, (saddle.tilt, *sigmas), loss)
        high = max(reach, 0.5 / part.z + step)
    if (high - low) / step > 4e6:
        raise Declined(f"{(high - low) / step:.1e} nodes are too many")
    # beyond the nodes the integrand may turn by d/z (by as much again on the left for two-sided ratios)
    vanish = -saddle.tilt * math.log(math.cos(strip / part.z / 2)) if part.order is not Order.REMOVE else 0.0
    extra = math.sqrt(2 * (loss + 2 + 2 * frequency * strip / part.z + vanish))
    v, decay = strip / part.z, 2 * math.pi * strip / step
    growth = 0.5 + (1 / law.softness**2 if part.cut else 0.0)
    split = 1 / bulk.softness**2 if bulk is not None else 0.0
    room = decay - strip**2 * growth
    lines = []
    for tilt, w, digits in ((saddle.tilt, frequency, loss), *((sigma, 0.0, 14.0) for sigma in sigmas)):
        moment = float(law.log_moment(np.array([tilt]))[0])
        lines.append(_Line(tilt, w, v, moment + room - digits, None))
        lines.append(_Line(tilt, 0.0, 0.0, moment - digits, None, outside=True))
        if bulk is not None and w > 0:
            lines.append(_Line(tilt, w, v, moment + room - strip**2 * split - digits, bulk))
    if bulk is not None and bulk_tilt is not None:
        exponent_b = law.log_mass + log_erfc((law.t - bulk.edge) / bulk.softness) + bulk_tilt * law.loss
        moment = float(np.logaddexp.reduce(exponent_b))
        lines.append(_Line(bulk_tilt, 0.0, v, moment + room - strip**2 * split - 14.0, bulk))
        lines.append(_Line(bulk_tilt, 0.0, 0.0, moment - 14.0, bulk, outside=True))
    if turn is not None:
        moment = float(law.log_moment(np.array([saddle.tilt]))[0])
        smallest = moment - (loss if bulk is not None else nats / part.count) - turn**2 * (growth + split) - 5
        lines.append(_Line(saddle.tilt, -frequency, turn / part.z, smallest, bulk))
    first, last = math.floor(low / step), math.ceil(high / step)
    left, right = min(first * step, -extra), max(last * step, extra)
    if part.cut:
        right = _last_corner(law, (saddle.tilt, *sigmas), bulk, bulk_tilt, right)
    ends = (step * math.floor(left / step), step * math.ceil(right / step))  # whole steps, as the tails require
    corners = _cell_corners(law, (ends[0], first * step, last * step, ends[1]), lines)
    return Nodes(part, step, first, last, strip, corners, law.edge, law.softness, turn, bulk)


def _right_end(law: Law, tilts: tuple[float, ...], nats: float) -> float:
    """Beyond which the nodes may be left out, for each tilt."""
    end = law.edge + law.softness
    for index, tilt in enumerate(tilts):
        exponent = law.log_mass + tilt * law.loss
        beyond = np.logaddexp.accumulate(exponent[::-1])[::-1]
        fine = np.flatnonzero(beyond < beyond[0] - (nats + 3 if index == 0 else 14.0))
        if len(fine) == 0:
            raise Declined("the largest jumps are not separated by the cut-off")
        end = max(end, float(law.t[fine[0]]))
    return end


def _last_corner(law: Law, tilts: tuple[float, ...], bulk: Bulk | None, bulk_tilt: float | None, start: float) -> float:
    """Beyond which the geometric bound on the cut-off's tail is negligible, for each tilt."""
    part = law.part
    z, c = part.z, law.softness
    t = start + (1 + abs(start)) * np.geomspace(1e-3, 1e6, 400)
    y = (t - law.edge) / c
    jobs = [(tilt, False) for tilt in tilts] + ([(bulk_tilt, True)] if bulk_tilt is not None else [])
    end = start
    for tilt, is_bulk in jobs:
        gentle = (1 + tilt) / (4 * z * z) <= 1 + 2 / c**2
        slope = t + 2 * y / c - (1 + tilt) / z * (part.weight(t) if gentle else 1.0)
        bound = -0.5 * t * t - y * y + (1 + tilt) * part.log_ratio(t)
        if part.order is Order.REPLACE:
            slope = slope - tilt * part.weight(-t) / z
            bound = bound - tilt * part.log_ratio(-t)
        if is_bulk:
            assert bulk is not None
            beyond = (t - bulk.edge) / bulk.softness
            slope, bound = slope + 2 * beyond / bulk.softness, bound - beyond**2
        fine = np.flatnonzero((slope > 0.5) & (bound < -400.0 + tilt * max(part.log_rest, -1e3)))
        if len(fine) == 0:
            raise Declined("the cut-off's tail is out of reach")
        end = max(end, float(t[fine[0]]))
    return end


def _left_end(law: Law, tilts: tuple[float, ...], nats: float) -> float:
    part = law.part
    end = -0.5
    t = -np.geomspace(0.5, 4000.0, 1200)
    for index, tilt in enumerate(tilts):
        slope = -t - tilt * part.weight(t) / part.z
        bound = -0.5 * t * t - tilt * part.log_ratio(t)
        need = float(law.log_moment(np.array([tilt]))[0]) - (nats if index == 0 else 12.0)
        fine = np.flatnonzero((slope > 0.5) & (bound < need))
        if len(fine) == 0:
            raise Declined("the left tail is out of reach")
        end = min(end, float(t[fine[0]]))
    return end


# --- the two kinds of plan -----------------------------------------------------------------------------------------


def plain_plan(product: Product, landscape: Landscape, saddle: Saddle, accuracy: float) -> Plan:
    """All of the law on one contour; the tail in the frequency by rectangles below the density."""
    nats = -math.log(accuracy)
    period, right, left = _period(landscape, saddle, nats)
    spacing = dyadic(2 * math.pi / period)
    K, doublings = _last_frequency(landscape, saddle, spacing, nats)
    none: tuple[None, ...] = (None,) * len(landscape.laws)
    return _assemble(product, landscape, saddle, spacing, K, doublings, (right, left), none, none, None, accuracy)


def _turned(product: Product, landscape: Landscape, saddle: Saddle, accuracy: float) -> Plan:
    """All of the law on one contour; the tail in the frequency by turning the line of integration (few steps)."""
    nats = -math.log(accuracy)
    period, right, left = _period(landscape, saddle, nats)
    spacing = dyadic(2 * math.pi / period)
    allowance = _peak(landscape, saddle) - nats
    if landscape.steps > _FEW_STEPS:
        raise Declined("too many steps for turned lines")
    tables = [_turn_table(law, saddle.tilt, None) for law in landscape.laws]
    K = 4
    while K <= _MOST_FREQUENCIES:
        w = K * spacing
        choices = [table.best(w) for table in tables]
        bound = sum(law.part.count * value for law, (value, _) in zip(landscape.laws, choices, strict=True))
        if bound - 0.5 * w * w * landscape.squared_shift - math.log(math.pi * w) + 0.7 <= allowance:
            turns = tuple(dyadic(v * law.part.z) for law, (_, v) in zip(landscape.laws, choices, strict=True))
            none: tuple[None, ...] = (None,) * len(landscape.laws)
            return _assemble(product, landscape, saddle, spacing, K, 12, (right, left), turns, none, None, accuracy)
        K += max(1, K // 8)
    raise Declined("the tilted law decays too slowly on a turned line")


def _peak(landscape: Landscape, saddle: Saddle) -> float:
    """Log of δ e^{λε} / G(λ): what a bound relative to G(λ) is measured against."""
    return saddle.log_delta + saddle.tilt * saddle.epsilon - float(landscape.log_moment(np.array([saddle.tilt]))[0])


@dataclass(frozen=True)
class _TurnTable:
    """log of the turned-line bound, relative to M(λ), for many turns v = y/z at once."""

    turns: Floats
    weight: Floats  # (turns, cells): everything but the frequency
    angle: Floats

    def best(self, frequency: float) -> tuple[float, float]:
        """The smallest bound at this frequency, and its turn."""
        values = np.logaddexp.reduce(self.weight - frequency * self.angle, axis=1)
        index = int(np.argmin(values))
        return float(values[index]), float(self.turns[index])


def _turn_table(law: Law, tilt: float, bulk: Bulk | None) -> _TurnTable:
    part = law.part
    v = np.geomspace(0.02, min(3.0 * part.z, 12.0), 36) / part.z
    weight = law.log_mass + tilt * law.loss - float(law.log_moment(np.array([tilt]))[0])
    if bulk is not None:
        weight = weight + log_erfc((bulk.edge - law.t) / bulk.softness)
    keep = weight > weight.max() - 90
    t, weight = law.t[keep], weight[keep]
    p = part.weight(t)
    angle = np.arctan2(np.multiply.outer(np.sin(v), p), 1 - p + np.multiply.outer(np.cos(v), p))
    table = np.broadcast_to(weight, angle.shape)
    if part.order is not Order.REMOVE:
        other = p if part.order is Order.ADD else part.weight(-t)
        dent = np.multiply.outer(np.sin(v / 2) ** 2, 4 * other * (1 - other))
        table = table - tilt / 2 * np.log1p(-np.minimum(dent, 1 - 1e-15))
    growth = 0.5 + (1 / law.softness**2 if part.cut else 0) + (1 / bulk.softness**2 if bulk else 0)
    return _TurnTable(v, table + ((v * part.z) ** 2 * growth)[:, None], angle)


def _peeled(product: Product, landscape: Landscape, saddle: Saddle, accuracy: float) -> Plan:
    """The bulk alone cannot reach ε, so only sums with at least one jump are integrated; jumps are smooth."""
    nats = -math.log(accuracy)
    if any(not law.part.cut for law in landscape.laws) or not landscape.laws:
        raise Declined("bounded losses have no jumps to peel off")
    period, right, left = _period(landscape, saddle, nats)
    spacing = dyadic(2 * math.pi / period)
    allowance = _peak(landscape, saddle) - nats
    best: tuple[float, list[tuple[Bulk, float]], float] | None = None
    reasons = []
    for sharpness in _SHARPNESSES:
        try:
            level, bulk_tilt = _bulk_level(landscape, saddle, nats, sharpness)
            bulks = [Bulk(_edge_at(law, level), _bulk_softness(law.part, sharpness)) for law in landscape.laws]
            last, turns = _last_jump(landscape, saddle.tilt, bulks, spacing, allowance)
        except Declined as reason:
            reasons.append(str(reason))
            continue
        if best is None or last < best[0]:
            best = (last, list(zip(bulks, turns, strict=True)), bulk_tilt)
    if best is None:
        raise Declined("; ".join(dict.fromkeys(reasons)))
    last, found, bulk_tilt = best
    return _assemble(
        product,
        landscape,
        saddle,
        spacing,
        max(4, math.ceil(last / spacing)),
        0,
        (right, left),
        tuple(turn for _, turn in found),
        tuple(bulk for bulk, _ in found),
        bulk_tilt,
        accuracy,
    )


def _last_jump(
    landscape: Landscape, tilt: float, bulks: list[Bulk], spacing: float, allowance: float
) -> tuple[float, tuple[float, ...]]:
    """The frequency beyond which the jumps' bound is small enough, and the turns of the lines that show it."""
    tables = [_turn_table(law, tilt, bulk) for law, bulk in zip(landscape.laws, bulks, strict=True)]

    def bound(w: float) -> tuple[float, tuple[float, ...]]:
        choices = [table.best(w) for table in tables]
        share = np.logaddexp.reduce(
            [math.log(law.part.count) + value for law, (value, _) in zip(landscape.laws, choices, strict=True)]
        )
        turns = tuple(dyadic(v * law.part.z) for law, (_, v) in zip(landscape.laws, choices, strict=True))
        return float(share) - 0.5 * w * w * landscape.squared_shift - math.log(math.pi * w) + 0.5, turns

    low, high = spacing, spacing * _MOST_FREQUENCIES
    if bound(high)[0] > allowance:
        raise Declined("the jumps decay too slowly in the frequency")
    while high / low > 1.02:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if bound(middle)[0] <= allowance else (middle, high)
    return high, bound(high)[1]


def _bulk_level(landscape: Landscape, saddle: Saddle, nats: float, sharpness: float) -> tuple[float, float]:
    """The highest loss level whose bulk, by a Chernoff bound, reaches ε with at most e^-nats of δ; and the tilt."""
    target = saddle.log_delta - nats - 1

    def reached(level: float) -> tuple[float, float]:
        tilts = saddle.tilt * np.geomspace(1.0, 3000.0, 60)
        total = tilts * (tilts + 1) * landscape.squared_shift / 2 - tilts * saddle.epsilon
        for law in landscape.laws:
            edge, softness = _edge_at(law, level), _bulk_softness(law.part, sharpness)
            log_mass = law.log_mass + log_erfc((law.t - edge) / softness)
            exponent = log_mass + np.multiply.outer(tilts, law.loss)
            top = exponent.max(axis=1)
            total = total + law.part.count * (top + np.log(np.exp(exponent - top[:, None]).sum(axis=1)))
        best = int(np.argmin(total))
        return float(total[best]), float(tilts[best])

    low, high = -14.0, math.log(max(saddle.epsilon, 1e-12))
    if saddle.epsilon <= 0 or reached(math.exp(low) * saddle.epsilon)[0] > target:
        raise Declined("the bulk alone can reach ε")
    low += math.log(saddle.epsilon)
    while high - low > 0.05:
        middle = (low + high) / 2
        if reached(math.exp(middle))[0] <= target:
            low = middle
        else:
            high = middle
    return math.exp(low), reached(math.exp(low))[1]


def _bulk_softness(part: Part, sharpness: float) -> float:
    return dyadic(min(1.0, part.z) / sharpness, 4)


def _edge_at(law: Law, level: float) -> float:
    """Where the bulk's soft edge stands so that losses above ``level`` are clearly jumps."""
    index = int(np.searchsorted(law.loss, level))
    t = float(law.t[min(index, len(law.t) - 1)])
    return dyadic(t, 20)


def chernoff_plan(product: Product, epsilon: float, log_delta: float) -> Plan:
    """A plan without frequencies, for one Chernoff bound at ε to be held against δ."""
    accuracy = 1e-3
    landscape, saddle = survey(product, 1.0, math.log(accuracy), log_delta, epsilon)
    none: tuple[None, ...] = (None,) * len(landscape.laws)
    spacing = dyadic(1 / saddle.spread)
    return _assemble(product, landscape, saddle, spacing, 0, 0, (), none, none, None, accuracy)


def _assemble(
    product: Product,
    landscape: Landscape,
    saddle: Saddle,
    spacing: float,
    K: int,
    doublings: int,
    sigmas: tuple[float, ...],
    turns: tuple[float | None, ...],
    bulks: tuple[Bulk | None, ...],
    bulk_tilt: float | None,
    accuracy: float,
) -> Plan:
    value = float(landscape.log_moment(np.array([saddle.tilt]))[0])
    # how far δ e^{λε} lies below G(λ): what M's errors are measured against
    depth = max(0.0, value - saddle.tilt * saddle.epsilon - saddle.log_delta)
    nats = -math.log(accuracy) + depth + 2
    nodes = tuple(
        _nodes(law, saddle, sigmas, K * spacing, nats, turn, bulk, bulk_tilt)
        for law, turn, bulk in zip(landscape.laws, turns, bulks, strict=True)
    )
    largest = max(
        [abs(saddle.tilt * saddle.epsilon), abs(value), K * spacing * abs(saddle.epsilon), 1.0]
        + [(saddle.tilt + K * spacing) * float(np.abs(law.loss).max()) for law in landscape.laws]
    )
    bits = nats / math.log(2) + 2.5 * math.log2(landscape.steps + 2) + math.log2(largest) + 36
    return Plan(
        tilt=saddle.tilt,
        spacing=spacing,
        frequencies=K,
        doublings=doublings,
        aliases=sigmas,
        nodes=nodes,
        squared_shift=sum(
            (pair.squared_shift * count for pair, count in product if isinstance(pair, ShiftedGaussians)), Fraction(0)
        ),
        bulk_tilt=bulk_tilt,
        precision=64 * math.ceil(bits / 64),
        guess=max(saddle.epsilon, 0.0),
        spread=saddle.spread,
        log_delta=saddle.log_delta,
    )


__all__ = ["SOFTNESSES", "Bulk", "Nodes", "Plan", "TooDearError", "chernoff_plan", "dyadic", "layers", "make_plan", "plain_plan"]
