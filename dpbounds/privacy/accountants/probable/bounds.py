"""Upper bounds on δ from draws, which hold at several ε simultaneously, with a stated probability."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
from flint import arb

from dpbounds.errors import NotCertified
from dpbounds.expressions.time_limit import checkpoint
from dpbounds.expressions.working import working
from dpbounds.privacy.accountants.probable.drawing import Bits, Floats, normal
from dpbounds.privacy.accountants.probable.mixtures import Mixture
from dpbounds.privacy.routes.closed_forms import ball

_PRECISION = 128
_BATCH = 2**20  # numbers drawn at a time
_TILTS = np.concatenate(([0.0], np.geomspace(1e-3, 1e4, 701)))


def _rounding(mixture: Mixture, epochs: int, tilt: float) -> float:
    return 2.0**-50 * epochs * (64 + mixture.operations) * (1 + tilt)


def log_largest(mixture: Mixture, epochs: int, epsilon: float, tilt: float, *, adding: bool) -> float:
    """Return log M, at least the logarithm of each weighted value."""
    if adding:
        square, offset = mixture.moments
        exponent = -tilt * (epsilon - epochs * offset) + epochs * tilt**2 * square / 2
    else:
        exponent = epochs * mixture.normaliser(tilt) - tilt * epsilon
    return exponent + (tilt * math.log(tilt) if tilt else 0.0) - (1 + tilt) * math.log1p(tilt)


def best_tilt(mixture: Mixture, epochs: int, epsilon: float, *, adding: bool) -> float:
    """Return the tilt with the smallest bound on the weights, among a few; any tilt is valid."""
    return float(min(_TILTS, key=lambda tilt: log_largest(mixture, epochs, epsilon, float(tilt), adding=adding)))


def weighted_draws(
    mixture: Mixture, epochs: int, tilt: float, count: int, bits: Bits, *, adding: bool
) -> Iterator[tuple[Floats, Floats]]:
    """Yield the logarithms of R, and of the weights of draws from the proposal, for all draws.

    Remove: the weight is dQ/dS, times R - e^ε; add: times 1 - e^ε R.
    """
    rows = max(1, _BATCH // mixture.columns)
    for begin in range(0, count, rows):
        number = min(rows, count - begin)
        ratios, weights = np.zeros(number), np.zeros(number)
        for _ in range(epochs):
            checkpoint()
            if adding:
                draws = normal(bits, number, mixture.columns) - tilt * mixture.mean_shift()
                weights += tilt * (draws @ mixture.mean_shift()) + tilt**2 * mixture.moments[0] / 2
                ratios += mixture.log_ratio(draws, 1.0)
            else:
                draws = mixture.shifted(bits, number, tilt)
                own = mixture.log_ratio(draws, 1.0)
                ratios += own
                weights += mixture.normaliser(tilt) - (mixture.log_ratio(draws, 1.0 + tilt) if tilt else own)
        yield ratios, weights


def _counted(ratios: Floats, weights: Floats, epsilon: float, largest: float, *, adding: bool) -> Floats:
    """Return V/M in [0, 1] for each draw."""
    if adding:
        logs, share = weights, -np.expm1(np.minimum(epsilon + ratios, 0.0))
    else:
        logs, share = weights + ratios, -np.expm1(np.minimum(epsilon - ratios, 0.0))
    with np.errstate(divide="ignore"):
        return np.exp(np.minimum(0.0, np.log(share) + logs - largest))


def upper_bounds(
    mixture: Mixture, epochs: int, planned: Sequence[float], risk: Fraction, count: int, bits: Bits
) -> list[Fraction]:
    """Return upper bounds on δ at each ε, which hold simultaneously except with probability ``risk``."""
    found = [Fraction(0)] * len(planned)
    for adding in (False, True):
        tilt = best_tilt(mixture, epochs, planned[0], adding=adding)
        slack = _rounding(mixture, epochs, tilt)
        if not slack < 1e-3:
            raise NotCertified("too many steps for a bound by sampling in doubles; ask for a certified epsilon")
        logs = [log_largest(mixture, epochs, at - slack, tilt, adding=adding) + slack for at in planned]
        sums = [0.0] * len(planned)
        for ratios, weights in weighted_draws(mixture, epochs, tilt, count, bits, adding=adding):
            for index, at in enumerate(planned):
                sums[index] += float(_counted(ratios, weights, at - slack, logs[index], adding=adding).sum())
        for index, total in enumerate(sums):
            mean = min(Fraction(1), Fraction(total * (1 + 4 * slack)) / count)
            share = mean_at_most(mean, count, risk / (2 * len(planned)))
            found[index] = max(found[index], min(Fraction(1), share * _up(logs[index])))
    return found


def _up(log: float) -> Fraction:
    """Return a number that is at least e^log."""
    return Fraction(math.exp(min(log, 1.0)) * (1 + 2.0**-40)) if log < 1 else Fraction(3) ** math.ceil(log)


def mean_at_most(mean: Fraction, count: int, risk: Fraction) -> Fraction:
    """Bound the expectation of numbers in [0, 1] by the mean of ``count`` draws; wrong with probability ``risk``.

    The least p with n KL(mean ‖ p) > log(1/risk), rounded up (Chernoff; Hoeffding 1963). ``probable.md``, section 2.
    """
    with working(_PRECISION):
        allowed = -ball(risk).log() / count

        def excluded(value: Fraction) -> bool:
            return bool(_divergence(mean, value) > allowed)

        low, high = mean, Fraction(1)
        for _ in range(60):
            middle = (low + high) / 2 if low and high < 4 * low else _between(low, high)
            if middle >= 1 or middle <= mean:
                break
            low, high = (low, middle) if excluded(middle) else (middle, high)
    return high


def _between(low: Fraction, high: Fraction) -> Fraction:
    """Return about the geometric mean, as a fraction of few digits; 0 counts as 1e-300."""
    return Fraction(math.sqrt(max(float(low), 1e-300) * float(high)))


def _divergence(mean: Fraction, value: Fraction) -> arb:
    """Return KL(mean ‖ value) for mean <= value < 1."""
    rest = (1 - ball(mean)) * ((1 - ball(mean)) / (1 - ball(value))).log() if mean < 1 else arb(0)
    return rest + ball(mean) * (ball(mean) / ball(value)).log() if mean else rest
