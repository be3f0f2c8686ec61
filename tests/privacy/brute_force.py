"""An oracle for privacy profiles that knows only the definition of a mechanism, and none of the package's formulas.

**One step.** A data set is a list of vectors v_1, ..., v_n in the unit ball of R^d. A Gaussian release on a Poisson
sample draws a subset S, each record with probability q, and publishes Σ_{i in S} v_i + N(0, z² I). All 2^n subsets are
enumerated, so that what is published has exactly the law

    Σ_S q^|S| (1-q)^(n-|S|) N(Σ_{i in S} v_i, z² I)                                               (``release``)

(q = 1 is full batch). An *attack* is an ordered pair of neighbouring data sets (``add_attacks``, ``remove_attacks``,
``replace_attacks``); it achieves the hockey-stick divergence H_α(P ‖ Q) = ∫ (p - αq)_+ at every α >= 0, where α = e^ε
and ε may be negative.

**Lower bounds that cannot be wrong** (``attained``). Cut R^d into cells. Whoever sees only the cell is weaker, so that
Σ_cells (P(cell) - α Q(cell))_+ <= H_α(P ‖ Q). Cell probabilities are products of differences of Φ, hence free of
quadrature error; what is left is rounding, about 1e-14.

**Upper bounds** (``bracket``). ∇ log(p/q) at x is (mean of the component of P that produced x, minus the same for Q) /
z², so its norm is at most L = (diameter of all component means) / z², and within a cell of diameter D the ratio q/p
stays within a factor e^{±s}, s = L D, of its average r = Q(cell) / P(cell). Let V(α) = (1-α)_+, convex. Then on the
cell E_P V(α q/p) is at most the chord of V between α r e^{-s} and α r e^{s}, taken at α r.

**Quadrature** (``profile``). In one dimension ∫ (p - αq)_+ is split at the sign changes of p - αq and each piece is
integrated by Gauss-Legendre panels, of two orders; their difference is the error estimate.

**Several adaptive steps** (``game``). Let V_t(α) be the best value of E_P (1 - α Q/P)_+ over the outputs of steps t,
t+1, ..., when the data sets of a later step (the other records' vectors as well as the record's own) may depend on all
earlier outputs. Writing the integral over step t on the outside,

    V_{T+1}(α) = (1-α)_+,    V_t(α) = max over the attacks (P, Q) of step t of ∫ p V_{t+1}(α q/p),

because the later steps' contribution after an output y is p(y) times the value of the remaining game at threshold
α q(y)/p(y): the adversary's best reaction to y depends on y through this number only. V_1 is the exact worst case over
all adaptive adversaries that are confined to the enumerated attacks.

The V_t live on a grid log α = jΔ, and a cell with mass P and ratio r splits its mass between the two grid points
e^{kΔ} <= r < e^{(k+1)Δ}, such that P- and Q-mass are both kept: exactly the linear interpolation in α of V_{t+1}, which
raises a convex function by O(Δ²). So the numbers are those of a game whose last move is the interpolated function.
Since that is convex, decreasing, between (1-α)_+ and 1, it is itself the profile of a pair, and a dominating pair
dominates in this game too: attack and pair, run with the same grid, may be compared with each other sharply.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import fft, optimize, special

Array = NDArray[np.float64]
Records = tuple[tuple[float, ...], ...]  # one vector per record

_REACH = 9.0  # in standard deviations: the mass beyond, below 1e-18, is the outermost cells'


@dataclass(frozen=True)
class Mixture:
    """Σ_k weights[k] N(means[k], stddev² I); weights of shape (k,), means of shape (k, d)."""

    weights: Array
    means: Array
    stddev: float

    def density(self, points: Array) -> Array:
        """Density at points of shape (m,), dimension one only."""
        standardised = (points[:, None] - self.means[None, :, 0]) / self.stddev
        return np.exp(-0.5 * standardised**2) @ self.weights / (self.stddev * math.sqrt(2 * math.pi))


Attack = tuple[Mixture, Mixture]  # what the first and the second of two neighbours publish


def normal(mean: float, stddev: float) -> Mixture:
    """N(mean, stddev²) on the line."""
    return mixture(((1.0, mean),), stddev)


def mixture(components: Iterable[tuple[float, float]], stddev: float) -> Mixture:
    """A mixture of (weight, mean) components on the line."""
    weights, means = zip(*components, strict=True)
    return Mixture(np.array(weights), np.array(means)[:, None], stddev)


def release(records: Records, dimension: int, stddev: float, sample_rate: float) -> Mixture:
    """The law of the noisy sum over a Poisson sample of the records, by enumeration of all subsets."""
    probabilities: dict[tuple[float, ...], float] = {}
    for chosen in itertools.product((False, True), repeat=len(records)):
        size = sum(chosen)
        probability = sample_rate**size * (1 - sample_rate) ** (len(records) - size)
        picked = [record for record, taken in zip(records, chosen, strict=True) if taken]
        total = tuple(math.fsum(record[axis] for record in picked) for axis in range(dimension))
        if probability > 0:
            probabilities[total] = probabilities.get(total, 0.0) + probability
    return Mixture(np.array(list(probabilities.values())), np.array(list(probabilities)), stddev)


# --- The data sets ---------------------------------------------------------------------------------------------------


def others(vectors: Sequence[tuple[float, ...]], most: int) -> Iterator[Records]:
    """Every multiset of at most ``most`` of the vectors: the records that two neighbours share."""
    for size in range(most + 1):
        yield from itertools.combinations_with_replacement(vectors, size)


@dataclass(frozen=True)
class Step:
    """One release: stddev in units of the per-record bound, and the sample rate (1: full batch)."""

    stddev: float
    sample_rate: float = 1.0

    def publishes(self, records: Records, dimension: int) -> Mixture:
        return release(records, dimension, self.stddev, self.sample_rate)


def remove_attacks(step: Step, shared: Iterable[Records], own: Sequence[tuple[float, ...]]) -> list[Attack]:
    """First data set: the shared records and one more; second: the shared ones alone."""
    dimension = len(own[0])
    return [
        (step.publishes((*rest, vector), dimension), step.publishes(rest, dimension))
        for rest in shared
        for vector in own
    ]


def add_attacks(step: Step, shared: Iterable[Records], own: Sequence[tuple[float, ...]]) -> list[Attack]:
    """First data set: the shared records alone; second: one more."""
    return [(second, first) for first, second in remove_attacks(step, shared, own)]


def replace_attacks(step: Step, shared: Iterable[Records], own: Sequence[tuple[float, ...]]) -> list[Attack]:
    """Both data sets hold the shared records and one more, which differs."""
    dimension = len(own[0])
    return [
        (step.publishes((*rest, first), dimension), step.publishes((*rest, second), dimension))
        for rest in shared
        for first, second in itertools.permutations(own, 2)
    ]


# --- One step --------------------------------------------------------------------------------------------------------


def _edges(attack: Attack, axis: int, width: float) -> Array:
    """Cell edges along one axis, ``width`` standard deviations apart; the outermost cells reach to infinity."""
    means = np.concatenate([law.means[:, axis] for law in attack])
    stddev = attack[0].stddev
    low, high = means.min() - _REACH * stddev, means.max() + _REACH * stddev
    inner = np.linspace(low, high, 1 + math.ceil((high - low) / (width * stddev)))
    return np.concatenate(([-np.inf], inner, [np.inf]))


def _interval_masses(edges: Array, means: Array, stddev: float) -> Array:
    """Shape (k, cells): each component's probability of each interval, accurate in both tails."""
    scaled = (edges[None, :] - means[:, None]) / stddev
    left, right = scaled[:, :-1], scaled[:, 1:]
    flipped = left > 0  # Φ(b) - Φ(a) = Φ(-a) - Φ(-b): no cancellation on the right
    upper, lower = np.where(flipped, -left, right), np.where(flipped, -right, left)
    return np.asarray(special.ndtr(upper) - special.ndtr(lower))


def cell_masses(attack: Attack, width: float) -> tuple[Array, Array]:
    """Probabilities of the same cells under both laws (flat arrays), cells ``width`` standard deviations wide."""
    dimension = attack[0].means.shape[1]
    edges = [_edges(attack, axis, width) for axis in range(dimension)]
    first, second = (_cell_masses(law, edges) for law in attack)
    return first, second


def _cell_masses(law: Mixture, edges: list[Array]) -> Array:
    along = [_interval_masses(edges[axis], law.means[:, axis], law.stddev) for axis in range(len(edges))]
    if len(along) == 1:
        return np.asarray(law.weights @ along[0])
    return np.asarray(((law.weights[:, None] * along[0]).T @ along[1]).ravel())


def attained(attack: Attack, alphas: Array, width: float) -> Array:
    """Σ_cells (P - αQ)_+ for every α: at most H_α(P ‖ Q)."""
    first, second = cell_masses(attack, width)
    return np.array([np.maximum(first - alpha * second, 0).sum() for alpha in alphas])


def bracket(attack: Attack, alphas: Array, width: float) -> tuple[Array, Array]:
    """Lower and upper bounds for H_α(P ‖ Q), for every α (the module's docstring has the proof)."""
    first, second = cell_masses(attack, width)
    inside = (first > 0) & (second > 0)
    ratio = second[inside] / first[inside]
    means = np.concatenate([law.means for law in attack])
    diameter = max(float(np.linalg.norm(means - mean, axis=1).max()) for mean in means)
    dimension = means.shape[1]
    # A cell is a cube of side width · stddev (slightly less, after rounding the number of cells up).
    spread = diameter / attack[0].stddev * width * math.sqrt(dimension)
    weight = math.exp(spread) / (1 + math.exp(spread))
    outside = 2 * dimension * special.ndtr(-_REACH) + first[~inside].sum()  # cells that reach to infinity
    upper = []
    for alpha in alphas:
        near = weight * np.maximum(1 - alpha * ratio * math.exp(-spread), 0)
        far = (1 - weight) * np.maximum(1 - alpha * ratio * math.exp(spread), 0)
        upper.append(first[inside] @ (near + far) + outside)
    return attained(attack, alphas, width), np.array(upper)


def profile(attack: Attack, alphas: Array) -> tuple[Array, Array]:
    """∫ (p - αq)_+ on the line for every α > 0, and an estimate of the error, by Gauss-Legendre panels."""
    first, second = attack
    edges = _edges(attack, 0, 0.02)[1:-1]
    with np.errstate(divide="ignore", invalid="ignore"):
        log_ratios = np.log(first.density(edges)) - np.log(second.density(edges))
    values = np.array([_positive_part(attack, alpha, edges, log_ratios) for alpha in alphas])
    return values[:, 0], np.abs(values[:, 0] - values[:, 1]) + 1e-13


def _positive_part(attack: Attack, alpha: float, edges: Array, log_ratios: Array) -> tuple[float, float]:
    def excess(point: float) -> float:
        at = np.array([point])
        return float(np.log(attack[0].density(at)[0]) - np.log(attack[1].density(at)[0]) - math.log(alpha))

    above = log_ratios > math.log(alpha)
    changes = np.flatnonzero(above[:-1] != above[1:])
    crossings = [optimize.brentq(excess, edges[index], edges[index + 1], xtol=1e-15) for index in changes]
    cuts = np.unique(np.concatenate((edges[::25], edges[-1:], crossings)))  # panels of half a standard deviation
    return _panels(attack, alpha, cuts, 24), _panels(attack, alpha, cuts, 16)


def _panels(attack: Attack, alpha: float, cuts: Array, order: int) -> float:
    nodes, weights = np.polynomial.legendre.leggauss(order)
    half = np.diff(cuts) / 2
    points = (cuts[:-1] + half)[:, None] + half[:, None] * nodes
    difference = attack[0].density(points.ravel()) - alpha * attack[1].density(points.ravel())
    return float((half[:, None] * weights * np.maximum(difference, 0).reshape(points.shape)).sum())


# --- Several adaptive steps ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Grid:
    """log α = jΔ for |j| <= half; a loss is cut off at ``reach`` grid points (where its mass is negligible)."""

    spacing: float = 0.01
    half: int = 1400
    reach: int = 2000

    @property
    def alphas(self) -> Array:
        return np.asarray(np.exp(self.spacing * np.arange(-self.half, self.half + 1)))

    def between(self, low: float, high: float) -> slice:
        """The grid points with log α in [low, high]."""
        return slice(self.half + math.ceil(low / self.spacing), self.half + math.floor(high / self.spacing) + 1)


def losses(attacks: Sequence[Attack], grid: Grid, width: float = 0.01) -> Array:
    """Shape (attacks, 2·reach+1): the P-mass that each attack puts on Q/P = e^{kΔ}, |k| <= reach.

    Both laws' masses are kept (the module's docstring says why), except where a ratio is cut off at e^{±reach Δ}. That
    changes V at α by at most α e^{-reach Δ} on the left (V has slope at least -1), and on the right by at most the
    P-mass beyond, which is below e^{-reach Δ} as well.
    """
    return tabulated_losses((cell_masses(attack, width) for attack in attacks), grid)


def tabulated_losses(tables: Iterable[tuple[Array, Array]], grid: Grid) -> Array:
    """The same for attacks given as the probabilities of the same outcomes under both laws."""
    distinct: dict[bytes, Array] = {}
    for first, second in tables:
        inside = first > 0
        mass, ratio = first[inside], np.maximum(second[inside], 1e-300) / first[inside]
        limit = grid.reach * grid.spacing
        position = np.clip(np.log(ratio), -limit, limit * (1 - 1e-12)) / grid.spacing
        left = np.floor(position)
        clipped = np.exp(position * grid.spacing)
        low, high = np.exp(left * grid.spacing), np.exp((left + 1) * grid.spacing)
        to_the_left = (high - clipped) / (high - low)
        index = left.astype(np.int64) + grid.reach
        row = np.zeros(2 * grid.reach + 1)
        np.add.at(row, index, mass * to_the_left)
        np.add.at(row, index + 1, mass * (1 - to_the_left))
        distinct[np.round(row, 13).tobytes()] = row  # a mirror image or a translate is the same attack
    return np.array(list(distinct.values()))


def game(steps: Sequence[Array], grid: Grid) -> Array:
    """V_1 on the grid: the best that an adaptive adversary achieves with the given attacks (``losses``) per step."""
    value: Array = np.maximum(1 - grid.alphas, 0)
    size = fft.next_fast_len(2 * (grid.half + grid.reach) + 1, real=True)
    beyond = np.exp(grid.spacing * np.arange(-grid.half - grid.reach, -grid.half))
    for masses in reversed(steps):
        left = 1 - (1 - value[0]) * beyond / grid.alphas[0]  # the chord to V(0) = 1
        right = np.full(grid.reach, value[-1])  # V decreases
        padded = np.concatenate((left, value, right))
        # Σ_k masses[k] V(jΔ + kΔ): a correlation, for all attacks at once
        product = fft.rfft(padded, size)[None, :] * np.conj(fft.rfft(masses, size, axis=1))
        value = fft.irfft(product, size, axis=1)[:, : 2 * grid.half + 1].max(axis=0)
    return value
