"""The largest budget at which a statement's own mechanism keeps a person's (ε, δ), certified.

Statements promise ρ-zCDP, ε-DP or (0, δ)-DP; a person has an (ε, δ). Gaussians that are composed adaptively are one
Gaussian, so a mechanism of Gaussians alone that is ρ-zCDP is exactly as private as one Gaussian of that ρ, whose curve
is known exactly. Of any other mechanism the ρ that every ρ-zCDP mechanism may have is where the search begins; from
there it grows as long as the certified accountant proves that the mechanism itself keeps (ε, δ). All are rounded down.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Any

from dpbounds.errors import InvalidValue, NotCertified, UnsupportedMechanism
from dpbounds.expressions.symbols import noise_multiplier
from dpbounds.privacy.accountants.certified import delta as certified_delta
from dpbounds.privacy.budgets.calibration import calibrate, sufficient_noise
from dpbounds.privacy.mechanisms import ZCDP, Gaussian, Mechanism, parts_of
from dpbounds.privacy.relations import Relation
from dpbounds.privacy.renyi.concentrated_accounts import zcdp_rho
from dpbounds.privacy.values import Budget
from dpbounds.theorems.evaluation import admitted
from dpbounds.theorems.parts import Numbers
from dpbounds.theorems.record import Claim, Privacy, Theorem
from dpbounds.theorems.spending import composed, only_gaussians, spending

_RESOLUTION = Fraction(1, 10**4)  # relative, of a ρ that is found by trials
_NUDGE = 2e-5
_TRIALS_FOR_RHO = 12
_TRIALS = 4
_SLACK = Fraction(1, 10**9)
_FEW = 16  # releases that are not Gaussians, up to which the certified accountant answers in tenths of a second
EXACT = "all releases as one Gaussian, whose curve is exact"
THROUGH_ZCDP = "through its zCDP"
BY_ACCOUNTANT = "by the certified accountant"
_MARGIN = 1 - Fraction(1, 10**18)  # records round their noise in the 30th digit


@dataclass(frozen=True, slots=True)
class Tied:
    """A statement tied to a budget.

    Attributes:
        rho: The ρ to put into its formulas; None where they hold ε or δ themselves.
        how: By which argument the budget is kept.
    """

    rho: Fraction | None
    mechanism: Mechanism
    how: str


@cache
def gaussian_rho(budget: Budget) -> Fraction:
    """The largest ρ = μ²/2 (rounded down) for which a Gaussian with sensitivity over noise μ keeps the budget."""
    found = calibrate(Gaussian, budget.epsilon, budget.delta, Relation.ADD_OR_REMOVE_ONE)  # noise per unit of distance
    return 1 / (2 * found.value**2)


@cache
def any_rho(budget: Budget) -> Fraction:
    """A ρ, the largest to four digits and rounded down, for which every ρ-zCDP mechanism keeps the budget.

    The guess moves by secants of log δ(ε) in log ρ and decides nothing: the returned ρ is proven to keep δ.
    """

    def excess(rho: Fraction) -> float:
        return _excess(ZCDP(rho, relation=budget.relation), budget)

    high = gaussian_rho(budget)  # a Gaussian is ρ-zCDP: no larger ρ can do
    above = excess(high)
    low = high * Fraction(4, 5)
    below = excess(low)
    while below > 0:
        high, above, low = low, below, low / 2
        below = excess(low)
    return _largest(excess, low, below, high, above)


def _largest(
    excess: Callable[[Fraction], float], low: Fraction, below: float, high: Fraction, above: float
) -> Fraction:
    """Return the largest ρ to four digits whose excess is at most 0: that of ``low`` is, that of ``high`` is not."""
    for _ in range(_TRIALS_FOR_RHO):
        if high <= low * (1 + _RESOLUTION):
            break
        share = below / (below - above) if below < 0 else 0.5
        guess = float(low) * math.exp(share * math.log(high / low)) * (1 - _NUDGE)  # a hair towards the safe side
        middle = Fraction(guess) if low < guess < high else (low + high) / 2
        value = excess(middle)
        if value <= 0:
            if middle <= low * (1 + _RESOLUTION):
                return middle
            low, below = middle, value
        else:
            high, above = middle, value
    return low


def _excess(mechanism: Mechanism, budget: Budget) -> float:
    """Log δ(ε) - log δ: at most 0 where the budget is proven to be kept."""
    spent = certified_delta(mechanism, budget.epsilon, relation=budget.relation)
    if spent.exact_upper <= budget.delta:
        return min(0.0, _log(spent.exact_upper) - _log(budget.delta))
    return max(_log(spent.exact_upper) - _log(budget.delta), 1e-12)


def _log(number: Fraction | float) -> float:
    value = Fraction(number)
    return math.log(value.numerator) - math.log(value.denominator) if value > 0 else -1e6


def tied_rho(theorem: Theorem, values: Callable[[Fraction], Mapping[str, Any]], budget: Budget) -> Tied:
    """Return the largest ρ at which the statement's mechanism keeps the budget under its relation.

    Args:
        theorem: A statement that promises ρ-zCDP.
        values: From ρ to all that the mechanism needs, ρ among it: what is prescribed may depend on it.
        budget: The budget.

    Raises:
        InvalidValue: The statement has no mechanism, or a value is missing.
        UnsupportedMechanism: Nothing is proven for the mechanism under the relation.
    """
    if theorem.privacy is None:
        raise InvalidValue("statement", theorem.id, "one whose mechanism is recorded")
    if theorem.privacy.guess is not None:
        return _calibrated(theorem, theorem.privacy, values, budget)
    rho = gaussian_rho(budget) * _MARGIN
    kept: Tied | None = None
    for _ in range(_TRIALS):
        numbers = Numbers(admitted(theorem, values(rho)), budget.relation)
        mechanism = composed(theorem, theorem.privacy, numbers)
        pure = only_gaussians(mechanism, budget.relation)
        most = gaussian_rho(budget) if pure else any_rho(budget)
        spent = zcdp_rho(mechanism, budget.relation)
        if spent <= most and (kept is None or kept.rho is None or rho > kept.rho):
            kept = Tied(rho, mechanism, EXACT if pure else THROUGH_ZCDP)
        if most * (1 - _SLACK) <= spent <= most:
            break
        rho = rho * most / spent * _MARGIN  # whatever the record leaves unused (rounding up, half a budget) is used
    if kept is None:
        raise UnsupportedMechanism(f"{theorem.id}: what it spends does not follow its ρ")
    return kept if kept.how == EXACT else _by_accountant(theorem, values, budget, kept)


def _calibrated(
    theorem: Theorem, privacy: Privacy, values: Callable[[Fraction], Mapping[str, Any]], budget: Budget
) -> Tied:
    """Return the release on samples with the least noise that is proven, as its zCDP ignores the gain of sampling."""

    def mechanism(rho: Fraction) -> Mechanism:
        return composed(theorem, privacy, Numbers(admitted(theorem, values(rho)), budget.relation))

    unit = Fraction(values(Fraction(1))[noise_multiplier.name]) ** 2  # ρ z²
    enough = sufficient_noise(lambda z: mechanism(unit / z**2), budget)
    rho = unit / enough**2 * _MARGIN
    return Tied(rho, mechanism(rho), BY_ACCOUNTANT)


def _by_accountant(
    theorem: Theorem, values: Callable[[Fraction], Mapping[str, Any]], budget: Budget, kept: Tied
) -> Tied:
    """Return the release with the largest ρ, to four digits, for which the certified accountant proves (ε, δ)."""
    assert theorem.privacy is not None
    assert kept.rho is not None
    privacy = theorem.privacy
    others = sum(count for part, count in parts_of(kept.mechanism) if not isinstance(part, Gaussian))
    if others > _FEW:
        return replace(kept, how=f"{THROUGH_ZCDP}: the certified accountant is slow for {others} such releases")

    def mechanism(noise: Fraction) -> Mechanism:  # z is 1/√ρ: noise per unit of distance, up to a constant
        return privacy.mechanism(Numbers(admitted(theorem, values(1 / noise**2)), budget.relation))

    try:
        enough = sufficient_noise(mechanism, budget)
    except (NotCertified, UnsupportedMechanism) as error:
        return replace(kept, how=f"{THROUGH_ZCDP}: the certified accountant declines ({error})")
    rho = 1 / enough**2
    return Tied(rho, mechanism(enough), BY_ACCOUNTANT) if rho > kept.rho else kept


def tied(theorem: Theorem, values: Mapping[str, Any], budget: Budget) -> Tied:
    """Tie a statement that promises ε-DP, (ε, δ)-DP or (0, δ)-DP: with the person's own ε and δ, if they are kept.

    Raises:
        InvalidValue: A value is missing, or the mechanism as prescribed spends more than the budget.
        UnsupportedMechanism: Nothing is proven for the mechanism under the relation.
    """
    found = spending(theorem, {**values, "epsilon": budget.epsilon, "delta": budget.delta}, budget.relation)
    if found.kept is not True:
        kind = "delta" if found.claim is Claim.TOTAL_VARIATION else "epsilon"
        raise InvalidValue(kind, found.spent.decimals(4)[1], f"a spend of at most {float(found.promised):g}")
    how = f"as prescribed it spends {found.spent.decimals(4)[1]} of {float(found.promised):g}"
    return Tied(None, found.mechanism, how)
