"""Free choices of the lattice method, in floating point: tilt, fineness and cut-offs.

Nothing here is part of a proof. Every choice is sound; a poor one only makes the proven interval wider. All masses are
kept as logarithms, so that δ = 1e-300 is like any other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

import numpy as np
from flint import arb
from numpy.typing import NDArray

from dpbounds.expressions.time_limit import checkpoint
from dpbounds.expressions.working import working
from dpbounds.privacy.pairs.losses import LossDistribution, Masses
from dpbounds.privacy.pairs.pairs import Direction
from dpbounds.privacy.proofs import Declined
from dpbounds.privacy.routes.lattice.steps import AnyStep, GaussianStep, Lattice, LossStep, natural_spacing
from dpbounds.privacy.routes.searching import log_tail

Floats = NDArray[np.float64]

_NODES = 1 << 14
_LARGEST_CELL = 1.0  # in units of 1/(tilt + 1): beyond that a cell is not small for the tilted distribution
_NO_MASS = -1e4  # a logarithm
_FINEST_FRACTION = 1 << 24
_SMALLEST_TILT, _LARGEST_TILT = 1e-6, 1e18
_SHORT_WINDOW = 1000  # lattice points per standard deviation below which the window is short anyway
_LARGEST_RANGE = 1 << 20  # lattice points under one step
_LARGEST_INDEX = 1 << 52  # largest index of a lattice point: doubles distinguish neighbouring points up to it
_UNIFORM, _SCALES, _FINEST, _LOOK = 300, 300, 1e-9, 96  # nodes of a distribution: evenly spaced, at all scales; bits
_SWEEP_COST = 2.5  # variance lost by the lower measure plus that gained by the upper one, in units of the latter


@dataclass(frozen=True, slots=True)
class Sketch:
    """One step in floats: nodes x, losses L(x) (increasing) and log P-weights of the nodes.

    For a Gaussian step x is the observation, for any other the loss itself.
    """

    step: AnyStep
    count: int
    x: Floats
    loss: Floats
    log_weights: Floats

    def log_mass_above(self, x: float) -> float:
        """Return the logarithm of P(X > x)."""
        if isinstance(self.step, LossStep):
            return float(np.logaddexp.reduce(self.log_weights[np.searchsorted(self.x, x, side="right") :]))
        deviation = math.sqrt(float(self.step.variance))
        return float(np.logaddexp.reduce([math.log(w) + log_tail((x - m) / deviation) for w, m in _mixture(self.step)]))

    def truncated(self, x_max: float) -> Sketch:
        """Return the same step without its part beyond ``x_max``."""
        keep = self.x <= x_max
        return Sketch(self.step, self.count, self.x[keep], self.loss[keep], self.log_weights[keep])

    def tilted(self, tilt: float) -> tuple[float, Floats]:
        """Return the logarithm of ∫ e^(tilt·L) dP, and the tilted weights (which sum to 1)."""
        exponents = self.log_weights + tilt * self.loss
        top = float(exponents.max())
        weights = np.exp(exponents - top)
        mass = float(weights.sum())
        return top + math.log(mass), weights / mass


def _mixture(step: GaussianStep) -> list[tuple[float, int]]:
    q = float(step.sample_rate)
    if step.direction is Direction.ADD or q == 1:
        return [(1.0, 0 if step.direction is Direction.ADD else 1)]
    return [(1 - q, 0), (q, 1)]


def _log_ratio(step: GaussianStep, x: Floats) -> Floats:
    """Return log(1 - q + q e^t), t = (2x - 1) / 2v, without cancellation where it is tiny."""
    q, t = float(step.sample_rate), (2 * x - 1) / (2 * float(step.variance))
    if q == 1:
        return t
    low = np.minimum(t, 300.0)
    return np.log1p(q * np.expm1(low)) + (t - low)


def sketch(step: AnyStep, count: int, reach: float) -> Sketch:
    """Return nodes over ``reach`` standard deviations of noise on either side, or to masses of e^(-reach²/2)."""
    if isinstance(step, LossStep):
        return Sketch(step, count, *_nodes_of_law(step, _rung(reach)))
    deviation = math.sqrt(float(step.variance))
    x = np.linspace(-reach * deviation - 1, reach * deviation + 1, _NODES)
    loss = np.zeros_like(x)
    if step.direction is not Direction.ADD:
        loss = loss + _log_ratio(step, x)
    if step.direction is not Direction.REMOVE:
        loss = loss - _log_ratio(step, -x)
    from scipy.special import logsumexp

    parts = [math.log(w) - ((x - m) / deviation) ** 2 / 2 for w, m in _mixture(step)]
    log_weights = np.asarray(logsumexp(parts, axis=0)) + math.log((x[1] - x[0]) / (deviation * math.sqrt(2 * math.pi)))
    return Sketch(step, count, x, loss, log_weights)


def _rung(reach: float) -> int:
    """Return the reach rounded up to one of a few values, so that nodes are made once and used often."""
    return math.ceil(10 * 1.5 ** max(0, math.ceil(math.log(reach / 10) / math.log(1.5))))


@lru_cache(maxsize=256)
def _nodes_of_law(step: LossStep, reach: int) -> tuple[Floats, Floats, Floats]:
    """Return losses (twice, as x, too) and log P-masses: of cells, fine around 0 on every scale, and of the atoms."""
    with working(_LOOK):
        law = step.law()
        losses, masses = [float(point.loss) for point in law.points], [_log(point.p) for point in law.points]
        if not law.discrete:
            low, high = _ends(law, -(reach**2) / 2)
            edges = _edges(low, high)
            tails = _tails(law, edges)
            for ends, ((p, r), (next_p, next_r)) in zip(pairwise(edges), pairwise(tails), strict=True):
                log_p, log_r = _log(p - next_p), _log(r - next_r)
                if log_p > -math.inf:  # a Q-mass of 0 in floats does not locate the P-mass
                    losses.append(log_p - log_r if log_r > -math.inf else sum(ends) / 2)
                    masses.append(log_p)
            for end, proven in ((low, law.lowest), (high, law.highest)):
                if proven is not None:  # cuts on both sides of them
                    losses.append(end)
                    masses.append(_NO_MASS)
    order = np.argsort(losses)
    loss = np.array(losses)[order]
    return loss, loss, np.array(masses)[order]


def _tails(law: LossDistribution, edges: Sequence[float]) -> list[Masses]:
    """Return P- and Q-mass above each edge; for a symmetric distribution only one side of 0 is evaluated."""
    if not law.symmetric:
        return [law.tail(arb(edge)) for edge in edges]
    right = {edge: law.tail(arb(edge)) for edge in sorted({abs(edge) for edge in edges})}
    p, r = law.whole
    return [right[edge] if edge >= 0 else (p - right[-edge][1], r - right[-edge][0]) for edge in edges]


def _log(mass: arb) -> float:
    return float(mass.mid().log()) if mass > 0 else -math.inf


def _ends(law: LossDistribution, log_mass: float) -> tuple[float, float]:
    """Return losses that bound all but about e^log_mass of P, or e^-60 on the left, where tilts lower the mass."""
    low = None if law.lowest is None else float(law.lowest)
    high = None if law.highest is None else float(law.highest)
    step = 1.0
    while high is None:
        high = step if _log(law.tail(arb(step))[0]) < log_mass else None
        step *= 1.5
    step = 1.0
    while low is None:
        low = -step if _log(law.head(arb(-step))[0]) < -60 else None
        step *= 1.5
    return low, high


def _edges(low: float, high: float) -> list[float]:
    reach = max(abs(low), abs(high))
    scales = np.geomspace(reach * _FINEST, reach, _SCALES)
    edges = np.concatenate([np.linspace(low, high, _UNIFORM), scales, -scales])
    return [float(edge) for edge in np.unique(edges[(edges >= low) & (edges <= high)])]


@dataclass(frozen=True, slots=True)
class GaussianSaddle:
    """The composed loss under a tilt, taken as Gaussian."""

    tilt: float  # λ >= 0
    epsilon: float  # where the answer is expected
    log_delta: float  # logarithm of the δ expected there
    slope: float  # -d log δ / dε there
    # density of the loss at ε over -dδ/dε: the variance v that a discretisation adds shifts ε by v·sharpness/2
    sharpness: float
    deviation: float  # standard deviation of the tilted, composed loss
    share: float  # what the weighted sum is expected to be, relative to the largest weight


def cumulants(sketches: Sequence[Sketch], tilt: float) -> tuple[float, float, float]:
    """Log E e^(tilt·L) of the composed loss, and its mean and deviation under that tilt."""
    checkpoint()
    value = mean = variance = 0.0
    for part in sketches:
        log_mass, weights = part.tilted(tilt)
        centre = _mean(weights, part.loss)
        value += part.count * log_mass
        mean += part.count * centre
        variance += part.count * _mean(weights, (part.loss - centre) ** 2)
    return value, mean, math.sqrt(max(variance, 1e-300))


def _at(sketches: Sequence[Sketch], tilt: float) -> GaussianSaddle:
    from scipy.special import erfcx

    value, mean, deviation = cumulants(sketches, tilt)
    inner = float(erfcx(tilt * deviation / math.sqrt(2)) - erfcx((tilt + 1) * deviation / math.sqrt(2))) / 2
    inner = max(inner, 1e-300)
    peak = math.exp(tilt * math.log(tilt / (tilt + 1))) / (tilt + 1) if tilt > 0 else 1.0
    log_delta = value - tilt * mean + math.log(inner)
    return GaussianSaddle(tilt, mean, log_delta, max(tilt, 1e-300), tilt + 1, deviation, min(1.0, inner / peak))


def _untilted(sketches: Sequence[Sketch], epsilon: float) -> GaussianSaddle:
    _, mean, deviation = cumulants(sketches, 0.0)
    a = (epsilon - mean) / deviation
    steepness = math.exp(log_tail(a + deviation) + deviation * (a + deviation / 2))  # -dδ/dε
    delta = max(math.exp(log_tail(a)) - steepness, 1e-12)
    density = math.exp(-a * a / 2) / (deviation * math.sqrt(2 * math.pi))
    steepness = max(steepness, 1e-12)
    sharpness = max(density / steepness, 1e-12)
    return GaussianSaddle(0.0, epsilon, math.log(delta), steepness / delta, sharpness, deviation, delta)


def without_tilt(sketches: Sequence[Sketch]) -> GaussianSaddle:
    """Return the composed loss as it is, at its mean."""
    return _untilted(sketches, cumulants(sketches, 0.0)[1])


def saddle_for_epsilon(sketches: Sequence[Sketch], epsilon: float) -> GaussianSaddle:
    """Return the tilt under which the composed loss has mean ``epsilon``, or none if it has a larger mean without."""
    if cumulants(sketches, 0.0)[1] >= epsilon:
        return _untilted(sketches, epsilon)
    tilt = _crossing(lambda s: epsilon - cumulants(sketches, s)[1])
    found = _at(sketches, tilt)
    missed = found.epsilon - epsilon  # positive only where the tilt was capped
    return GaussianSaddle(
        tilt, epsilon, found.log_delta + tilt * missed, found.slope, tilt + 1, found.deviation, found.share
    )


def saddle_for_delta(sketches: Sequence[Sketch], log_delta: float, limit: float, tolerance: float) -> GaussianSaddle:
    """Return the tilt at whose mean δ is as wanted.

    No further than needed where the composed loss has a least upper bound ``limit`` and that is the answer already,
    within the tolerance: until the mean is that close, and the tilted distribution falls off on that scale.
    """
    _, mean, deviation = cumulants(sketches, 0.0)
    if _at(sketches, _SMALLEST_TILT).log_delta <= log_delta:
        low, high = 0.0, mean + 2 * deviation
        if _untilted(sketches, max(low, 0.05 * deviation)).log_delta <= log_delta:
            return _untilted(sketches, max(low, 0.05 * deviation))
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if _untilted(sketches, middle).log_delta > log_delta else (low, middle)
        return _untilted(sketches, high)

    def beyond(tilt: float) -> float:
        here = _at(sketches, tilt)
        near = here.epsilon >= limit * (1 - tolerance / 8) and tilt * limit * tolerance >= 1
        return 0.0 if near else here.log_delta - log_delta

    return _at(sketches, _crossing(beyond))


def composing_tilt(
    sketches: Sequence[Sketch], saddle: GaussianSaddle, spacing: float, allowance: float
) -> tuple[float, float]:
    """Return the tilt to compose under, and the share of the largest weight that the sum then has.

    Where one large loss is as likely as none, the saddle point lies between the two, and the composed distribution
    spans several of them. Under a slightly smaller tilt large losses are rare: a few more bits buy a much shorter
    window. The mass that may be lost is ``allowance``, relative to the sum.
    """
    if saddle.tilt <= 0 or saddle.deviation / spacing < _SHORT_WINDOW:
        return saddle.tilt, saddle.share
    best = (math.inf, saddle.tilt, saddle.share)
    for factor in (1.0, 0.97, 0.94, 0.9, 0.85, 0.8, 0.7, 0.6):
        tilt = factor * saddle.tilt
        value = cumulants(sketches, tilt)[0]
        log_peak = tilt * math.log(tilt / (tilt + 1)) - math.log(tilt + 1)
        log_share = min(0.0, saddle.log_delta - value + tilt * saddle.epsilon - log_peak)
        tail = log_share + math.log(allowance)
        ends = [  # where the Chernoff bound on what lies beyond is exp(tail)
            (sum(part.count * part.tilted(tilt + extra)[0] for part in sketches) - value - tail) / extra
            for extra in (saddle.tilt * f for f in (0.02, 0.05, 0.1, 0.2, 0.4, 0.8))
        ]
        cost = min(ends) * (40 - 2 * log_share)
        if cost < best[0]:
            best = (cost, tilt, math.exp(max(log_share, -300.0)))
    return best[1], best[2]


def _crossing(falling: Callable[[float], float]) -> float:
    """Return where a decreasing function of the tilt turns non-positive (to three digits and more; capped)."""
    low = high = _SMALLEST_TILT
    while falling(high) > 0 and high < _LARGEST_TILT:
        low, high = high, 4 * high
    for _ in range(24):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if falling(middle) > 0 else (low, middle)
    return high


def cut_off(sketches: Sequence[Sketch], log_mass: float) -> list[float]:
    """Return the x of each step beyond which P-mass goes to infinity (total exp(log_mass) over all steps)."""
    each = log_mass - math.log(sum(part.count for part in sketches))
    ends = []
    for part in sketches:
        if len(part.x) == 0:
            raise Declined("lattice: no loss of one step is finite")
        low, high = float(part.x[0]), float(part.x[-1])
        if part.log_mass_above(high) > each:
            raise Declined("lattice: δ is too small for this route")
        for _ in range(40):
            middle = (low + high) / 2
            low, high = (middle, high) if part.log_mass_above(middle) > each else (low, middle)
        ends.append(high)
    return ends


def _mean(weights: Floats, values: Floats) -> float:
    return float(np.sum(weights * values))  # not a matrix product: that would start threads


def offset(part: Sketch, spacing: float, slack: float) -> float:
    """Return a lattice point for one step: less than ``slack`` below the centroid of the P-mass within a spacing of it.

    Where nearly all steps lose nearly the same (rare sampling, little noise), the lattice then has a point there: the
    spread of these steps costs little, and merging them takes nothing from the rare large losses.
    """
    loss = part.loss
    masses = np.exp(part.log_weights)
    sums = np.concatenate([[0.0], np.cumsum(masses)])
    ends = np.searchsorted(loss, loss + spacing / 2, side="right")
    first = int(np.argmax(sums[ends] - sums[:-1]))
    centre = _centroid(loss, masses, first, int(ends[first]))
    for _ in range(6):
        point = centre - slack / 2
        first, last = np.searchsorted(loss, [point - spacing, point + spacing])
        centre = _centroid(loss, masses, int(first), max(int(last), int(first) + 1))
    return centre - slack / 2


def _centroid(loss: Floats, masses: Floats, first: int, last: int) -> float:
    """Return -log E e^(-L) over a stretch of nodes, without cancellation."""
    first = min(first, len(loss) - 1)
    origin = float(loss[first])
    part = masses[first:last]
    if not part.any():  # between two lumps that lie far apart
        return origin
    near = _mean(part / part.sum(), np.expm1(origin - loss[first:last]))
    if near > -0.5:
        return origin - math.log1p(near)
    known = np.log(part[part > 0])  # far apart, where 1 + near would be nothing
    return float(np.logaddexp.reduce(known) - np.logaddexp.reduce(known - loss[first:last][part > 0]))


def added_variance(part: Sketch, weights: Floats, start: float, spacing: float) -> float:
    """Return the variance that the upper measure adds to one step's tilted loss."""
    fraction = ((part.loss - start) / spacing) % 1.0
    return spacing**2 * _mean(weights, fraction * (1 - fraction))


def spacing_for(sketches: Sequence[Sketch], saddle: GaussianSaddle, width: float, slack: float) -> float:
    """Return the spacing at which ε is expected to be known to ``width``."""
    allowed = 2 * width / (saddle.sharpness * _SWEEP_COST)
    tilted = [part.tilted(saddle.tilt)[1] for part in sketches]

    def variance(spacing: float) -> float:
        return sum(
            part.count * added_variance(part, weights, offset(part, spacing, slack), spacing)
            for part, weights in zip(sketches, tilted, strict=True)
        )

    unit = natural_spacing(sketches[0].step) if len(sketches) == 1 else None
    if unit is not None:
        return _aligned(unit, variance, allowed)
    high = math.log(min(_LARGEST_CELL / (saddle.tilt + 1), 2 * saddle.deviation))
    if variance(math.exp(high)) <= allowed:
        return math.exp(high)
    low = high
    while variance(math.exp(low)) > allowed:
        low -= 2.0
    high = min(high, low + 2.0)
    for _ in range(12):
        middle = (low + high) / 2
        low, high = (low, middle) if variance(math.exp(middle)) > allowed else (middle, high)
    return math.exp(low)


def _aligned(unit: float, variance: Callable[[float], float], allowed: float) -> float:
    """Return the coarsest good fraction unit/m, a hair less, so that no atom falls below its lattice point."""

    def spacing(m: int) -> float:
        return unit / m * (1 - 2.0**-48)

    high = 1
    while variance(spacing(high)) > allowed and high < _FINEST_FRACTION:
        high *= 2
    low = high // 2
    while high - low > max(1, high // 32):
        middle = (low + high) // 2
        low, high = (middle, high) if variance(spacing(middle)) > allowed else (low, middle)
    return spacing(high)


def lattice_for(part: Sketch, spacing: Fraction, slack: float) -> Lattice:
    """Return the lattice of one step: the common spacing, an offset of its own."""
    return Lattice(Fraction(offset(part, float(spacing), slack)), spacing)


def marks_for(part: Sketch, tilt: float, lattice: Lattice, negligible: float) -> list[int]:
    """Return the cuts of one step: every lattice point where the tilted mass is large, fewer where it is small.

    Tilted mass of ``negligible`` may be left below the first cut; what the step has beyond its right end is cut off.
    """
    start, spacing = float(lattice.offset), float(lattice.spacing)
    if isinstance(part.step, LossStep) and part.step.discrete:  # atoms only: nothing to cut
        ends = (float(part.loss[0]) - start) / spacing, (float(part.loss[-1]) - start) / spacing
        return [math.floor(ends[0] - 1e-6) - 1, math.ceil(ends[1] + 1e-6) + 1]
    log_mass, weights = part.tilted(tilt)
    below = np.logaddexp.accumulate(part.log_weights) + tilt * part.loss - log_mass
    first = max(0, int(np.searchsorted(below > math.log(negligible), True)) - 1)
    low = math.floor((float(part.loss[first]) - start) / spacing)
    high = max(math.ceil((float(part.loss[-1]) - start) / spacing), low + 1)
    if high - low > _LARGEST_RANGE:
        raise Declined(f"lattice: one step spans {high - low} lattice points, more than the work limit")
    if max(abs(low), abs(high)) > _LARGEST_INDEX:
        raise Declined("lattice: its points are too close for double precision at losses as large as these")
    edges = (np.arange(low, high + 1) * spacing) + start
    # mass per lattice cell; interpolation spreads the narrow bulk at a bound of the loss correctly, by its own nodes
    sums = np.interp(edges, part.loss, np.cumsum(weights), left=0.0, right=1.0)
    masses = np.maximum(np.diff(sums), 1e-30)
    reference = added_variance(part, weights, start, spacing) / spacing**2
    most = max(1.0, _LARGEST_CELL / ((tilt + 1) * spacing))
    factor = _cube_root_factor(masses, 0.1 * reference, most)
    widths = np.minimum(factor * np.cbrt(1 / masses), most)
    marks, position, end = [low], 0, high - low
    while position < end:
        width = max(1, int(widths[position]))
        while width > 1 and (narrowest := float(widths[position : position + width].min())) < width:
            width = max(1, min(width - 1, int(narrowest)))
        position = min(end, position + width)
        marks.append(low + position)
    return marks


def _cube_root_factor(masses: Floats, allowed: float, most: float) -> float:
    """Return c for cells of c·mass^(-1/3) spacings: the fewest cells for the variance that wide cells may add."""
    roots = np.cbrt(1 / masses)
    low, high = math.log(1e-12), math.log(1e4)
    for _ in range(30):
        middle = (low + high) / 2
        widths = np.minimum(math.exp(middle) * roots, most)
        cost = float(np.sum(np.where(widths > 1, masses * widths**2, 0.0))) / 6
        low, high = (middle, high) if cost <= allowed else (low, middle)
    return math.exp(low)
