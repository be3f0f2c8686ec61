"""Sampled Gaussian releases: an upper bound from closed forms, for numbers that no other route can plan in doubles.

With high probability, the record is drawn in at most a chosen number of steps; the proof is in ``drawn_steps.md``.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from flint import arb

from dpbounds.expressions.enclosure import ball_end
from dpbounds.expressions.time_limit import checkpoint
from dpbounds.expressions.working import working
from dpbounds.privacy.pairs.gaussian_profiles import upper_bound_of_epsilon
from dpbounds.privacy.pairs.losses import ball
from dpbounds.privacy.pairs.pairs import Direction, GaussianProduct, Pair, Product, SampledGaussians, ShiftedGaussians
from dpbounds.privacy.routes.closed_forms import (
    closed_form_delta,
    closed_form_epsilon,
    losses_stay_below,
    squared_shift_of,
)

METHOD = "drawn steps"

_PRECISION = 192
_DEVIATIONS = (2, 5, 10, 40, 160)  # above the mean: how many draws are counted with

# Where the other routes can plan in doubles.
_TARGETS = Fraction(1, 10**1000), Fraction(10**9)
_NEXT_TO_ONE = Fraction(1, 10**12)
_MOST_STEPS = 10**12
_RAREST = Fraction(1, 10**12)
_VARIANCES = Fraction(1, 2500), Fraction(10**24)


def delta_at_most(product: GaussianProduct, epsilon: Fraction) -> Fraction:
    """Return an upper bound on δ(ε), ε >= 0."""
    if losses_stay_below(product, epsilon):
        return Fraction(0)
    return min(Fraction(1), *(missed + _shifted(shift, epsilon) for missed, shift in _draws(product)))


def epsilon_at_most(product: GaussianProduct, delta: Fraction) -> Fraction:
    """Return an upper bound on ε(δ), δ in (0, 1).

    Raises:
        NotCertified: The numbers are too large to be written down.
    """
    found = []
    for missed, shift in _draws(product):
        checkpoint()
        if missed <= delta and shift == 0:
            return Fraction(0)
        if missed < delta:
            found.append(closed_form_epsilon(ShiftedGaussians(shift), delta - missed)[1])
            with working(_PRECISION):  # far below 1 the search above ends early
                found.append(ball_end(upper_bound_of_epsilon(shift, delta - missed), "up"))
    return min(found)  # nothing is missed where every step draws


def _shifted(squared_shift: Fraction, epsilon: Fraction) -> Fraction:
    if squared_shift == 0:
        return Fraction(0)
    return ball_end(closed_form_delta(ShiftedGaussians(squared_shift), epsilon)[0], "up")


def _draws(product: GaussianProduct) -> Iterator[tuple[Fraction, Fraction]]:
    """Yield the largest number of draws of each pair, up to a small probability; and their squared shift."""
    sampled = [(pair, count) for pair, count in product if isinstance(pair, SampledGaussians)]
    fixed, bits = squared_shift_of(product), _PRECISION + 2 * sum(count for _, count in sampled).bit_length()

    def shift(draws: list[int]) -> Fraction:
        each = zip(sampled, draws, strict=True)
        return fixed + sum(
            (k * (4 if pair.direction is Direction.REPLACE else 1) / pair.variance for (pair, _), k in each),
            Fraction(0),
        )

    yield Fraction(0), shift([count for _, count in sampled])
    if not sampled:
        return
    with working(bits):
        never = sum((count * (-ball(pair.sample_rate)).log1p() for pair, count in sampled), arb(0))
        none = ball_end(-never.expm1(), "up") if never.is_finite() else Fraction(1)
    yield none, fixed
    for deviations in _DEVIATIONS:
        with working(bits):
            draws = []
            for pair, count in sampled:
                mean = count * pair.sample_rate
                root = ball_end(ball(mean).sqrt(), "up")
                draws.append(min(count, int(mean + deviations * (root + deviations)) + 1))
            terms = (_more_than(k, count, pair.sample_rate) for (pair, count), k in zip(sampled, draws, strict=True))
            missed = ball_end(sum(terms, arb(0)), "up")
        yield missed, shift(draws)


def _more_than(draws: int, count: int, rate: Fraction) -> arb:
    """Return Chernoff's bound on the probability of more than ``draws`` draws."""
    if draws >= count:
        return arb(0)
    least = draws + 1
    if Fraction(least, count) <= rate:
        return arb(1)
    share, q = Fraction(least, count), ball(rate)
    divergence = least * (ball(share).log() - q.log())
    if least < count:
        divergence = divergence + (count - least) * (ball(1 - share).log() - (-q).log1p())
    return (-divergence).exp()


def plannable(product: Product, target: Fraction) -> bool:
    """Whether a product and a target (δ or ε) lie where the other routes' choices, made in doubles, mean something."""
    if not (target == 0 or _TARGETS[0] <= target <= _TARGETS[1]) or 1 - _NEXT_TO_ONE < target < 1:
        return False
    return all(count <= _MOST_STEPS and _moderate(pair) for pair, count in product)


def _moderate(pair: Pair) -> bool:
    match pair:
        case ShiftedGaussians(squared_shift=squared_shift):
            return 1 / _VARIANCES[1] <= squared_shift <= 1 / _VARIANCES[0]
        case SampledGaussians(sample_rate=rate, variance=variance):
            return rate >= _RAREST and _VARIANCES[0] <= variance <= _VARIANCES[1]
    return True


def negligible(product: GaussianProduct, epsilon: Fraction) -> bool:
    """Whether even without sampling δ(ε) is below 10^-1000: ε >= μ²/2 + sqrt(2 log 10^1000) μ, sqrt(...) < 68."""
    _, whole = next(_draws(product))
    beyond = epsilon - whole / 2
    return beyond > 0 and beyond * beyond > 68**2 * whole
