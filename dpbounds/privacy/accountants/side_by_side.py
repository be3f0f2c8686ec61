"""Comparison of accounting methods: their values for the same mechanism, and why they exceed the certified one.

All but the central limit approximation are proven. Basic, advanced and optimal composition use only one (ε_i, δ_i) of
each release. It is certified here: a part of δ is shared equally, and the best of a few parts is taken.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, get_args

from dpbounds.errors import NotCertified, UnsupportedMechanism, demand_one_of
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.exact import ExactLike
from dpbounds.expressions.working import OUTER_PRECISION, working
from dpbounds.privacy.accountants.certified import account_at
from dpbounds.privacy.mechanisms import Mechanism, parts_of
from dpbounds.privacy.notions.composition_theorems import (
    ADVANCED_SHARP,
    BASIC,
    OPTIMAL,
    EpsilonDelta,
    Parts,
    advanced_epsilon,
    basic_epsilon,
)
from dpbounds.privacy.notions.optimal_composition import optimal_epsilon
from dpbounds.privacy.proofs import Declined
from dpbounds.privacy.relations import Relation, as_relation
from dpbounds.privacy.renyi.accountant import renyi_delta, renyi_epsilon
from dpbounds.privacy.renyi.concentrated_accounts import gdp_clt_epsilon, zcdp_epsilon
from dpbounds.privacy.values import Target

Method = Literal["certified", "rdp", "zcdp", "zcdp-classical", "gdp", "optimal", "advanced", "basic"]

METHODS: tuple[Method, ...] = get_args(Method)
# shares of δ for the failures of the releases
_SHARES = (Fraction(1, 2), Fraction(9, 10), Fraction(1, 100), Fraction(1, 10**6))
_SHARE_TOLERANCE = 1e-3  # relative width of a release's ε
_STEPS = 40
_LEAST_DELTA = Fraction(1, 10**250)

_WHY = {
    "certified": "the largest profile of the dominating pairs, composed as it is",
    "rdp": "one moment of the loss bounds its tail (Markov), and the moments forget its shape",
    "zcdp": "one number ρ for all moments; sampling gains nothing here",
    "zcdp-classical": "the same ρ by the older formula ρ + 2 sqrt(ρ log 1/δ)",
    "gdp": "an approximation by the central limit theorem: no bound, and often too small",
    "optimal": OPTIMAL.why,
    "advanced": ADVANCED_SHARP.why,
    "basic": BASIC.why,
}


@dataclass(frozen=True, slots=True)
class MethodValue:
    """The result of one method.

    Attributes:
        method: Its name.
        enclosure: Proven; the upper bound is the method's result. None for the approximation, and where it does
            not apply.
        value: The approximation's number, without proof; else None.
        certified: Whether the upper bound is proven to suffice.
        ratio: The method's value divided by the certified one; None if either is not finite, or the certified one is 0.
        why: In one line, why it lies above the certified value; or why it does not apply.
    """

    method: Method
    enclosure: Enclosure | None
    value: float | None
    certified: bool
    ratio: float | None
    why: str

    @property
    def promise(self) -> float | None:
        """Value of the method, rounded up if it is proven; None if the method does not apply."""
        return self.value if self.enclosure is None else self.enclosure.upper


@working(OUTER_PRECISION)
def by_method(
    method: Method,
    mechanism: Mechanism,
    *,
    delta: ExactLike | None = None,
    epsilon: ExactLike | None = None,
    relation: str | Relation = Relation.ADD_OR_REMOVE_ONE,
) -> MethodValue:
    """Return ε(δ), or δ(ε), by one of ``METHODS``.

    Arguments and errors as for :func:`dpbounds.privacy.accountants.certified.account`; a method that does not apply to
    the mechanism raises ``UnsupportedMechanism``.
    """
    demand_one_of("method", method, METHODS)
    return _by_method(method, mechanism, Target.of(delta, epsilon), as_relation(relation))


@working(OUTER_PRECISION)
def all_methods(
    mechanism: Mechanism,
    *,
    delta: ExactLike | None = None,
    epsilon: ExactLike | None = None,
    relation: str | Relation = Relation.ADD_OR_REMOVE_ONE,
) -> tuple[MethodValue, ...]:
    """Return the values of all methods, the certified one first; arguments and errors as for :func:`by_method`.

    A method that does not apply is in the list, with the reason.
    """
    target, neighbours = Target.of(delta, epsilon), as_relation(relation)
    first = _by_method("certified", mechanism, target, neighbours)
    assert first.promise is not None
    found = [first]
    for method in METHODS[1:]:
        try:
            each = _by_method(method, mechanism, target, neighbours)
        except (UnsupportedMechanism, NotCertified, Declined) as reason:
            each = MethodValue(method, None, None, certified=False, ratio=None, why=f"does not apply: {reason}")
        if each.promise is not None and math.isfinite(each.promise) and 0 < first.promise < math.inf:
            each = replace(each, ratio=each.promise / first.promise)
        found.append(each)
    return tuple(found)


def _by_method(method: Method, mechanism: Mechanism, target: Target, relation: Relation) -> MethodValue:
    if method == "certified":
        return replace(_proven(method, account_at(mechanism, target, relation).enclosure), ratio=1.0)
    if not target.for_epsilon:
        return _delta_by(method, mechanism, target.value, relation)
    if method == "gdp":
        return _approximated(gdp_clt_epsilon(mechanism, target.value, relation).epsilon)
    return _proven(method, _epsilon_by(method, mechanism, target.value, relation))


def _proven(method: Method, enclosure: Enclosure) -> MethodValue:
    return MethodValue(method, enclosure, None, certified=True, ratio=None, why=_WHY[method])


def _approximated(value: float) -> MethodValue:
    return MethodValue("gdp", None, value, certified=False, ratio=None, why=_WHY["gdp"])


def _epsilon_by(method: Method, mechanism: Mechanism, delta: Fraction, relation: Relation) -> Enclosure:
    match method:
        case "rdp":
            return renyi_epsilon(mechanism, delta, relation).enclosure
        case "zcdp":
            return zcdp_epsilon(mechanism, delta, relation, "tight")
        case "zcdp-classical":
            return zcdp_epsilon(mechanism, delta, relation, "classical")
        case "basic":
            return basic_epsilon(_guarantees(mechanism, delta, relation), delta)
    return _by_theorem(advanced_epsilon if method == "advanced" else optimal_epsilon, mechanism, delta, relation)


def _by_theorem(
    theorem: Callable[[Parts, Fraction], Enclosure], mechanism: Mechanism, delta: Fraction, relation: Relation
) -> Enclosure:
    """Return the best of a few ways to split δ between the releases and the theorem."""
    found: list[Enclosure] = []
    reason = "no split of δ gave a finite ε"
    for share in _SHARES:
        try:
            found.append(theorem(_guarantees(mechanism, share * delta, relation), delta))
        except (NotCertified, Declined) as error:
            reason = str(error)
    if not found:
        raise NotCertified(reason)
    return min(found, key=lambda each: each.exact_upper)


def _guarantees(mechanism: Mechanism, delta: Fraction, relation: Relation) -> Parts:
    """Return one certified (ε_i, δ_i) per release, with equal shares δ_i of δ."""
    parts = parts_of(mechanism)
    share = delta / sum(count for _, count in parts)
    found = []
    for part, count in parts:
        upper = account_at(part, Target("delta", share), relation, _SHARE_TOLERANCE).enclosure.exact_upper
        if isinstance(upper, float):
            raise NotCertified("a release has an infinite loss with a probability above its share of δ")
        found.append((EpsilonDelta(upper, share), count))
    return tuple(found)


def _delta_by(method: Method, mechanism: Mechanism, epsilon: Fraction, relation: Relation) -> MethodValue:
    if method == "rdp":
        return _proven(method, renyi_delta(mechanism, epsilon, relation).enclosure)
    low, high = math.log(_LEAST_DELTA.numerator) - math.log(_LEAST_DELTA.denominator), math.log(0.999)

    def suffices(log_delta: float) -> bool:
        found = _by_method(method, mechanism, Target("delta", Fraction(math.exp(log_delta))), relation)
        value = found.value if found.enclosure is None else found.enclosure.exact_upper
        return value is not None and value <= epsilon

    if not suffices(high):
        return _proven(method, Enclosure(Fraction(0), Fraction(1), method))
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if suffices(middle) else (middle, high)
        if high - low < 1e-4 * abs(high):
            break
    if method == "gdp":
        return _approximated(math.exp(high))
    return _proven(method, Enclosure(Fraction(0), Fraction(math.exp(high)), method))
