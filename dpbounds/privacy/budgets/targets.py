"""Calibration to other targets than one (ε, δ): a whole curve, total variation, zCDP, an (ε, δ) by Rényi divergences.

Each returns a value that is proven to suffice; those that go through the certified accountant also return one that is
proven to fail.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction

from dpbounds.errors import InvalidValue, NotCertified, demand_function
from dpbounds.expressions.exact import ExactLike
from dpbounds.privacy.budgets.calibration import Calibration, calibrate
from dpbounds.privacy.budgets.parameter import PROBES
from dpbounds.privacy.domination.composition import neighbour_classes
from dpbounds.privacy.mechanisms import Mechanism
from dpbounds.privacy.mechanisms.core import listed_pairs
from dpbounds.privacy.pairs.core import MOST_HIDDEN_BITS
from dpbounds.privacy.relations import Relation, as_relation
from dpbounds.privacy.renyi.accountant import converted
from dpbounds.privacy.renyi.concentrated_accounts import zcdp_rho
from dpbounds.privacy.values import Budget, positive

_LARGEST = 2.0**60
_RESOLUTION = 1e-9  # relative resolution of the noise


def calibrate_to_curve(
    factory: Callable[[Fraction], Mechanism],
    points: Iterable[tuple[ExactLike, ExactLike]],
    relation: str | Relation = Relation.ADD_OR_REMOVE_ONE,
) -> Calibration:
    """Find the smallest noise that satisfies δ(ε_i) <= δ_i at every point of a curve.

    Args:
        factory: Maps the noise, an exact number, to a mechanism, which spends less if the noise is larger.
        points: (ε_i, δ_i), at least one.
        relation: The neighbouring relation.

    Returns:
        The calibration for the point that needs the most noise; its value suffices for all the others, because more
        noise never spends more.

    Raises:
        InvalidValue: There is no point, or a value is not allowed.
        NotCertified: The proof did not close at a point.
    """
    found = [
        calibrate(factory, epsilon, delta, relation)
        for epsilon, delta in listed_pairs(points, "points", "pairs of ε and δ")
    ]
    if not found:
        raise InvalidValue("points", "none", "at least one (ε, δ)")
    return max(found, key=lambda each: each.value)


def calibrate_to_total_variation(
    factory: Callable[[Fraction], Mechanism],
    target: ExactLike,
    relation: str | Relation = Relation.ADD_OR_REMOVE_ONE,
) -> Calibration:
    """Find the smallest noise with which no test distinguishes neighbours better than by ``target``, in (0, 1).

    The total variation is δ(0). It is also the membership advantage: the largest true positive rate minus false
    positive rate of any test for one record. Factory and errors as for :func:`calibrate_to_curve`.

    >>> from dpbounds.privacy.mechanisms import Gaussian
    >>> round(float(calibrate_to_total_variation(Gaussian, "0.1").value), 6)  # 2Φ(1/2z) - 1 = 0.1
    3.978948
    """
    return calibrate(factory, 0, target, relation)


def calibrate_to_zcdp(
    factory: Callable[[Fraction], Mechanism],
    rho: ExactLike,
    relation: str | Relation = Relation.ADD_OR_REMOVE_ONE,
) -> Fraction:
    """Return noise for which the mechanism is proven to be ρ-zCDP, ρ > 0: the smallest such double to nine digits.

    Factory as for :func:`calibrate_to_curve`; zCDP has no gain from sampling.

    Raises:
        UnsupportedMechanism: No finite ρ is proven for such a mechanism.
        NotCertified: No noise up to 2^60 suffices.

    >>> from dpbounds.privacy.mechanisms import Gaussian
    >>> calibrate_to_zcdp(lambda z: Gaussian(z) ** 8, 1)
    Fraction(2, 1)
    """
    most, neighbours = positive(rho, "rho"), as_relation(relation)
    return _least_noise(factory, lambda mechanism: zcdp_rho(mechanism, neighbours) <= most)


def calibrate_by_renyi(
    factory: Callable[[Fraction], Mechanism],
    target_epsilon: ExactLike,
    target_delta: ExactLike,
    relation: str | Relation = Relation.ADD_OR_REMOVE_ONE,
) -> Fraction:
    """Return the smallest noise (a double, to nine digits) for which the Rényi accountant proves (ε, δ).

    It is what other libraries' Rényi accountants would ask for had they all real orders; ``calibrate`` needs less.

    Raises:
        NotCertified: No noise keeps the budget, or a rate is so small that the divergences would take minutes.
    """
    demand_function("factory", factory)
    budget = Budget.of(target_epsilon, target_delta, relation)
    products = [each.product for each in neighbour_classes(factory(PROBES["noise"]), budget.relation).every()]
    if any(pair.lost_bits(Fraction(2)) > MOST_HIDDEN_BITS for product in products for pair, _ in product):
        raise NotCertified("the Rényi divergences are too small to be computed quickly: use calibrate")

    def suffices(mechanism: Mechanism) -> bool:
        return converted(mechanism, budget.at_delta, budget.relation).enclosure.exact_upper <= budget.epsilon

    return _least_noise(factory, suffices)


def _least_noise(factory: Callable[[Fraction], Mechanism], keeps: Callable[[Mechanism], bool]) -> Fraction:
    """Return the least noise by bisection of the logarithm; the returned value was itself found to suffice."""
    demand_function("factory", factory)

    def suffices(noise: float) -> bool:
        return keeps(factory(Fraction(noise)))

    high = 1.0
    while not suffices(high):
        high *= 2
        if high > _LARGEST:
            raise NotCertified(f"no noise up to {_LARGEST:g} keeps the budget")
    low = high / 2
    while suffices(low):
        low, high = low / 2, low
        if low < 1 / _LARGEST:
            return Fraction(high)
    while high / low > 1 + _RESOLUTION:
        middle = math.sqrt(low * high)
        if not low < middle < high:
            break
        low, high = (low, middle) if suffices(middle) else (middle, high)
    return Fraction(high)
