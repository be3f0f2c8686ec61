"""What is claimed for every cell: a profile h(α), α >= 0, that no attack on the cell exceeds. A second transcription.

A *cell* is a mechanism, a way of drawing records and an order of neighbours (and the number of records of the larger
dataset, where the way of drawing needs it):

    Cell(Gaussian(1.0), Poisson(0.5), Order.REPLACE)
    Cell(Laplace(3.0), WithoutReplacement(2), Order.REMOVE, size=5)
    Cell(Box(remove=Pure(1.0), replace=Pure(0.5)), Poisson(0.1), Order.ADD)

``profile(cell, alphas)`` is its claimed profile, in floating point: closed forms, accurate to about 1e-13 unless the
function says otherwise. A cell for which nothing is claimed raises ``Refused``.

Noise is in units of the per-record bound: a record's vector has norm at most 1 (Euclidean for Gaussian and ball, l1 for
Laplace), so that a sum moves by at most 1 when a record joins, by at most 2 when it is replaced, and by at most 2k when
k are. Everything that depends on α only through a base mechanism's profile is written once, as a map of profiles:

| map | from | to |
| --- | --- | --- |
| ``reversed_order`` | h of (P, Q) | 1 - α + α h(1/α), of (Q, P) |
| ``split`` | h of (ω1, ω0) | that of ((1-q)ω0 + qω1, ω0) |
| ``diluted`` | h of (ω1, ω1') | that of both with chance q, where it is published whether they were met |
| ``symmetrised`` | a bound for α >= 1 of a symmetric relation | the bound for all α |
| ``chain`` | h of (P, Q), h of (Q, R) | a bound for (P, R) |
| ``envelope`` | any bound | the largest convex one below it, itself a profile |

Losses: ``atoms`` gives the law of the loss on a ``games.Grid``, so that ``games.game`` composes profiles.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from scipy import special, stats

from tests.privacy.oracle.games import Grid, game
from tests.privacy.oracle.noise import Array, Table, divergence
from tests.privacy.oracle.samplings import (
    Full,
    OneRandom,
    Order,
    Poisson,
    Sampling,
    Truncated,
    WithoutReplacement,
    WithReplacement,
)

Profile = Callable[[Array], Array]  # α -> h(α), for α >= 0


class Refused(ValueError):
    """Nothing is proven, hence nothing claimed, for this cell."""


# --- Maps of profiles ------------------------------------------------------------------------------------------------


def reversed_order(h: Profile) -> Profile:
    """The same pair, the other way round."""

    def reversal(alphas: Array) -> Array:
        positive = alphas > 0
        safe = np.where(positive, alphas, 1.0)
        return np.where(positive, 1 - safe + safe * h(1 / safe), 1.0)

    return reversal


def split(rate: float, h: Profile) -> Profile:
    """((1-q)ω0 + qω1, ω0), where h is the profile of (ω1, ω0)."""

    def after(alphas: Array) -> Array:
        excess = alphas - (1 - rate)
        return np.where(excess > 0, rate * h(np.maximum(excess, 0) / rate), 1 - alphas)

    return after


def diluted(rate: float, h: Profile) -> Profile:
    """(ω1, ω1') with chance q, else twice the same; which of the two is published."""
    return lambda alphas: (1 - rate) * np.maximum(1 - alphas, 0) + rate * h(alphas)


def symmetrised(bound: Profile) -> Profile:
    """A bound for α >= 1 under a relation that is its own reverse, and what it implies for α < 1."""
    below = reversed_order(bound)

    def both(alphas: Array) -> Array:
        return np.where(alphas >= 1, bound(np.maximum(alphas, 1)), below(np.minimum(alphas, 1)))

    return both


def chain(first: Profile, second: Profile) -> Profile:
    """min over α1 α2 = α of first(α1) + α1 second(α2), as good as a search on nested grids of log α1 finds it."""

    def linked(alphas: Array) -> Array:
        safe = np.maximum(alphas, 1e-300)
        best = np.minimum(first(alphas) + alphas, 1.0)  # α2 = 1, and the trivial bound
        centre, reach = np.log(safe) / 2, np.abs(np.log(safe)) / 2 + 12
        rows = np.arange(len(safe))
        for points in (121, 21, 21, 21):
            exponents = centre[:, None] + reach[:, None] * np.linspace(-1, 1, points)
            one = np.exp(np.clip(exponents, -700, 700))
            rest = np.exp(np.clip(np.log(safe)[:, None] - exponents, -700, 700))
            values = first(one.ravel()).reshape(one.shape) + one * second(rest.ravel()).reshape(one.shape)
            found = values.argmin(axis=1)
            best = np.minimum(best, values[rows, found])
            centre, reach = exponents[rows, found], reach * 3 / points
        return np.where(alphas > 0, best, 1.0)

    return linked


def grouped(h: Profile, size: int) -> Profile:
    """h for ``size`` successive neighbours of the same kind."""
    return h if size == 1 else chain(h, grouped(h, size - 1))


def envelope(bound: Profile) -> Profile:
    """The largest convex function below a bound with bound(0) = 1: the hull of its graph on a fine grid of log α.

    A convex h below the bound is below the hull at every grid point, hence below its chords. The grid holds the
    arguments asked for, so that the hull is the bound itself there, unless a chord spans them.
    """

    def hull(alphas: Array) -> Array:
        around = np.exp(np.linspace(-16, 16, 1601))
        near = np.abs(around[:, None] - alphas).min(axis=1) < 1e-6 * around  # rounding would decide about slopes
        grid = np.union1d(np.concatenate(([0.0], around[~near])), alphas)
        values = np.minimum(bound(grid), 1.0)
        kept: list[int] = []
        for index in range(len(grid)):
            while len(kept) > 1 and (values[index] - values[kept[-2]]) * (grid[kept[-1]] - grid[kept[-2]]) <= (
                values[kept[-1]] - values[kept[-2]]
            ) * (grid[index] - grid[kept[-2]]):
                kept.pop()
            kept.append(index)
        return np.interp(alphas, grid[kept], values[kept])

    return hull


# --- Guarantees of black boxes ---------------------------------------------------------------------------------------


class Guarantee(ABC):
    """What is known about a box and its neighbours, in one relation."""

    @abstractmethod
    def profile(self) -> Profile:
        """For the ordered pair (with, without) where the relation is that a record joins."""

    @abstractmethod
    def group(self, size: int) -> Profile:
        """For ``size`` successive neighbours."""

    def there_and_back(self, copies: int) -> Profile:
        """For records that leave and as many others that join."""
        return self.group(2 * copies)


@dataclass(frozen=True)
class Approximate(Guarantee):
    """(ε, δ)-differential privacy, in both orders."""

    epsilon: float
    delta: float

    def profile(self) -> Profile:
        epsilon, delta = self.epsilon, self.delta
        high, low = math.exp(epsilon), math.exp(-epsilon)

        def four_points(alphas: Array) -> Array:
            middle = delta + (1 - delta) * (high - alphas) / (1 + high)
            return np.where(alphas >= high, delta, np.where(alphas <= low, 1 - alphas + delta * alphas, middle))

        return four_points

    def pair(self) -> Table:
        """Four outcomes with this profile."""
        e, d = math.exp(self.epsilon), self.delta
        first = np.array([d, (1 - d) * e / (1 + e), (1 - d) / (1 + e), 0.0])
        return first, first[::-1].copy()

    def group(self, size: int) -> Profile:
        growth = sum(math.exp(link * self.epsilon) for link in range(size))  # (e^{kε} - 1) / (e^ε - 1)
        return Approximate(size * self.epsilon, min(self.delta * growth, 1.0)).profile()


@dataclass(frozen=True)
class Pure(Approximate):
    """ε-differential privacy: randomised response."""

    delta: float = 0.0

    def there_and_back(self, copies: int) -> Profile:
        if copies > 1:
            return self.group(2 * copies)
        return symmetrised(
            lambda alphas: np.maximum(1 - alphas * math.exp(-2 * self.epsilon), 0) / (1 + math.exp(-self.epsilon))
        )


@dataclass(frozen=True)
class BoundedRange(Guarantee):
    """log P/Q ranges over an interval of length η: the envelope over its position."""

    eta: float

    def profile(self) -> Profile:
        eta = self.eta

        def envelope_of_positions(alphas: Array) -> Array:
            epsilon = np.log(np.clip(alphas, math.exp(-eta), math.exp(eta)))
            inside = np.expm1((epsilon - eta) / 2) ** 2 / -math.expm1(-eta)
            return np.where(np.log(np.maximum(alphas, 1e-300)) <= -eta, 1 - alphas, inside)

        return envelope_of_positions

    def group(self, size: int) -> Profile:
        return BoundedRange(size * self.eta).profile()


@dataclass(frozen=True)
class Concentrated(Guarantee):
    """ρ-zCDP in both orders: D_λ <= λρ for every λ > 1. Per step; the envelope of a symmetrised bound."""

    rho: float

    def profile(self) -> Profile:
        return envelope(symmetrised(self.markov))

    def markov(self, alphas: Array) -> Array:
        """inf over λ > 1 of e^{(λ-1)(λρ - ε)} λ^{-1} (1 - 1/λ)^{λ-1}, by a search on nested grids of log(λ-1)."""
        epsilon = np.log(alphas)

        def logarithm(excess: Array) -> Array:  # excess = λ - 1, shape (α, grid)
            order = excess + 1
            return np.asarray(
                excess * (order * self.rho - epsilon[:, None]) - np.log(order) + excess * np.log(excess / order)
            )

        centre, reach = np.zeros(len(epsilon)), 14.0
        best = np.zeros(len(epsilon))
        for _ in range(5):
            exponents = centre[:, None] + reach * np.linspace(-1, 1, 81)
            values = logarithm(np.exp(exponents))
            found = values.argmin(axis=1)
            rows = np.arange(len(epsilon))
            best = np.minimum(best, values[rows, found])
            centre, reach = exponents[rows, found], reach / 20
        return np.asarray(np.exp(best))

    def group(self, size: int) -> Profile:
        return Concentrated(size**2 * self.rho).profile()


@dataclass(frozen=True)
class Tabulated(Guarantee):
    """The profile itself, as the largest of finitely many pairs'; (with, without) where a record joins."""

    tables: tuple[Table, ...]

    def profile(self) -> Profile:
        def largest(alphas: Array) -> Array:
            return np.asarray(np.max([divergence(table, alphas) for table in self.tables], axis=0))

        return largest

    def group(self, size: int) -> Profile:
        return grouped(self.profile(), size)

    def there_and_back(self, copies: int) -> Profile:
        return grouped(chain(self.profile(), reversed_order(self.profile())), copies)


# --- Base mechanisms -------------------------------------------------------------------------------------------------


class Base(Protocol):
    """A mechanism before records are drawn."""

    def joins(self) -> Profile:
        """Profile of (with a record, without it)."""
        ...

    def swaps(self, copies: int = 1) -> Profile:
        """Profile for ``copies`` records replaced by others."""
        ...

    def zeroes(self, copies: int = 1) -> Profile:
        """Profile of (with ``copies`` records, with as many that contribute nothing in their places)."""
        ...


class _Added(ABC):
    """Noise on a sum, which moves by a distance."""

    @abstractmethod
    def shifted(self, distance: float) -> Profile: ...

    def joins(self) -> Profile:
        return self.shifted(1.0)

    def swaps(self, copies: int = 1) -> Profile:
        return self.shifted(2.0 * copies)

    def zeroes(self, copies: int = 1) -> Profile:
        return self.shifted(float(copies))


@dataclass(frozen=True)
class Gaussian(_Added):
    """Sum of vectors + N(0, z² I), any dimension."""

    noise_multiplier: float

    def shifted(self, distance: float) -> Profile:
        mu = distance / self.noise_multiplier

        def closed_form(alphas: Array) -> Array:
            epsilon = np.log(np.maximum(alphas, 1e-300))
            return np.asarray(special.ndtr(mu / 2 - epsilon / mu) - alphas * special.ndtr(-mu / 2 - epsilon / mu))

        return closed_form


@dataclass(frozen=True)
class Laplace(_Added):
    """Sum of vectors + independent Laplace noise in every coordinate; l1 norms."""

    scale: float
    dimension: int = 1

    def shifted(self, distance: float) -> Profile:
        largest = distance / self.scale

        def closed_form(alphas: Array) -> Array:
            epsilon = np.log(np.clip(alphas, math.exp(-largest), math.exp(largest)))
            inside = -np.expm1((epsilon - largest) / 2)
            return np.where(alphas < math.exp(-largest), 1 - alphas, inside)

        return closed_form


@dataclass(frozen=True)
class Ball(_Added):
    """Sum of vectors + a uniform point of the Euclidean ball of this radius."""

    radius: float
    dimension: int

    def distance(self, shift: float) -> float:
        """τ: the total variation between two balls."""
        ratio = min(shift / (2 * self.radius), 1.0)
        return float(special.betainc(0.5, (self.dimension + 1) / 2, ratio**2))

    def shifted(self, distance: float) -> Profile:
        tau = self.distance(distance)
        return lambda alphas: tau + (1 - tau) * np.maximum(1 - alphas, 0)


@dataclass(frozen=True)
class Box:
    """A black box: what is known when a record joins the batch, is replaced, or is zeroed in its place."""

    remove: Guarantee | None = None
    replace: Guarantee | None = None
    zero: Guarantee | None = None

    def joins(self) -> Profile:
        if self.remove is None:
            raise Refused("a replace-one guarantee says nothing about a record that joins: the size may be published")
        return self.remove.profile()

    def swaps(self, copies: int = 1) -> Profile:
        if self.replace is not None:
            return self.replace.group(copies)
        if self.remove is not None:
            return self.remove.there_and_back(copies)
        if self.zero is None:
            raise Refused("no guarantee at all")
        return self.zero.there_and_back(copies)

    def zeroes(self, copies: int = 1) -> Profile:
        if self.zero is None:
            raise Refused("nothing is said of a record that contributes nothing")
        return self.zero.group(copies)


def exponential_mechanism(epsilon: float, *, declared: Order, one_signed: bool = False) -> Box:
    """Weights e^{ε u / 2Δ}, where Δ is the sensitivity under the ``declared`` relation (REMOVE or REPLACE).

    ``one_signed``: a record can only raise utilities, or only lower them. That halves the range when a record joins;
    when one is replaced it does not.
    """
    if declared is Order.REPLACE:
        return Box(replace=BoundedRange(epsilon))
    if declared is Order.ZERO:
        return Box(zero=BoundedRange(epsilon / 2 if one_signed else epsilon))
    return Box(remove=BoundedRange(epsilon / 2 if one_signed else epsilon))


def above_threshold_mechanism(
    threshold_scale: float, query_scale: float, *, declared: Order, one_signed: bool = False
) -> Box:
    """Halts at the first "above". Answers of sensitivity 1 under the ``declared`` relation (REMOVE or REPLACE).

    ``one_signed``: a record can only raise all the answers, or only lower them; worth something only when it joins.
    """
    largest = 1 / threshold_scale + 2 / query_scale
    if declared is Order.REPLACE:
        return Box(replace=Pure(largest))
    if declared is Order.ZERO:
        return Box(zero=Pure(1 / threshold_scale + 1 / query_scale if one_signed else largest))
    return Box(remove=Pure(1 / threshold_scale + 1 / query_scale if one_signed else largest))


# --- Cells -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cell:
    """One cell of the table; ``size`` is the number of records of the larger dataset (fixed-size drawing only)."""

    base: Base
    sampling: Sampling
    order: Order
    size: int | None = None

    def known_size(self, least: int) -> int:
        if self.size is None or self.size < least:
            raise Refused(f"{self.sampling} needs a public number of records, at least {least} in the larger dataset")
        return self.size


def profile(cell: Cell, alphas: Array) -> Array:
    """The claimed h(α) of one step, for every α >= 0."""
    return profile_of(cell)(np.asarray(alphas, dtype=np.float64))


def profile_of(cell: Cell) -> Profile:
    if cell.order is Order.ADD:
        return reversed_order(profile_of(Cell(cell.base, cell.sampling, Order.REMOVE, cell.size)))
    if cell.order is Order.RESTORE:
        return reversed_order(profile_of(Cell(cell.base, cell.sampling, Order.ZERO, cell.size)))
    if cell.order is Order.ZERO:
        return _zeroed(cell)
    replace = cell.order is Order.REPLACE
    match cell.sampling:
        case Full():
            return cell.base.swaps() if replace else cell.base.joins()
        case Poisson(rate):
            return _poisson_replace(cell.base, rate) if replace else split(rate, cell.base.joins())
        case WithoutReplacement(batch):
            return _without_replacement(cell, batch)
        case OneRandom():
            return _without_replacement(cell, 1)
        case Truncated():
            return _truncated(cell)
        case WithReplacement(batch):
            return _with_replacement(cell, batch)
        case _:
            raise Refused(f"nothing is proven for {cell.sampling}")


def _poisson_replace(base: Base, rate: float) -> Profile:
    if rate == 1:
        return base.swaps()
    match base:
        case Gaussian(z):
            up, down = _mixture([(1 - rate, 0.0), (rate, 1.0)], z), _mixture([(1 - rate, 0.0), (rate, -1.0)], z)
            return _upper_tails(up, down, -40 * z - 2, 40 * z + 2)
        case Laplace(scale, 1):
            return _laplace_replace(scale, rate)
        case Ball():
            return _ball_replace(base, rate)
        case Box(remove=None):
            return diluted(rate, base.swaps())
        case _:
            return _joint_convexity(base, rate)


def _joint_convexity(base: Base, rate: float) -> Profile:
    """Needs to know both what happens when a record joins the batch and when one is replaced."""
    joins, swaps = base.joins(), base.swaps()

    def bound(alphas: Array) -> Array:
        inner = 1 + (alphas - 1) / rate
        weight = alphas / inner
        return rate * ((1 - weight) * joins(inner) + weight * swaps(inner))

    return envelope(symmetrised(bound))


def _ball_replace(base: Ball, rate: float) -> Profile:
    one, two = base.distance(1.0), base.distance(2.0)
    return symmetrised(lambda alphas: rate * one + (two - one) * np.maximum(1 - alphas * (1 - rate), 0))


def _laplace_replace(scale: float, rate: float) -> Profile:
    """Beyond ±1 the ratio of the two densities is constant, in between it increases."""

    def tail(sign: float) -> Profile:
        def probability(x: Array) -> Array:
            return (1 - rate) * _laplace_tail(x / scale) + rate * _laplace_tail((x - sign) / scale)

        return probability

    def log_density(x: Array, sign: float) -> Array:
        return np.logaddexp(math.log1p(-rate) - np.abs(x) / scale, math.log(rate) - np.abs(x - sign) / scale)

    def log_ratio(x: Array) -> Array:
        return log_density(x, 1.0) - log_density(x, -1.0)

    lowest, highest = log_ratio(np.array([-1.0, 1.0]))

    def threshold_test(alphas: Array) -> Array:
        epsilon = np.log(np.maximum(alphas, 1e-300))
        x = _root(log_ratio, epsilon, -1.0, 1.0)
        inside = tail(1.0)(x) - alphas * tail(-1.0)(x)
        return np.where(epsilon <= lowest, 1 - alphas, np.where(epsilon >= highest, 0.0, inside))

    return threshold_test


def _laplace_tail(x: Array) -> Array:
    """P(Lap(0, 1) > x)."""
    half = np.exp(-np.abs(x)) / 2
    return np.where(x > 0, half, 1 - half)


def _without_replacement(cell: Cell, batch: int) -> Profile:
    if cell.order is Order.REPLACE:
        rate = batch / cell.known_size(batch)
        swaps = cell.base.swaps()
        return symmetrised(lambda alphas: rate * swaps(1 + (alphas - 1) / rate))
    # A batch without the record is one of the smaller dataset, which must hold a batch.
    return split(batch / cell.known_size(batch + 1), cell.base.swaps())


def _truncated(cell: Cell) -> Profile:
    """As if it were published whether the other records alone fill the batch."""
    sampling = cell.sampling
    assert isinstance(sampling, Truncated)
    if not isinstance(cell.base, _Added):
        raise Refused("nothing is proven but for noise on sums")
    size, rate, most = cell.known_size(1), sampling.rate, sampling.most
    others = stats.binom(size - 1, rate).pmf(np.arange(size))
    full = math.fsum(others[most:])
    kept = math.fsum(chance * rate * most / (k + 1) for k, chance in enumerate(others) if k >= most)
    uncut = profile_of(replace(cell, sampling=Poisson(rate)))
    if full == 0:
        return uncut
    share, base = kept / full, cell.base
    if cell.order is Order.ZERO:
        displacing = _zeroed_in_batches(base, {1: share})
    elif cell.order is Order.REPLACE:
        displacing = symmetrised(lambda alphas: share * base.swaps()(1 + (alphas - 1) / share))
    else:
        displacing = split(share, base.swaps())
    return lambda alphas: (1 - full) * uncut(alphas) + full * displacing(alphas)


def _with_replacement(cell: Cell, batch: int) -> Profile:
    least = 1 if cell.order is Order.REPLACE else 2
    slot = 1 / cell.known_size(least)
    times = stats.binom(batch, slot).pmf(np.arange(batch + 1))
    if cell.order is Order.REMOVE and isinstance(cell.base, Gaussian):
        z = cell.base.noise_multiplier
        moved = _mixture([(float(times[k]), 2.0 * k) for k in range(batch + 1)], z)
        return _upper_tails(moved, _mixture([(1.0, 0.0)], z), -40 * z - 2, 40 * z + 2.0 * batch + 2)
    if cell.order is Order.REPLACE and isinstance(cell.base, Gaussian) and slot < 1 and batch > 1:
        return symmetrised(_three_gaussians(times, 2 / cell.base.noise_multiplier))
    groups = [cell.base.swaps(k) for k in range(1, batch + 1)]
    drawn = 1 - (1 - slot) ** batch

    def tagged(alphas: Array) -> Array:
        """As if it were published how often the record was drawn."""
        inner = 1 + (alphas - 1) / drawn
        return np.asarray(
            sum(weight * h(np.maximum(inner, 0)) for weight, h in zip(times[1:].tolist(), groups, strict=True))
        )

    if cell.order is Order.REPLACE:
        return symmetrised(tagged)
    return lambda alphas: np.where(alphas > 1 - drawn, tagged(alphas), 1 - alphas)


def _three_gaussians(times: Array, shift: float) -> Profile:
    """Without the record an event is as likely as N(0, 1) > t: the most that each number of draws adds to that."""

    def added(t: Array, alphas: Array) -> Array:
        total = -(alphas - 1) * times[0] * stats.norm.sf(t)
        for k in range(1, len(times)):
            far = k * shift
            # F̄(y) - α F̄(y + far) rises until the densities' ratio is α, and falls from there on
            y = np.clip(np.log(alphas) / far - far / 2, t - far, t)
            total = total + times[k] * (stats.norm.sf(y) - alphas * stats.norm.sf(y + far))
        return np.asarray(total)

    def largest(alphas: Array) -> Array:
        shape, alphas = alphas.shape, np.ravel(alphas)
        places = np.linspace(-10, 10 + shift * (len(times) - 1), 3001)
        best = added(places[:, None], alphas[None, :]).argmax(axis=0)
        low, high = places[np.maximum(best - 1, 0)], places[np.minimum(best + 1, len(places) - 1)]
        for _ in range(60):
            left, right = low + (high - low) / 3, high - (high - low) / 3
            rising = added(left, alphas) < added(right, alphas)
            low, high = np.where(rising, left, low), np.where(rising, high, right)
        return added((low + high) / 2, alphas).reshape(shape)

    return largest


# --- A record that is zeroed, in its place ----------------------------------------------------------------------------


def _zeroed(cell: Cell) -> Profile:
    match cell.sampling:
        case Full():
            return cell.base.zeroes()
        case Poisson(rate):
            if not isinstance(cell.base, _Added):
                return diluted(rate, cell.base.zeroes())
            return split(rate, cell.base.zeroes())
        case Truncated():
            return _truncated(cell)
        case WithoutReplacement(batch):
            return _zeroed_in_batches(cell.base, {1: batch / cell.known_size(batch)})
        case OneRandom():
            return _zeroed_in_batches(cell.base, {1: 1 / cell.known_size(1)})
        case WithReplacement(batch):
            times = stats.binom(batch, 1 / cell.known_size(1)).pmf(np.arange(1, batch + 1))
            return _zeroed_in_batches(cell.base, dict(enumerate(times.tolist(), start=1)))
        case _:
            raise Refused(f"nothing is proven for {cell.sampling}")


def _zeroed_in_batches(base: Base, times: dict[int, float]) -> Profile:
    """A record in k slots with probability times[k]; batches without it hold others there.

    For each k: the largest V - αZ - κO that three laws allow of which V, Z and Z, O are neighbours.
    """
    drawn = min(sum(times.values()), 1.0)

    def with_the_record_first(alphas: Array) -> Array:
        kappas = (alphas - 1) * (1 - drawn) / drawn
        return np.asarray(sum(mass * _three_laws(base, k, alphas, kappas) for k, mass in times.items()))

    def zeroed_first(alphas: Array) -> Array:
        inner = 1 + (alphas - 1) / drawn
        return np.asarray(sum(mass * reversed_order(base.zeroes(k))(inner) for k, mass in times.items()))

    def both(alphas: Array) -> Array:
        above, below = with_the_record_first(np.maximum(alphas, 1)), reversed_order(zeroed_first)
        return np.where(alphas >= 1, above, below(np.minimum(alphas, 1)))

    return both if isinstance(base, _Added) else envelope(both)


def _three_laws(base: Base, k: int, alphas: Array, kappas: Array) -> Array:
    if isinstance(base, Ball):
        return np.full(alphas.shape, base.distance(float(k)))
    if isinstance(base, Gaussian | Laplace):  # V, Z, O = shifts by 2k, k, 0, and a half-line
        scale = base.noise_multiplier if isinstance(base, Gaussian) else base.scale
        tail = special.ndtr if isinstance(base, Gaussian) else lambda x: _laplace_tail(-x)

        def gain(at: Array) -> Array:  # shape (α, grid)
            v, z, o = (tail(-(at - shift) / scale) for shift in (2.0 * k, 1.0 * k, 0.0))
            return np.asarray(v - alphas[:, None] * z - kappas[:, None] * o)

        return _largest_value(gain, np.zeros(alphas.shape), 40.0 * scale + 4.0 * k)
    h, g = base.zeroes(k), reversed_order(base.zeroes(k))

    def bound(at: Array) -> Array:  # at = log b
        b = np.exp(at)
        first = h((alphas[:, None] + kappas[:, None] / b).ravel()).reshape(at.shape)
        return -(first + kappas[:, None] / b * g(b.ravel()).reshape(at.shape))

    # b = ∞ is h(α); what is bounded above at α is bounded so further right, up to what the search missed
    return np.minimum(h(alphas), -_largest_value(bound, np.zeros(alphas.shape), 14.0, points=57))


def _largest_value(function: Profile, centre: Array, reach: float, points: int = 401) -> Array:
    """The largest value of a function of a point per α, by a search on nested grids."""
    best = np.full(centre.shape, -np.inf)
    rows = np.arange(len(centre))
    for _ in range(6):
        at = centre[:, None] + reach * np.linspace(-1, 1, points)
        values = function(at)
        found = values.argmax(axis=1)
        best = np.maximum(best, values[rows, found])
        centre, reach, points = at[rows, found], reach * 4 / points, 41
    return best


# --- Normal mixtures whose ratio increases ---------------------------------------------------------------------------


@dataclass(frozen=True)
class _Normals:
    weights: Array
    means: Array
    stddev: float

    def log_density(self, x: Array) -> Array:
        exponents = (x[:, None] * self.means - self.means**2 / 2) / self.stddev**2  # relative to N(0)
        return np.asarray(special.logsumexp(exponents, b=self.weights, axis=1))

    def tail(self, x: Array) -> Array:
        return np.asarray(special.ndtr((self.means - x[:, None]) / self.stddev) @ self.weights)


def _mixture(components: Sequence[tuple[float, float]], stddev: float) -> _Normals:
    weights, means = zip(*components, strict=True)
    return _Normals(np.array(weights), np.array(means), stddev)


def _upper_tails(first: _Normals, second: _Normals, low: float, high: float) -> Profile:
    """The ratio increases, so that the best tests are upper tails."""

    def threshold_test(alphas: Array) -> Array:
        epsilon = np.log(np.maximum(alphas, 1e-300))
        x = _root(lambda at: first.log_density(at) - second.log_density(at), epsilon, low, high)
        return np.asarray(first.tail(x) - alphas * second.tail(x))

    return threshold_test


def _root(increasing: Profile, targets: Array, low: float, high: float) -> Array:
    """Where an increasing function takes the values; an end where it does not."""
    below, above = np.full(targets.shape, low), np.full(targets.shape, high)
    for _ in range(100):
        middle = (below + above) / 2
        left = increasing(middle) < targets
        below, above = np.where(left, middle, below), np.where(left, above, middle)
    return np.asarray((below + above) / 2)


# --- Blocks of records -----------------------------------------------------------------------------------------------


def parallel(blocks: Sequence[Box], order: Order) -> Profile:
    """Boxes on disjoint blocks of the records, the block being a function of the record.

    When a record joins, one block changes. When it is replaced, either a block holds both the old and the new one, or
    it leaves one block and joins another: the product of a remove and an add pair. Joining must be pure or approximate.
    """
    if order is Order.ADD:
        return reversed_order(parallel(blocks, Order.REMOVE))
    if order is Order.REMOVE:
        return _largest([block.joins() for block in blocks])
    moved: list[Profile] = []
    for i, left in enumerate(blocks):
        for j, entered in enumerate(blocks):
            if i != j:
                if not isinstance(left.remove, Approximate) or not isinstance(entered.remove, Approximate):
                    raise Refused("a record may move between blocks: what is known must include records that join")
                removed, added = left.remove.pair(), entered.remove.pair()
                product = np.outer(removed[0], added[1]).ravel(), np.outer(removed[1], added[0]).ravel()
                moved.append(Tabulated((product,)).profile())
    return _largest([*moved, *(block.swaps() for block in blocks)])


def _largest(profiles: Sequence[Profile]) -> Profile:
    return lambda alphas: np.asarray(np.max([h(alphas) for h in profiles], axis=0))


# --- Composition -----------------------------------------------------------------------------------------------------


def atoms(h: Profile, grid: Grid) -> Array:
    """P-masses on Q/P = e^{kΔ}, |k| <= reach, of the pair whose profile joins the values of h on the grid by chords.

    A change of slope at α is a Q-atom with P/Q = α. Left of the grid a chord goes to h(0) = 1; right of it h stays
    what it is, a P-mass at P/Q = ∞, which is put at the end of the losses as an attack's is.
    """
    alphas = grid.alphas
    values = h(alphas)
    slopes = np.concatenate(([(values[0] - 1) / alphas[0]], np.diff(values) / np.diff(alphas), [0.0]))
    masses = alphas * np.diff(slopes)
    if masses.min() < -1e-9:
        raise ValueError("not convex, hence not a profile")
    row = np.zeros(2 * grid.reach + 1)
    row[grid.reach - grid.half : grid.reach + grid.half + 1] = np.maximum(masses, 0)[::-1]
    row[0] += values[-1]
    return row


def composed(steps: Sequence[Profile], grid: Grid) -> Array:
    """On the grid: the claimed profile of several steps, each possibly chosen after the outputs of those before it.

    Chords raise a convex function by O(Δ²), as they do in ``game``: attack and claim on the same grid compare sharply.
    """
    return game([atoms(h, grid)[None, :] for h in steps], grid)
