"""Choice of the ε to try, by pilot draws: not part of the bound, and made before it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from dpbounds.privacy.accountants.probable.bounds import best_tilt, log_largest, weighted_draws
from dpbounds.privacy.accountants.probable.drawing import Bits
from dpbounds.privacy.accountants.probable.mixtures import Mixture
from dpbounds.privacy.values import Target

_PILOT = 10  # one in this number of samples is drawn first, to plan the others
# of the slack that is expected: how far the ε that are tried lie apart
_SHARES = (0.7, 1.0, 1.4, 2.0, 3.0, 5.0, 9.0, 20.0)
_PARTS = (0.1, 0.25, 0.5, 1.0)
_TRIED = len(_SHARES) + len(_PARTS)
_FARTHEST = 1e6


def planned_epsilons(
    mixture: Mixture, epochs: int, target: Target, risk: Fraction, count: int, bits: Bits
) -> list[float]:
    """Return the values of ε to try, the smallest first, from pilot draws."""
    delta, pilot = float(target.value), max(1000, count // _PILOT)
    at = 1.0
    for _ in range(4):
        curves = [_curve(mixture, epochs, at, pilot, bits, adding=adding) for adding in (False, True)]
        at = _crossing(curves, delta)
    tilts = [best_tilt(mixture, epochs, at, adding=adding) for adding in (False, True)]
    largest = max(
        math.exp(min(0.0, log_largest(mixture, epochs, at, tilt, adding=adding)))
        for tilt, adding in zip(tilts, (False, True), strict=True)
    )
    wide = math.log(2 * _TRIED / float(risk)) * largest / (count * delta)
    slack = math.sqrt(2 * wide) + wide
    found = {_crossing(curves, delta / (1 + share * slack)) for share in _SHARES}
    # where not one draw that counts would be enough, if the tilt gets there
    first, allowed = min(found), math.log(delta * count / 4) - math.log(math.log(2 * _TRIED / float(risk)))

    def excess(epsilon: float) -> float:
        return (
            max(
                log_largest(mixture, epochs, epsilon, best_tilt(mixture, epochs, first, adding=adding), adding=adding)
                for adding in (False, True)
            )
            - allowed
        )

    last = _falling(excess, first)
    return sorted(found | ({first + (last - first) * part for part in _PARTS} if last < math.inf else set()))


def _falling(excess: Callable[[float], float], low: float) -> float:
    """Return the zero of a decreasing function; infinity if that is too far away."""
    high = 2 * low + 1
    while excess(high) > 0:
        low, high = high, 2 * high
        if high > _FARTHEST:
            return math.inf
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) > 0 else (low, middle)
    return high


def _curve(
    mixture: Mixture, epochs: int, at: float, count: int, bits: Bits, *, adding: bool
) -> Callable[[float], float]:
    """Return an estimate of δ(ε) by draws that suit one ε."""
    tilt = best_tilt(mixture, epochs, at, adding=adding)
    batches = list(weighted_draws(mixture, epochs, tilt, count, bits, adding=adding))
    ratios, weights = (np.concatenate([batch[side] for batch in batches]) for side in (0, 1))
    logs = weights if adding else weights + ratios
    losses = -ratios if adding else ratios
    return lambda epsilon: float((np.exp(logs) * -np.expm1(np.minimum(epsilon - losses, 0.0))).mean())


def _crossing(curves: Sequence[Callable[[float], float]], delta: float) -> float:
    low, high = 0.0, 1.0
    while max(curve(high) for curve in curves) > delta and high < _FARTHEST:
        low, high = high, 2 * high
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if max(curve(middle) for curve in curves) > delta else (low, middle)
    return high
