"""Orders that are derived from formulas with constants: rules by hand, and every bound of the library along rays."""

from fractions import Fraction

import pytest
from sympy import LambertW, Max, Min, ceiling, exp, floor, log, sqrt

from dpbounds.errors import InvalidValue
from dpbounds.expressions.evaluation import evaluate
from dpbounds.expressions.symbols import dataset_size as n, delta, dimension as d, epsilon, lipschitz, steps
from dpbounds.rates.growth import growth
from dpbounds.rates.orders import Order
from dpbounds.rates.prescriptions import settled_at
from dpbounds.rates.promises import GOALS, promises, shapes
from dpbounds.rates.spaces import standard
from dpbounds.theorems.record import Bound, Side
from dpbounds.theorems.registry import theorem

UPPER, LOWER = Side.UPPER, Side.LOWER


@pytest.mark.parametrize(
    ("formula", "side", "same"),
    [
        (3 * d / n - 7 * n, UPPER, d / n),
        ((d - 2) / n, LOWER, d / n),
        (1 / (exp(epsilon) - 1), LOWER, 1 / epsilon),
        (1 / (exp(epsilon) - 1), UPPER, 1 / epsilon),
        (d * log(1 + n / d), UPPER, d * log(n)),
        (Max(0, Min(d * log(2), log((exp(epsilon) - 1) / (4 * delta)))), LOWER, Min(d, log(1 / delta))),
        ((exp(d / n) - 1) / (exp(d / n) + 1), UPPER, Min(1, d / n)),
        ((exp(d / n) - 1) / (exp(d / n) + 1), LOWER, Min(1, d / n)),
        (1 / (1 + floor(n / d)), UPPER, 1 / Max(1, n / d)),
        (1 / ceiling(sqrt(n)), LOWER, 1 / Max(1, sqrt(n))),
        (Max(n, LambertW(n)), LOWER, n),
        (Min(n, LambertW(n)), UPPER, n),
    ],
)
def test_rules(formula, side, same):
    assert growth(formula, side).terms == Order.of(same).terms


@pytest.mark.parametrize(
    ("formula", "side"),
    [
        (n - d, LOWER),  # may be anything
        (d * log(1 + n / d), LOWER),  # small where n is much less than d
        (log(1 + epsilon), LOWER),
        (1 / floor(n / d), UPPER),  # no bound where n < d
        (exp(n), UPPER),
        (exp(n) - 1, UPPER),
        (2**d, UPPER),
        (LambertW(n), UPPER),
        (Max(n, LambertW(n)), UPPER),
        (Min(n, LambertW(n)), LOWER),
        (-n, UPPER),
    ],
)
def test_what_fits_no_rule_is_refused(formula, side):
    with pytest.raises(InvalidValue):
        growth(formula, side)


def test_what_is_prescribed_is_put_in_and_no_circle():
    assert growth(lipschitz / steps, UPPER, {steps: ceiling(n / d)}).terms == Order.of(lipschitz / Max(1, n / d)).terms
    with pytest.raises(InvalidValue, match="circle"):
        growth(1 / steps, UPPER, {steps: n / steps})


RAYS = [(Fraction(a), Fraction(b), Fraction(c)) for a, b, c in [(3, 1, 0), (2, 1, "1/4"), (4, "1/2", 1), (1, 2, 0)]]
SMALL, LARGE = 400, 800  # exponents of 2: logarithms are then less than a twentieth of a power


def point(power, ray):
    values = {"dataset_size": ray[0], "dimension": ray[1], "epsilon": -ray[2]}
    sizes = {name: Fraction(2) ** int(power * exponent) for name, exponent in values.items()}
    fixed = dict.fromkeys(("lipschitz", "smoothness", "initial_gap", "loss_range", "diameter", "enclosing_radius"), 1)
    local = dict.fromkeys(("norm_bound", "lipschitz_l1", "smoothness_l1", "pl_constant", "quasar_convexity"), 1)
    rho = sizes["epsilon"] ** 2 / 4 / 2287  # ε²/(4 ln(1/δ)), for a δ below every power that occurs
    return {**fixed, **local, **sizes, "delta": Fraction(1, 2**3300), "failure_probability": Fraction(1, 20)}, rho


def slope(statement, part, ray):
    """By how much the logarithm of a bound grows per doubling of the base."""
    sizes = []
    for power in (SMALL, LARGE):
        given, rho = point(power, ray)
        found = settled_at(statement, given, rho if part.name not in given else None)
        value = evaluate(part.expression, found.values, digits=8)
        middle = (Fraction(value.exact_lower) + Fraction(value.exact_upper)) / 2
        sizes.append(middle.numerator.bit_length() - middle.denominator.bit_length())
    return (sizes[1] - sizes[0]) / (LARGE - SMALL)


def derived():
    found = {}
    for metric in GOALS:
        for assuming in ((), tuple(shapes())):
            known = promises(metric, assuming=assuming)
            for side, family in (("upper", known.uppers), ("lower", (*known.lowers, *known.pure_lowers))):
                found.update({(one.id, side): one for one in family if one.explicit})
    return found


@pytest.mark.seconds
def test_every_derived_order_is_what_the_bound_does_along_rays():
    compared = 0
    for (name, side), promise in derived().items():
        statement = theorem(name.split(": ")[0])
        named = name.split(": ")[1:]
        parts = [one for one in statement.parts if isinstance(one, Bound) and (not named or one.name in named)]
        for ray in RAYS:
            if not any(cone.contains((*ray[:2], -ray[2])) for cone in promise.order.region):
                continue
            slopes = []
            for part in parts:
                try:
                    slopes.append(slope(statement, part, ray))
                except InvalidValue:  # a free parameter: another part is meant
                    continue
            wanted = standard().value(promise.order.order, (*ray[:2], -ray[2]))
            if not slopes:
                continue
            compared += 1
            if side == "upper":
                assert min(slopes) <= wanted + Fraction(1, 15), (name, ray, slopes, wanted)
            else:
                assert max(slopes) >= wanted - Fraction(1, 15), (name, ray, slopes, wanted)
            if len(parts) == 1 and (side == "upper" or wanted < 0):
                assert abs(slopes[0] - wanted) < Fraction(1, 15), (name, ray, slopes, wanted)
    assert compared >= 30
