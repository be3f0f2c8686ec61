"""Estimates of shuffled batches by their clones, in floating point, which choose parameters and prove nothing.

A choice is one number for all epochs (how much of δ goes into total variation), how far a clone's odds lie below those
of the labels, and how many clones act like the record itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from dpbounds.expressions.time_limit import checkpoint
from dpbounds.privacy.pairs.pairs import Direction, ShuffledBatches
from dpbounds.privacy.routes.shuffling.counts import FINENESS, MOST_BATCHES, Choice, clone_bases

Floats = NDArray[np.float64]
Parts = tuple[tuple[ShuffledBatches, int], ...]

_CELLS = 60  # cells of the grid per standard deviation of one epoch's loss, for the choice that is proven
_ROUGH_CELLS = 25  # for estimates
_MOST_CELLS = 6000  # cells of one epoch
_LARGEST_LOSS = 40.0  # loss of one label, beyond which larger losses do not help
_NEARER = 0.75  # share of the total variation for the clones that act like a zeroed record, and the labels
_NEGLIGIBLE = 1e-7  # share of δ that may count as infinite loss
_SEEN_UNTILTED = 1e-8  # δ that a transform in floating point resolves without a tilt
_LONGEST = 1 << 21


@dataclass(frozen=True, slots=True)
class Aim:
    """One choice for all epochs.

    Attributes:
        variation: The logarithm of the total variation of an epoch.
        shift: ε₁' - ε₀ in squared shifts of the base.
        alike: The part of another record's distribution that acts like the record itself, if its neighbour is zeroed.
    """

    variation: float
    shift: float
    alike: float = 0.0


@dataclass(frozen=True, slots=True)
class Estimate:
    """δ(ε) of all epochs by their clones, for one aim."""

    losses: Floats
    log_masses: Floats
    variation: float

    def delta(self, epsilon: float) -> float:
        """Return δ(ε), not monotone."""
        above = self.losses > epsilon
        gaps = -np.expm1(epsilon - self.losses[above])
        return float((np.exp(self.log_masses[above]) * gaps).sum()) + (1 + math.exp(epsilon)) * self.variation

    def epsilon(self, delta: float, most: float) -> float:
        """Return the first ε at which δ(ε) is at most δ; infinite where none up to ``most`` is seen."""
        if 2 * self.variation >= delta:
            return math.inf
        top = min(most, math.log(delta / self.variation - 1), float(self.losses[-1]))
        grid = np.linspace(0.0, top, 80)
        first = next((i for i, x in enumerate(grid) if self.delta(float(x)) <= delta), None)
        if first is None:
            return math.inf
        if first == 0:
            return 0.0
        low, high = float(grid[first - 1]), float(grid[first])
        for _ in range(20):
            middle = (low + high) / 2
            low, high = (middle, high) if self.delta(middle) > delta else (low, middle)
        return high


def gaussian_delta(mu: float, epsilon: float) -> float:
    """Return H at e^ε of two Gaussians at distance μ."""
    if mu == 0:
        return 0.0
    near, far = epsilon / mu - mu / 2, epsilon / mu + mu / 2
    tail = math.exp(min(epsilon + _log_tail(far), 0.0))
    return max(0.0, math.exp(_log_tail(near)) - tail)


def _log_tail(x: float) -> float:
    if x < 25:
        return math.log(max(math.erfc(x / math.sqrt(2)) / 2, 1e-300))
    return -x * x / 2 - math.log(x * math.sqrt(2 * math.pi)) - 1 / (x * x)


def gaussian_epsilon(mu: float, delta: float) -> float:
    """Return ε(δ) of two Gaussians at distance μ."""
    low, high = 0.0, mu * mu / 2 + mu * math.sqrt(2 * math.log(1 / delta)) + 1e-9
    if gaussian_delta(mu, 0.0) <= delta:
        return 0.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if gaussian_delta(mu, middle) > delta else (low, middle)
    return high


def choice_for(pair: ShuffledBatches, aim: Aim, negligible: float, cells: int = _CELLS) -> Choice | None:
    """Return the choice whose total variation is that of the aim; None where none is of use."""
    odds = _log_odds(pair, aim)
    if odds is None:
        return None
    labels, like, unlike = odds
    s, *clone_odds = (Fraction(math.exp(x)).limit_denominator(10**9) for x in (labels, like, unlike))
    alike = Fraction(1, 2) if pair.direction is Direction.REPLACE else Fraction(aim.alike)
    shares = alike / clone_odds[0], (1 - alike) / clone_odds[1]
    choice = Choice(s, shares, (clone_odds[0], clone_odds[1]), Fraction(1), max(negligible, 1e-300))
    spacing = max(_deviation(pair, choice) / cells, 2 * labels / _MOST_CELLS)
    return replace(choice, spacing=Fraction(math.floor(math.ldexp(spacing, 40))) / (1 << 40))


def _log_odds(pair: ShuffledBatches, aim: Aim) -> tuple[float, float, float] | None:
    """Return ε₀, ε₁ and ε₁'; a quarter of the total variation is for the clones of a zeroed record."""
    mu, others = math.sqrt(pair.base.squared_shift), min(pair.batches, MOST_BATCHES) - 1
    shift, zeroed = aim.shift * mu * mu, pair.direction is not Direction.REPLACE
    alike = aim.alike if zeroed else 0.0

    def log_variation(labels: float) -> float:
        share = (1 - alike) * math.exp(-max(labels + shift, 1e-9))
        first, second = (gaussian_delta(mu, max(x, 1e-9)) for x in (labels, labels + shift))
        return math.log(max(first * (1 + others * share) + others * share * second, 1e-300))

    labels = _least_below(log_variation, aim.variation + (math.log(_NEARER) if alike else 0.0))
    if labels is None:
        return None
    clones = max(labels + shift, 1e-9)
    if not alike:
        return labels, clones, clones
    first = gaussian_delta(mu, labels)
    like = _least_below(
        lambda x: math.log(others * alike * math.exp(-x) * (first + gaussian_delta(2 * mu, x)) + 1e-300),
        aim.variation + math.log(1 - _NEARER),
    )
    return None if like is None else (labels, like, clones)


def _least_below(function: Callable[[float], float], most: float) -> float | None:
    """Return the smallest loss at which a falling function is at most ``most``; None if there is none."""
    low, high = 1e-9, _LARGEST_LOSS
    if function(high) > most:
        return None
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if function(middle) > most else (low, middle)
    return high


def _deviation(pair: ShuffledBatches, choice: Choice) -> float:
    """Estimate the standard deviation of one epoch's loss."""
    labels, coin = math.log(choice.odds), 1 / (1 + float(choice.coin_odds))
    number = 1 + (min(pair.batches, MOST_BATCHES) - 1) * float(choice.share)
    effect = math.tanh(labels / 2) / math.sqrt(coin * (1 - coin))
    return max(min(effect / math.sqrt(number), labels), 1e-6)


@dataclass(frozen=True, slots=True)
class _Law:
    """P-masses at multiples of the spacing, from ``first`` times it on; ``count`` times."""

    first: int
    masses: Floats
    count: int

    def trimmed(self, negligible: float) -> _Law:
        """Return the distribution without negligible masses on either side."""
        low = int(np.searchsorted(np.cumsum(self.masses), negligible))
        high = len(self.masses) - int(np.searchsorted(np.cumsum(self.masses[::-1]), negligible))
        return _Law(self.first + low, self.masses[low : max(high, low + 1)], self.count)

    def tilted(self, rate: float) -> tuple[Floats, float]:
        """Return masses times e^(rate · index), scaled to 1, and the logarithm of the scale."""
        logs = np.log(np.maximum(self.masses, 1e-300)) + rate * (np.arange(len(self.masses)) + self.first)
        top = float(logs.max())
        masses = np.exp(logs - top)
        total = float(masses.sum())
        return masses / total, top + math.log(total)


def estimated(parts: Parts, aim: Aim, gaussian: float, delta: float) -> Estimate | None:
    """Return all epochs composed with full-batch releases of squared shift ``gaussian``; None if out of reach."""
    checkpoint()
    chosen = []
    for pair, count in parts:
        choice = choice_for(pair, aim, delta * _NEGLIGIBLE, _ROUGH_CELLS)
        if choice is None:
            return None
        chosen.append((pair, count, choice))
    spacing = max(float(choice.spacing) for _, _, choice in chosen)
    negligible = delta * _NEGLIGIBLE / sum(count for _, count in parts)
    laws = [_epoch(pair, count, choice, spacing).trimmed(negligible) for pair, count, choice in chosen]
    if gaussian:
        laws.append(_gaussian(gaussian, spacing, delta))
    tilt = _tilt(laws, spacing, delta)
    length = 1 + sum(law.count * (len(law.masses) - 1) for law in laws)
    if length > _LONGEST:
        return None
    size = 1 << length.bit_length()
    spectrum, log_scale = np.ones(size // 2 + 1, dtype=np.complex128), 0.0
    for law in laws:
        masses, scale = law.tilted(tilt * spacing)
        spectrum *= np.fft.rfft(masses, size) ** law.count
        log_scale += law.count * scale
    composed = np.maximum(np.fft.irfft(spectrum, size)[:length], 1e-17)
    first = sum(law.count * law.first for law in laws)
    losses: Floats = np.asarray((np.arange(length) + first) * spacing, dtype=np.float64)
    variation = sum(count * _total_variation(pair, choice) for pair, count, choice in chosen)
    log_masses = np.minimum(np.log(composed) + log_scale - tilt * losses, 0.0)
    return Estimate(losses, log_masses, variation)


def _total_variation(pair: ShuffledBatches, choice: Choice) -> float:
    mu, others = math.sqrt(pair.base.squared_shift), min(pair.batches, MOST_BATCHES) - 1
    first = gaussian_delta(mu, math.log(choice.odds))
    return first + others * sum(
        float(share) * (first + gaussian_delta(math.sqrt(base.squared_shift), math.log(odds)))
        for base, share, odds in zip(clone_bases(pair), choice.shares, choice.clone_odds, strict=True)
        if share
    )


def _tilt(laws: Sequence[_Law], spacing: float, delta: float) -> float:
    """Return the tilt under which floats resolve δ."""
    variance = 0.0
    for law in laws:
        places = np.arange(len(law.masses)) * spacing
        mean = float((law.masses * places).sum() / law.masses.sum())
        variance += law.count * float((law.masses * (places - mean) ** 2).sum() / law.masses.sum())
    return max(0.0, math.sqrt(-2 * math.log(delta) / max(variance, 1e-12)) - 1) if delta < _SEEN_UNTILTED else 0.0


def _gaussian(squared_shift: float, spacing: float, delta: float) -> _Law:
    reach = math.sqrt(squared_shift) * (math.sqrt(-2 * math.log(delta)) + 5)
    first, last = (math.floor((squared_shift / 2 + sign * reach) / spacing) for sign in (-1, 1))
    places = np.arange(first, last + 1) * spacing
    masses = np.exp(-((places - squared_shift / 2) ** 2) / (2 * squared_shift))
    return _Law(first, masses / masses.sum(), 1)


def _epoch(pair: ShuffledBatches, count: int, choice: Choice, spacing: float) -> _Law:
    """Return the distribution of ``counts.py``, rounded to nearest."""
    log_odds, others = math.log(choice.odds), min(pair.batches, MOST_BATCHES) - 1
    share = float(choice.share)
    half = math.ceil(log_odds / spacing) + 2
    masses = np.zeros(2 * half + 1)
    mean = others * share
    reach = 7 * math.sqrt(mean * (1 - share)) + 12
    clones = np.arange(max(0, int(mean - reach)), min(others, int(mean + reach)) + 1)
    chances = np.exp(_log_binomial(others, clones, share))
    step = max(1, int(mean / FINENESS * 4))
    for i in range(0, len(clones), step):
        p, r = _labels(int(clones[i]) + 1, choice, pair.direction)
        place = np.log(p / r) / spacing
        below = np.floor(place).astype(int)
        up = place - below
        weight = float(chances[i : i + step].sum()) * float(1 - pair.rest)
        np.add.at(masses, below + half, weight * p * (1 - up))
        np.add.at(masses, below + half + 1, weight * p * up)
    if pair.rest > 0:
        near = _gaussian(float(pair.base.squared_shift), spacing, 1e-9)
        first, last = min(-half, near.first), max(half, near.first + len(near.masses) - 1)
        both = np.zeros(last - first + 1)
        both[-half - first : half + 1 - first] = masses
        both[near.first - first : near.first - first + len(near.masses)] += float(pair.rest) * near.masses
        return _Law(first, both, count)
    return _Law(-half, masses, count)


def _labels(labels: int, choice: Choice, direction: Direction) -> tuple[Floats, Floats]:
    """Return P- and Q-mass of the numbers of labels of the first kind."""
    s, o = float(choice.odds), float(choice.coin_odds)
    chance = 1 / (1 + o)
    reach = 8 * math.sqrt(labels * chance * (1 - chance)) + 12
    k = np.arange(max(0, int(labels * chance - reach)), min(labels, int(labels * chance + reach)) + 1)
    base = np.exp(_log_binomial(labels, k, chance)) * (1 + o) / (labels * (1 + s) * o)
    p, q = base * (s * o * k + labels - k), base * (o * k + s * (labels - k))
    return (q, p) if direction is Direction.ADD else (p, q)


def _log_binomial(trials: int, hits: NDArray[np.int_], chance: float) -> Floats:
    if chance >= 1:
        return np.where(hits == trials, 0.0, -np.inf)
    ways = gammaln(trials + 1) - gammaln(hits + 1) - gammaln(trials - hits + 1)
    found: Floats = ways + hits * math.log(chance) + (trials - hits) * math.log1p(-chance)
    return found
