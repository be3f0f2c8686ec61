"""Where to integrate and how finely: the free choices of the contour route, made in floating point.

Nothing here is proven and nothing needs to be: every choice that satisfies the conditions asserted by ``moments``,
``tails`` and ``curve`` gives a valid enclosure, and a poor one only a wide enclosure or a refusal.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpbounds.privacy.contour.landscape import Floats, Landscape, Law, Part, Saddle, log_erfc, survey
from dpbounds.privacy.pairs import Order, Product, ShiftedGaussians
from dpbounds.privacy.proofs import Declined

_SOFTNESSES = (1.0, 0.5, 0.25, 0.125, 0.0625)
_SHARPNESSES = (1.25, 2.5, 5.0, 10.0)  # of the split between bulk and jumps
_CHEAP = 20_000  # node-frequency products at which no better plan is looked for
_MODEST = 800_000  # and at which no other kind of plan is
_DEAR = 40_000_000  # and above which the route declines
_MOST_FREQUENCIES = 40_000


@dataclass(frozen=True, slots=True)
class Bulk:
    """A smooth split of one law at t = ``edge``: the bulk lies below, the jumps above; ``turn`` bounds the jumps."""

    edge: float
    softness: float
    turn: float  # Im t of the line on which the jumps' moment is bounded


@dataclass(frozen=True, slots=True)
class Nodes:
    """How one part's moment generating function is summed: nodes t = step·j, first <= j <= last."""

    part: Part
    step: float  # a double with few bits, so that step·j is exact
    first: int
    last: int
    strip: float  # half-width d of the strip of analyticity used
    reach_left: float  # the cells of the strip bound cover [reach_left, reach_right]
    reach_right: float
    edge: float  # the cut-off's position (ignored for the order without one)
    softness: float
    bulk: Bulk | None


@dataclass(frozen=True, slots=True)
class Plan:
    """All free choices of one contour integral."""

    tilt: float
    spacing: float  # D, between frequencies
    frequencies: int  # K
    doublings: int  # B, blocks of the tail bound
    alias_right: float  # σ₁ > λ
    alias_left: float  # σ₂ in [0, λ)
    nodes: tuple[Nodes, ...]
    squared_shift: Fraction
    bulk_tilt: float | None  # σ of the bound on what the bulk alone contributes (peeled plans)
    precision: int
    guess: float  # ε
    spread: float  # of ε over which the tilt serves
    log_delta: float


def dyadic(value: float, bits: int = 12) -> float:
    """The nearest double with that many significant bits."""
    mantissa, exponent = math.frexp(value)
    return math.ldexp(round(math.ldexp(mantissa, bits)), exponent - bits)


def make_plan(
    product: Product, *, log_delta: float | None = None, epsilon: float | None = None, accuracy: float = 1e-13
) -> Plan:
    """Choose a contour for one target, a log δ or an ε, at about this relative accuracy of δ.

    With both given, the tilt is the saddle point for ε and log δ is taken at its word.

    Raises:
        Declined: Every plan would take too many nodes and frequencies.
    """
    best: tuple[float, Plan] | None = None
    reasons: list[str] = []
    for softness in _SOFTNESSES:
        landscape, saddle = survey(product, softness, math.log(accuracy), log_delta, epsilon)
        for contender in (_plain, _peeled):
            try:
                plan = contender(product, landscape, saddle, accuracy)
            except Declined as reason:
                reasons.append(f"softness {softness:g}: {reason}")
                continue
            cost = plan.frequencies * sum(nodes.last - nodes.first for nodes in plan.nodes)
            if best is None or cost < best[0]:
                best = (cost, plan)
            if cost <= _MODEST:
                break  # the second contender would cost more to plan than it could save
        if (best is not None and best[0] <= _CHEAP) or not any(law.part.cut for law in landscape.laws):
            break
    if best is None:
        raise Declined("; ".join(reasons))
    if best[0] > _DEAR:
        raise Declined(f"{best[0]:.1e} node-frequency products are too many")
    return best[1]


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


def _strip(law: Law, tilt: float, frequency: float, nats: float, bulk: Bulk | None) -> tuple[float, float]:
    """The widest step whose strip bound is e^-nats of M(tilt) at this frequency: (step, d)."""
    part = law.part
    limit = min(math.pi * part.z, 40.0)
    d = np.append(np.geomspace(1e-4, 0.02, 10), np.linspace(0.03, 0.98, 40)) * limit
    v = d / part.z
    stride = max(1, len(law.t) // 200)
    exponent = law.log_mass + tilt * law.loss
    weight = np.maximum.reduceat(exponent, np.arange(0, len(law.t), stride)) + math.log(stride)
    p = part.weight(law.t[::stride])
    weight, t = weight - float(law.log_moment(np.array([tilt]))[0]), law.t[::stride]
    angle = np.arctan2(np.multiply.outer(np.sin(v), p), 1 - p + np.multiply.outer(np.cos(v), p))
    growth = weight + frequency * angle
    if part.order is not Order.REMOVE:
        other = p if part.order is Order.ADD else part.weight(-t)
        dent = np.multiply.outer(np.sin(v / 2) ** 2, 4 * other * (1 - other))
        growth = growth - tilt / 2 * np.log1p(-np.minimum(dent, 1 - 1e-15))
        if part.order is Order.REPLACE:
            sines, cosines = np.multiply.outer(np.sin(v), other), 1 - other + np.multiply.outer(np.cos(v), other)
            growth = growth + frequency * np.arctan2(sines, cosines)
    line = np.logaddexp.reduce(growth, axis=1)
    line = line + d * d * (0.5 + (1 / law.softness**2 if part.cut else 0) + (1 / bulk.softness**2 if bulk else 0))
    step = 2 * math.pi * d / (nats + math.log(8) + line)
    best = int(np.argmax(step))
    return float(step[best]), dyadic(float(d[best]))


def _nodes(
    law: Law, saddle: Saddle, sigmas: tuple[float, ...], frequency: float, nats: float, bulk: Bulk | None
) -> Nodes:
    part = law.part
    loss = math.log(part.count) + nats
    step, strip = _strip(law, saddle.tilt, frequency, loss, bulk)
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
    # beyond the nodes the integrand may turn by d/z (by as much again on the left for two-sided ratios)
    extra = math.sqrt(2 * (loss + 2 + frequency * strip / part.z))
    reaches = (dyadic(min(low, -extra) - 2 * step), dyadic(max(high, extra) + 2 * step))
    if (high - low) / step > 4e6:
        raise Declined(f"{(high - low) / step:.1e} nodes are too many")
    return Nodes(
        part, step, math.floor(low / step), math.ceil(high / step), strip, *reaches, law.edge, law.softness, bulk
    )


def _right_end(law: Law, tilts: tuple[float, ...], nats: float) -> float:
    """Where the geometric bound on the cut-off's tail falls below e^-nats, for each tilt."""
    part = law.part
    z = part.z
    t = law.edge + law.softness * np.linspace(0.05, 40.0, 800)
    y = (t - law.edge) / law.softness
    end = law.edge + law.softness
    for index, tilt in enumerate(tilts):
        log_a = part.log_ratio(t)
        bound = -0.5 * t * t - y * y + (1 + tilt) * log_a
        slope = t + 2 * y / law.softness - (1 + tilt) / z * (
            part.weight(t) if (1 + tilt) / (4 * z * z) <= 1 + 2 / law.softness**2 else 1.0
        )
        if part.order is Order.REPLACE:
            bound = bound - tilt * part.log_ratio(-t)
            slope = slope - tilt * part.weight(-t) / z
        need = float(law.log_moment(np.array([tilt]))[0]) - (nats if index == 0 else 12.0)
        fine = np.flatnonzero((slope > 0.5) & (bound - np.log(np.maximum(slope, 0.5)) < need))
        if len(fine) == 0:
            raise Declined("the largest jumps are not separated by the cut-off")
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


def _plain(product: Product, landscape: Landscape, saddle: Saddle, accuracy: float) -> Plan:
    """All of the law on one contour; the tail in the frequency by rectangles below the density."""
    nats = -math.log(accuracy)
    period, right, left = _period(landscape, saddle, nats)
    spacing = dyadic(2 * math.pi / period)
    K, doublings = _last_frequency(landscape, saddle, spacing, nats)
    return _assemble(product, landscape, saddle, spacing, K, doublings, (right, left), (None,) * len(landscape.laws), None, accuracy)


def _peeled(product: Product, landscape: Landscape, saddle: Saddle, accuracy: float) -> Plan:
    """The bulk alone cannot reach ε, so only sums with at least one jump are integrated; jumps are smooth."""
    nats = -math.log(accuracy)
    if any(not law.part.cut for law in landscape.laws) or not landscape.laws:
        raise Declined("bounded losses have no jumps to peel off")
    period, right, left = _period(landscape, saddle, nats)
    spacing = dyadic(2 * math.pi / period)
    peak = saddle.log_delta + saddle.tilt * saddle.epsilon - float(landscape.log_moment(np.array([saddle.tilt]))[0])
    best: tuple[float, tuple[Bulk, ...], float] | None = None
    reasons = []
    for sharpness in _SHARPNESSES:
        try:
            level, bulk_tilt = _bulk_level(landscape, saddle, nats, sharpness)
            found = [
                _best_bulk(law, saddle.tilt, level, sharpness, landscape.squared_shift, spacing, peak - nats)
                for law in landscape.laws
            ]
        except Declined as reason:
            reasons.append(str(reason))
            continue
        last = max(frequency for _, frequency in found)
        if best is None or last < best[0]:
            best = (last, tuple(bulk for bulk, _ in found), bulk_tilt)
    if best is None:
        raise Declined("; ".join(dict.fromkeys(reasons)))
    last, bulks, bulk_tilt = best
    K = max(4, math.ceil(last / spacing))
    if K > _MOST_FREQUENCIES:
        raise Declined("the jumps decay too slowly in the frequency")
    return _assemble(product, landscape, saddle, spacing, K, 0, (right, left), bulks, bulk_tilt, accuracy)


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


def _best_bulk(
    law: Law, tilt: float, level: float, sharpness: float, squared_shift: float, spacing: float, log_allowance: float
) -> tuple[Bulk, float]:
    """The turn of the contour that lets the jumps' bound fall below e^log_allowance at the lowest frequency."""
    part = law.part
    edge, softness = _edge_at(law, level), _bulk_softness(part, sharpness)
    exponent = law.log_mass + log_erfc((edge - law.t) / softness) + tilt * law.loss
    exponent = exponent - float(law.log_moment(np.array([tilt]))[0]) + math.log(part.count)
    p = part.weight(law.t)
    keep = exponent > exponent.max() - 80
    exponent, p, t = exponent[keep], p[keep], law.t[keep]
    best: tuple[float, float] | None = None
    for v in np.linspace(0.1, 3.0, 30):
        y = v * part.z
        scale = y * y * (0.5 + 1 / law.softness**2 + 1 / softness**2)
        turn = np.arctan2(p * math.sin(v), 1 - p + p * math.cos(v))
        cost = np.zeros_like(p)
        if part.order is Order.REPLACE:
            mirror = np.minimum(part.weight(-t), 0.5)
            cost = -tilt / 2 * np.log1p(-4 * mirror * (1 - mirror) * math.sin(v / 2) ** 2)

        def log_bound(w: float, turn: Floats = turn, cost: Floats = cost, scale: float = scale) -> float:
            decay = exponent - w * turn + cost
            total = float(np.logaddexp.reduce(decay)) + scale - 0.5 * w * w * squared_shift
            return total - math.log(math.pi * w) + 0.5

        high = best[0] if best is not None else 1e7
        if log_bound(high) > log_allowance:
            continue
        low = spacing
        while high / low > 1.02:
            middle = math.sqrt(low * high)
            low, high = (low, middle) if log_bound(middle) <= log_allowance else (middle, high)
        best = (high, float(v))
    if best is None:
        raise Declined("the jumps decay too slowly in the frequency")
    return Bulk(edge, softness, dyadic(best[1] * part.z)), best[0]


def _assemble(
    product: Product,
    landscape: Landscape,
    saddle: Saddle,
    spacing: float,
    K: int,
    doublings: int,
    sigmas: tuple[float, float],
    bulks: tuple[Bulk | None, ...],
    bulk_tilt: float | None,
    accuracy: float,
) -> Plan:
    value = float(landscape.log_moment(np.array([saddle.tilt]))[0])
    # how far δ e^{λε} lies below G(λ): what M's errors are measured against
    depth = max(0.0, value - saddle.tilt * saddle.epsilon - saddle.log_delta)
    nats = -math.log(accuracy) + depth + 2
    tilts = sigmas if bulk_tilt is None else (*sigmas, bulk_tilt)
    nodes = tuple(
        _nodes(law, saddle, tilts, K * spacing, nats, bulk) for law, bulk in zip(landscape.laws, bulks, strict=True)
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
        alias_right=sigmas[0],
        alias_left=sigmas[1],
        nodes=nodes,
        squared_shift=sum((pair.squared_shift * count for pair, count in product if isinstance(pair, ShiftedGaussians)), Fraction(0)),
        bulk_tilt=bulk_tilt,
        precision=64 * math.ceil(bits / 64),
        guess=max(saddle.epsilon, 0.0),
        spread=saddle.spread,
        log_delta=saddle.log_delta,
    )


__all__ = ["Bulk", "Nodes", "Plan", "dyadic", "layers", "make_plan"]
