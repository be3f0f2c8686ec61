"""Concentrated differential privacy, and an approximation: one number for a whole mechanism, in place of a curve.

ρ-zCDP says D_λ <= λρ for all λ > 1 (Bun & Steinke 2016); the proofs of the values of ρ are in ``renyi.md``. The central
limit approximation of Gaussian differential privacy is here to be compared with, and never certified.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, get_args

from dpbounds.errors import UnsupportedMechanism, demand_one_of
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.exact import ExactLike
from dpbounds.expressions.working import working
from dpbounds.privacy.domination.composition import neighbour_classes
from dpbounds.privacy.mechanisms import Mechanism
from dpbounds.privacy.pairs.losses import ball
from dpbounds.privacy.pairs.pairs import Direction, Pair, SampledGaussians, ShiftedGaussians
from dpbounds.privacy.relations import Relation, as_relation
from dpbounds.privacy.renyi.accountant import best_epsilon
from dpbounds.privacy.routes.closed_forms import closed_form_delta
from dpbounds.privacy.values import promised_delta

Form = Literal["classical", "tight"]

_ROUNDING_PRECISION = 160


def zcdp_rho(mechanism: Mechanism, relation: str | Relation = Relation.ADD_OR_REMOVE_ONE) -> Fraction:
    """Return a ρ for which the mechanism is proven to be ρ-zCDP: D_λ <= λρ for all λ > 1 (Bun & Steinke 2016).

    Gaussian μ²/2, Laplace s + e^-s - 1, ε-DP ε tanh(ε/2), range η²/8; each is the smallest but for the last. ρ adds up
    under composition. A sample gains nothing here: D_λ of what runs on it is returned. Rounded up.

    Raises:
        UnsupportedMechanism: No finite ρ is proven; the message says what to ask instead.

    >>> from dpbounds.privacy.mechanisms import Gaussian
    >>> zcdp_rho(Gaussian(10) ** 100)
    Fraction(1, 2)
    """
    return neighbour_classes(mechanism, as_relation(relation)).largest(
        lambda product: sum((count * pair.zcdp_rho() for pair, count in product), Fraction(0))
    )


def zcdp_epsilon(
    mechanism: Mechanism,
    delta: ExactLike,
    relation: str | Relation = Relation.ADD_OR_REMOVE_ONE,
    form: Form = "tight",
) -> Enclosure:
    """Enclose the ε that follows from the mechanism's ρ at δ, by one of two formulas; errors as for :func:`zcdp_rho`.

    "classical": ρ + 2 sqrt(ρ log(1/δ)) (Bun & Steinke 2016, Proposition 1.3). "tight": the best order of the conversion
    in :func:`renyi_epsilon` at D_λ = λρ, never more (Canonne, Kamath & Steinke 2020).

    >>> from dpbounds.privacy.mechanisms import Gaussian
    >>> "5.75" < zcdp_epsilon(Gaussian(1), "1e-6", form="classical") < "5.76"
    True
    """
    demand_one_of("form", form, get_args(Form))
    target = promised_delta(delta)
    rho = zcdp_rho(mechanism, relation)
    if form == "classical":
        with working(_ROUNDING_PRECISION):
            value = ball(rho) + 2 * (-ball(rho) * ball(target).log()).sqrt()
            return Enclosure.from_balls(value, value, "zcdp", _ROUNDING_PRECISION)

    return replace(best_epsilon(lambda order, bits: ball(order * (order - 1) * rho), target), method="zcdp")


# --- An approximation -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Approximation:
    """A number without a proof, and without a known sign of its error.

    Attributes:
        epsilon: The approximate ε; it may lie below the ε that is spent.
        mu: The μ of the Gaussian mechanism that is put in the place of the composition.
        certified: Always False.
    """

    epsilon: float
    mu: float
    certified: Literal[False] = False


def gdp_clt_epsilon(
    mechanism: Mechanism, delta: ExactLike, relation: str | Relation = Relation.ADD_OR_REMOVE_ONE
) -> Approximation:
    """Approximate ε(δ) by the central limit theorem of Gaussian differential privacy, for comparison only.

    T releases on Poisson samples of rate q count as one Gaussian release of shift μ, μ² = q² T (e^(1/z²) - 1), under
    add-or-remove-one (Bu, Dong, Long & Su 2020); full-batch releases add their own μ², which is exact.

    Raises:
        InvalidValue: δ or the relation is not allowed.
        UnsupportedMechanism: The limit is not known for a part of the mechanism.

    >>> from dpbounds.privacy.mechanisms import Gaussian, PoissonSampled
    >>> round(gdp_clt_epsilon(PoissonSampled(Gaussian(1), "0.01") ** 10_000, "1e-6").epsilon, 3)
    6.669
    """
    target, neighbours = promised_delta(delta), as_relation(relation)
    squared = max(
        math.fsum(count * _limit(pair) for pair, count in each.product)
        for each in neighbour_classes(mechanism, neighbours).along(neighbours.orders[0])
    )
    if not math.isfinite(squared):
        return Approximation(math.inf, math.inf)
    curve = ShiftedGaussians(Fraction(squared))
    low, high = 0.0, 1.0

    def excess(epsilon: float) -> bool:
        return bool(closed_form_delta(curve, Fraction(epsilon))[0].mid() > ball(target).mid())

    while excess(high):
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) else (low, middle)
    return Approximation((low + high) / 2 if low > 0 else 0.0, math.sqrt(squared))


def _limit(pair: Pair) -> float:
    match pair:
        case ShiftedGaussians(squared_shift=squared):
            return float(squared)
        case SampledGaussians(direction=Direction.REMOVE, sample_rate=rate, variance=variance):
            exponent = float(1 / variance)
            return float(rate) ** 2 * math.expm1(exponent) if exponent < 700 else math.inf
    raise UnsupportedMechanism(
        f"the central limit approximation is known here for Gaussian releases, full-batch or on Poisson samples under "
        f"add-or-remove-one, not for {type(pair).__name__}: ask for a proven ε instead"
    )
