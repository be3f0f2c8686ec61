"""The losses of a product in floating point: exponential moments, saddle points, cut-offs. A search, not a proof."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbounds.privacy.pairs.pairs import Direction, GaussianProduct, SampledGaussians, ShiftedGaussians
from dpbounds.privacy.proofs import Declined
from dpbounds.privacy.routes.searching import crossing, log_tail, log_tails

Floats = NDArray[np.floating[Any]]
Complexes = NDArray[np.complexfloating[Any, Any]]
Numbers = NDArray[Any]  # real or complex

# How far below its peak an integrand is followed (nats), and the finest scan spacing in standard deviations.
_DEPTH = 60.0
_SPACING = 0.08
_MOST_NODES = 200_000
_FAR_GROWTH, _FAR_NODES, _FAR_ROUNDS = 1.2, 60, 5
_REFINEMENTS = 4
_TWO_HUMPED = 30.0  # spread times tilt beyond which a tilted distribution is not treated as normal
_DEEPEST = -1e6  # log δ at which no cut-off further out is tried
_COARSE_CELLS = 1 << 15
_FARTHEST_EDGE = 1e9  # standard deviations


@dataclass(frozen=True)
class RepeatedPair:
    """One sampled pair with its multiplicity, as floats; t = x/z is the observation in standard deviations."""

    pair: SampledGaussians
    count: int

    @cached_property
    def q(self) -> float:
        """The sample rate."""
        return float(self.pair.sample_rate)

    @cached_property
    def z(self) -> float:
        """The standard deviation in units of the per-record bound."""
        return math.sqrt(self.pair.variance)

    @property
    def direction(self) -> Direction:
        """The first of the two neighbours."""
        return self.pair.direction

    @property
    def cut(self) -> bool:
        """Whether large t is cut off smoothly (the direction whose losses are bounded above needs no cut)."""
        return self.direction is not Direction.ADD

    @cached_property
    def log_rest(self) -> float:
        """The logarithm of 1 - q, also where q rounds to 1."""
        rest = 1 - self.pair.sample_rate
        return math.log(rest.numerator) - math.log(rest.denominator) if rest else -math.inf

    def log_ratio(self, t: Numbers) -> Numbers:
        """Log A(t), A = 1 - q + q e^{t/z - 1/2z²}, also at complex t, where |Im t| < πz; there to 1e-16 of A only."""
        x = t / self.z - 0.5 / self.z**2
        if np.iscomplexobj(x):
            x = x + math.log(self.q)
            top = np.maximum(x.real, self.log_rest)
            return np.asarray(top + np.log(np.exp(x - top) + np.exp(self.log_rest - top)))
        if self.q > 0.5 or self.q < 1e-300:  # (1/q overflows)
            return np.asarray(np.logaddexp(self.log_rest, math.log(self.q) + x))
        with np.errstate(over="ignore"):
            near = np.log1p(self.q * np.expm1(np.minimum(x, 30.0)))
        return np.asarray(
            np.where(x > 30.0, math.log(self.q) + x + np.log1p((1 / self.q - 1) * np.exp(-np.maximum(x, 30.0))), near)
        )

    def weight(self, t: Numbers) -> Numbers:
        """Return p(t) = q e^{t/z - 1/2z²} / A(t), the posterior probability of the record's component."""
        return np.exp(math.log(self.q) + t / self.z - 0.5 / self.z**2 - self.log_ratio(t))

    def loss(self, t: Numbers) -> Numbers:
        """Return L(t) = log dP/dQ."""
        match self.direction:
            case Direction.REMOVE:
                return self.log_ratio(t)
            case Direction.ADD:
                return -self.log_ratio(t)
            case Direction.REPLACE:
                return self.log_ratio(t) - self.log_ratio(-t)

    def log_density(self, t: Numbers) -> Numbers:
        """Log of P's density in t, without cut-off."""
        plain = -0.5 * t * t - 0.5 * math.log(2 * math.pi)
        return plain if self.direction is Direction.ADD else plain + self.log_ratio(t)

    def turned(self, v: Floats, t: Floats) -> tuple[Floats, Floats]:
        """Return arg A at t + izv, and minus half the log of 1 - dent (``Moments.dent``): shape (turns, points)."""
        p = self.weight(t)
        angle = _arguments(v, p)
        if self.direction is Direction.REMOVE:
            return angle, np.zeros_like(angle)
        other = p if self.direction is Direction.ADD else self.weight(-t)
        dent = np.multiply.outer(np.sin(v / 2) ** 2, 4 * other * (1 - other))
        return angle, -0.5 * np.log1p(-np.minimum(dent, 1 - 1e-15))

    def turned_both(self, v: Floats, t: Floats) -> tuple[Floats, Floats]:
        """Return the same with arg A + arg A₋ where the loss has both."""
        angle, gain = self.turned(v, t)
        return (angle + _arguments(v, self.weight(-t)) if self.direction is Direction.REPLACE else angle), gain


def _arguments(v: Floats, p: Floats) -> Floats:
    """Return the argument of 1 - p + p e^{iv}."""
    return np.asarray(np.arctan2(np.multiply.outer(np.sin(v), p), 1 - p + np.multiply.outer(np.cos(v), p)))


def log_erfc(x: Numbers) -> Numbers:
    """Return log(erfc(x)/2), finite for large x; real or complex."""
    return log_tails(math.sqrt(2.0) * np.asarray(x))


@dataclass(frozen=True)
class CutDistribution:
    """A part's P-mass, cut off at ``edge`` with softness ``softness`` where the direction calls for it, on a grid."""

    part: RepeatedPair
    softness: float
    edge: float
    t: Floats
    log_mass: Floats  # log of the cut P-mass per node
    loss: Floats

    def log_moment(self, tilt: Floats) -> Floats:
        """Log M at each tilt: shape (m,) to (m,)."""
        exponent = self.log_mass + np.multiply.outer(tilt, self.loss)
        top = exponent.max(axis=-1)
        # (SciPy's logsumexp takes twice as long)
        found: Floats = top + np.log(np.exp(exponent - top[:, None]).sum(axis=-1))
        if self.part.cut and self._peak(float(tilt.max())) > self._scanned:
            found = np.logaddexp(found, self._far(tilt))
        return found

    @cached_property
    def _scanned(self) -> float:
        """End of the fine scan, or the point from which A grows."""
        return max(self.edge + 8 * self.softness + 1, 1 / self.part.z)

    def _peak(self, tilt: Any, weight: Any = 1.0) -> Any:
        """Return where the integrand peaks if log A grows like weight·t/z there."""
        steep = 2 / self.softness**2
        return ((1 + tilt) / self.part.z * weight + steep * self.edge) / (1 + steep)

    def _far(self, tilt: Floats) -> Floats:
        """Return the log mass about a peak beyond the finely scanned part, which a few coarse nodes may miss."""
        part, steep, weight = self.part, 2 / self.softness**2, np.ones_like(tilt)
        for _ in range(_FAR_ROUNDS):
            t = self._peak(tilt, weight)
            weight = part.weight(t)
        peak = part.log_density(t) + log_erfc((t - self.edge) / self.softness) + tilt * part.loss(t)
        bend = np.maximum(1 + steep - (1 + tilt) * weight * (1 - weight) / part.z**2, 1.0)
        return np.where(t > self._scanned, peak + 0.5 * np.log(2 * math.pi / bend), -np.inf)

    def cumulants(self, tilt: float) -> tuple[float, float, float]:
        """Log M and its first two derivatives."""
        exponent = self.log_mass + tilt * self.loss
        top = float(exponent.max())
        weight = np.exp(exponent - top)
        total = float(weight.sum())
        mean = float(weight @ self.loss) / total
        return top + math.log(total), mean, float(weight @ (self.loss - mean) ** 2) / total


def cut_edge(part: RepeatedPair, softness: float, log_allowance: float) -> float:
    """Return the smallest edge whose smooth cut-off moves at most e^log_allowance of P-mass (over all repetitions)."""
    spread = math.sqrt(1 + softness**2 / 2)
    shift = 1 / part.z

    def excess(edge: float) -> float:
        here = part.log_rest + log_tail(edge / spread)
        there = math.log(part.q) + log_tail((edge - shift) / spread)
        return float(math.log(part.count) + np.logaddexp(here, there)) - log_allowance

    high = 4.0 + shift
    while excess(high) > 0:
        high *= 2
        if high > _FARTHEST_EDGE:
            raise Declined("no cut-off is found in doubles")
    return math.ceil(64 * crossing(excess, -40.0 - shift, high, 1e-3)) / 64 if excess(0.0) > 0 else 0.0


def scan(part: RepeatedPair, softness: float, log_allowance: float) -> CutDistribution:
    """Lay a grid over everything that the part's tilted distributions can weigh."""
    reach = math.sqrt(2 * (_DEPTH + math.log(part.count)))
    if part.cut:
        edge = cut_edge(part, softness, log_allowance)
        low, high = -max(reach, 1 / part.z), max(edge, 0.0) + 8 * softness + 1
    else:
        edge = math.inf
        low, high = -reach, max(reach, 1 / part.z)
        # a tilted bulk can sit further left by at most λ/z; losses there are bounded, so the mass is what matters
        low -= min(1 / part.z, 40.0) + math.sqrt(max(0.0, -2 * log_allowance))
    spacing = _SPACING * min(1.0, 2 * part.z)
    count = int((high - low) / spacing) + 1
    if count > _MOST_NODES:
        raise Declined(f"a scan of {count} nodes is more than {_MOST_NODES}")
    t = low + spacing * np.arange(count)
    widths = np.full(count, spacing)
    if part.cut:  # coarsely far beyond the cut-off, where a large tilt may bring the jumps back
        far = t[-1] + spacing * np.cumsum(_FAR_GROWTH ** np.arange(1, _FAR_NODES))
        widths = np.concatenate([widths, np.diff(far, prepend=t[-1])])
        t = np.concatenate([t, far])
    log_mass = part.log_density(t) + np.log(widths)
    if part.cut:
        log_mass = log_mass + log_erfc((t - edge) / softness)
    return CutDistribution(part, softness, edge, t, log_mass, part.loss(t))


@dataclass(frozen=True)
class LossSum:
    """The sum of all losses: distributions with multiplicities, plus one exact Gaussian part with squared shift μ²."""

    laws: tuple[CutDistribution, ...]
    squared_shift: float

    @cached_property
    def steps(self) -> int:
        """Number of sampled releases."""
        return sum(law.part.count for law in self.laws)

    @property
    def cut(self) -> bool:
        """Whether any distribution is cut off."""
        return any(law.part.cut for law in self.laws)

    def log_moment(self, tilt: Floats) -> Floats:
        """Return K(λ) = log E e^{λ ΣL} at each tilt."""
        total = tilt * (tilt + 1) * self.squared_shift / 2
        for law in self.laws:
            total = total + law.part.count * law.log_moment(tilt)
        return total

    def cumulants(self, tilt: float) -> tuple[float, float, float]:
        """Return K, K', K''."""
        value = tilt * (tilt + 1) * self.squared_shift / 2
        slope, curvature = (tilt + 0.5) * self.squared_shift, self.squared_shift
        for law in self.laws:
            one, mean, variance = law.cumulants(tilt)
            value += law.part.count * one
            slope += law.part.count * mean
            curvature += law.part.count * variance
        return value, slope, curvature

    def saddle_for_epsilon(self, epsilon: float) -> SaddlePoint:
        """Minimise K(λ) - λε - log λ(1+λ) over λ > 0 (convex)."""

        def slope(log_tilt: float) -> float:
            tilt = math.exp(log_tilt)
            return self.cumulants(tilt)[1] - epsilon - 1 / tilt - 1 / (1 + tilt)

        return self.saddle(math.exp(_increasing_root(slope)), epsilon)

    def saddle_for_delta(self, log_delta: float) -> SaddlePoint:
        """Return the saddle at which the Laplace approximation of δ meets the target (ε >= 0)."""

        def excess(log_tilt: float) -> float:
            return log_delta - self.saddle(math.exp(log_tilt)).log_delta

        found = self.saddle(math.exp(_increasing_root(excess)))
        if found.epsilon <= 0:
            return self.saddle_for_epsilon(0.0)
        if found.spread * found.tilt > _TWO_HUMPED:
            # bulk and jumps share the tilted distribution: Laplace may be far off, but a Chernoff bound is never too
            # small
            tilts = found.tilt * np.geomspace(0.1, 10.0, 80)
            largest = float(np.min((self.log_moment(tilts) - log_delta) / tilts))
            if largest < found.epsilon:
                return replace(self.saddle_for_epsilon(largest), log_delta=log_delta)
        return found

    def saddle(self, tilt: float, epsilon: float | None = None) -> SaddlePoint:
        """Return the Laplace approximation at this tilt, and at the given ε or the ε whose saddle the tilt is."""
        value, slope, curvature = self.cumulants(tilt)
        if epsilon is None:
            epsilon = slope - 1 / tilt - 1 / (1 + tilt)
        curvature += 1 / tilt**2 + 1 / (1 + tilt) ** 2
        peak = value - tilt * epsilon - math.log(tilt) - math.log1p(tilt)
        return SaddlePoint(tilt, epsilon, math.sqrt(curvature), peak - 0.5 * math.log(2 * math.pi * curvature))


@dataclass(frozen=True, slots=True)
class SaddlePoint:
    """A tilt λ, the ε it serves, the spread of the integrand's logarithm in 1/w, and log δ to a few per cent.

    ``others`` are further pairs of ε and log δ which the same contour is to serve.
    """

    tilt: float
    epsilon: float
    spread: float
    log_delta: float
    others: tuple[tuple[float, float], ...] = ()

    def deepest(self, tilt: Floats) -> Floats:
        """Return the largest -log(e^{tilt ε} δ) of all ε that are served: allowed errors are relative to it."""
        found = -tilt * self.epsilon - self.log_delta
        for epsilon, log_delta in self.others:
            found = np.maximum(found, -tilt * epsilon - log_delta)
        return found


def _increasing_root(function: Callable[[float], float]) -> float:
    """Return the root of an increasing function of log λ, found to 1e-3 by expanding brackets from λ = 1."""
    low = high = 0.0
    step = 1.0
    if function(0.0) < 0:
        while function(high) < 0:
            low, high, step = high, high + step, step * 2
            if high > 60:
                raise Declined("no saddle point below λ = e^60")
    else:
        while function(low) > 0:
            high, low, step = low, low - step, step * 2
            if low < -80:
                raise Declined("no saddle point above λ = e^-80")
    return crossing(function, low, high, 1e-3)


def refined(landscape: LossSum, saddle: SaddlePoint, keep_delta: bool) -> SaddlePoint:
    """Correct a Laplace approximation that is poor (few rare jumps) by a coarse tilted convolution.

    Good to a few per cent of δ, which is all a plan needs. Either δ is kept and ε corrected, or the other way round.
    """
    for _ in range(_REFINEMENTS):
        losses, log_curve = _coarse_curve(landscape, saddle)
        if keep_delta:
            above = np.flatnonzero(log_curve > saddle.log_delta)
            if len(above) == 0:
                return saddle  # lost in rounding: no better than before
            epsilon = float(losses[min(above[-1] + 1, len(losses) - 1)])
            found = replace(landscape.saddle_for_epsilon(max(epsilon, 0.0)), log_delta=saddle.log_delta)
            settled = abs(found.epsilon - saddle.epsilon) < 0.05 * min(saddle.spread, 1 / saddle.tilt)
            saddle = found
            if settled:
                break
        else:
            value = float(np.interp(saddle.epsilon, losses, log_curve))
            return replace(saddle, log_delta=value) if math.isfinite(value) else saddle
    return saddle


def _coarse_curve(landscape: LossSum, saddle: SaddlePoint) -> tuple[Floats, Floats]:
    """Return log δ on a grid of ε around the saddle, by one cyclic convolution of the tilted distributions."""
    tilt = saddle.tilt
    value, _, variance = landscape.cumulants(tilt)
    period = 24 * math.sqrt(max(variance, 0.0)) + 12 * saddle.spread + 40 / tilt
    spacing = period / _COARSE_CELLS
    transform = np.ones(_COARSE_CELLS // 2 + 1, dtype=np.complex128)
    centre = 0.0
    for law in landscape.laws:
        exponent = law.log_mass + tilt * law.loss
        weight = np.exp(exponent - exponent.max())
        weight /= weight.sum()
        middle = float(weight @ law.loss)  # recentred, so that the sum stays near 0 on the circle
        place = (law.loss - middle) / spacing
        low = np.floor(place)
        share = place - low
        mass = np.zeros(_COARSE_CELLS)
        cells = low.astype(np.int64) % _COARSE_CELLS
        np.add.at(mass, cells, weight * (1 - share))
        np.add.at(mass, (cells + 1) % _COARSE_CELLS, weight * share)
        transform = transform * np.fft.rfft(mass) ** law.part.count
        centre += law.part.count * middle
    w = 2 * math.pi / period * np.arange(len(transform))
    transform = transform * np.exp(-0.5 * w * w * landscape.squared_shift)
    centre += (tilt + 0.5) * landscape.squared_shift
    mass = np.maximum(np.fft.fftshift(np.fft.irfft(transform, _COARSE_CELLS)), 0.0)
    losses = centre + spacing * (np.arange(_COARSE_CELLS) - _COARSE_CELLS // 2)
    # δ(ε) = e^K Σ_{s > ε} p(s) (e^{-λs} - e^{ε-(λ+1)s}), both sums from the right and in logarithms
    with np.errstate(divide="ignore"):
        log_mass = np.log(mass)
    first = np.logaddexp.accumulate((log_mass - tilt * (losses - centre))[::-1])[::-1]
    second = np.logaddexp.accumulate((log_mass - (tilt + 1) * (losses - centre))[::-1])[::-1]
    with np.errstate(divide="ignore", invalid="ignore"):
        gap = np.log(-np.expm1(np.minimum(second + losses - centre - first, 0.0)))
    curve = value - tilt * centre + first + gap
    return losses, np.where(np.isfinite(curve), curve, -np.inf)


def split(product: GaussianProduct) -> tuple[tuple[RepeatedPair, ...], float]:
    """Return the sampled parts, and μ² of the Gaussian part (0 if there is none)."""
    parts = tuple(RepeatedPair(pair, count) for pair, count in product if isinstance(pair, SampledGaussians))
    shift = sum(float(pair.squared_shift) * count for pair, count in product if isinstance(pair, ShiftedGaussians))
    return parts, shift


def survey(
    product: GaussianProduct, softness: float, log_accuracy: float, log_delta: float | None, epsilon: float | None
) -> tuple[LossSum, SaddlePoint]:
    """Find the landscape and the saddle for one target: a log δ, an ε, or a known pair of both.

    For a target ε the cut-off, which must cost little compared with a δ that is not known yet, is moved outwards until
    it does.
    """
    parts, shift = split(product)
    goal = -40.0 if log_delta is None else log_delta
    for _ in range(40):
        landscape = LossSum(tuple(scan(part, softness, goal + log_accuracy) for part in parts), shift)
        if epsilon is None:
            assert log_delta is not None
            return landscape, landscape.saddle_for_delta(log_delta)
        try:
            saddle = landscape.saddle_for_epsilon(epsilon)
        except Declined:
            if not landscape.cut or goal < _DEEPEST:
                raise
            goal *= 2  # every loss that is left lies below ε: cut further out
            continue
        if log_delta is not None:
            return landscape, replace(saddle, log_delta=log_delta)
        if saddle.log_delta >= goal - 1:
            return landscape, saddle
        goal = saddle.log_delta * 1.02 - 1
    raise Declined("no cut-off is found that costs little compared with δ")
