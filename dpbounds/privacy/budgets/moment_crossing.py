"""Where Rényi divergences start to prove a budget kept: further than the pairs, where these are not attained.

Composing pairs that no data sets attain at the same time can be dearer than adding up divergences. Such a parameter
has then two crossings, one per way to prove it, and either one suffices. From the pairs' crossing this search goes on
to the divergences'. Every value that is returned was itself proven, whatever the search believed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from dpbounds.errors import NotCertified, UnsupportedMechanism
from dpbounds.privacy.budgets.crossing import Bracket, Solve
from dpbounds.privacy.mechanisms import Mechanism
from dpbounds.privacy.renyi.accountant import converted
from dpbounds.privacy.values import Budget

_CLOSE = 1e-9  # relative distance of the two sides at which the search ends
_FIRST_STEP = 1 / 16  # in log parameter, doubled until the budget is overspent
_FARTHEST = 2.0**60  # and its inverse: parameters beyond are not looked at
_TRIALS = 60


def least_by_moments(
    factory: Callable[[Fraction], Mechanism], safe: Fraction, budget: Budget, solve: Solve
) -> Fraction:
    """Return the least noise (the most steps, the largest rate) at which Rényi divergences prove the budget kept.

    ``safe`` suffices; where the divergences do not prove so too, it is returned as it is.
    """

    def excess(value: Fraction) -> float:
        """What is promised over the budget, for the search; at most 0 only where it is proven to be kept."""
        try:
            promised = converted(factory(value), budget.at_delta, budget.relation).enclosure.exact_upper
        except (NotCertified, UnsupportedMechanism):
            return math.inf
        over = float(promised - budget.epsilon)
        return max(over, math.ulp(0.0)) if promised > budget.epsilon else over

    below = excess(safe)
    if below > 0:
        return safe
    unsafe, above, step = safe, below, _FIRST_STEP
    while above <= 0:
        safe, below = unsafe, above
        unsafe, step = _further(safe, step, solve), 2 * step
        if unsafe == safe or not 1 / _FARTHEST <= unsafe <= _FARTHEST:
            return safe
        above = excess(unsafe)
    ends = Bracket(unsafe, above, safe, below)
    for _ in range(_TRIALS):
        value = _between(ends, solve)
        if value in (ends.safe, ends.unsafe) or abs(math.log(ends.unsafe / ends.safe)) < _CLOSE:
            break
        ends.narrow(value, excess(value))
    return ends.safe


def _further(value: Fraction, step: float, solve: Solve) -> Fraction:
    """A value that spends more."""
    if solve == "noise":
        return Fraction(float(value) * math.exp(-step))
    if solve == "steps":
        return Fraction(max(int(value) + 1, round(float(value) * math.exp(step))))
    return Fraction(min(1.0, float(value) * math.exp(step)))


def _between(ends: Bracket[Fraction], solve: Solve) -> Fraction:
    """Where a line through both ends, in the logarithm of the parameter, meets the budget; well inside of both."""
    safe, unsafe = ends.safe, ends.unsafe
    weight = ends.below / (ends.below - ends.above) if math.isfinite(ends.above) and ends.below < 0 else 0.5
    value = float(safe) * math.exp(math.log(unsafe / safe) * min(max(weight, 0.01), 0.99))
    if solve == "steps":  # strictly between, as long as there is anything between
        return Fraction(min(max(round(value), int(safe) + 1), max(int(unsafe) - 1, int(safe))))
    return Fraction(value)
