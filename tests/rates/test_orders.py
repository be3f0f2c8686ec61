"""Orders of growth against numbers: far out, the formula and its order have the same logarithm up to a constant."""

import math
import random
from fractions import Fraction

import pytest
import sympy
from hypothesis import given, strategies as st
from sympy import Max, Min, Piecewise, Rational, ceiling, exp, log, sqrt

from dpbounds.errors import InvalidValue
from dpbounds.expressions.symbols import (
    dataset_size,
    delta,
    dimension,
    epsilon,
    failure_probability,
    kl_exponent,
    lipschitz,
)
from dpbounds.rates.orders import LOG, LOG_DELTA, LOG_FAILURE, Monomial, Order

SYMBOLS = (dataset_size, dimension, epsilon)
powers = st.fractions(min_value=-3, max_value=3, max_denominator=6)
monomials = st.builds(
    lambda exponents: Monomial.of(dict(zip(SYMBOLS, exponents, strict=True))), st.tuples(powers, powers, powers)
)
orders = st.recursive(
    monomials.map(Order.single),
    lambda inner: st.one_of(
        st.builds(Order.maximum, inner, inner),
        st.builds(Order.minimum, inner, inner),
        st.builds(Order.__mul__, inner, inner),
        st.builds(Order.__pow__, inner, st.sampled_from([-1, -2, Fraction(1, 2), Fraction(-2, 3), 3])),
    ),
    max_leaves=4,
)


def logarithm(order, point):
    """By definition, at logarithms of the symbols."""
    return max(min(sum(power * point[symbol] for symbol, power in one.powers) for one in term) for term in order.terms)


def random_point(seed):
    draw = random.Random(seed)
    return {symbol: Fraction(draw.randint(-50, 50), 7) for symbol in SYMBOLS}


@pytest.mark.seconds
@given(orders, orders, st.integers())
def test_operations_are_those_of_numbers(left, right, seed):
    point = random_point(seed)
    a, b = logarithm(left, point), logarithm(right, point)
    assert logarithm(left.maximum(right), point) == max(a, b)
    assert logarithm(left.minimum(right), point) == min(a, b)
    assert logarithm(left * right, point) == a + b
    assert logarithm(left / right, point) == a - b
    assert logarithm(left ** Fraction(3, 2), point) == Fraction(3, 2) * a
    assert logarithm(left**-1, point) == -a


@pytest.mark.seconds
@given(orders, monomials, st.integers())
def test_substitution(order, value, seed):
    point = random_point(seed)
    swapped = order.substituted({dimension: Order.single(value)})
    moved = {**point, dimension: logarithm(Order.single(value), point)}
    assert logarithm(swapped, point) == logarithm(order, moved)


FORMULAS = [
    sqrt(dimension * log(1 / delta)) / (dataset_size * epsilon),
    7 * dimension / dataset_size + 3 / sqrt(dataset_size),
    Min(1, sqrt(dimension) / (dataset_size * epsilon)) ** Rational(2, 3),
    (dimension / (dataset_size * epsilon) + sqrt(dimension / dataset_size)) ** Rational(3, 7),
    Max(1 / sqrt(dataset_size), dimension**2 / (1 + dataset_size * epsilon)),
    ceiling(dataset_size * epsilon / sqrt(dimension)),
    1 / (dimension + dataset_size) + dimension ** Rational(-7, 3),
]


@pytest.mark.seconds
@pytest.mark.parametrize("formula", FORMULAS, ids=str)
def test_far_out_the_order_is_the_formula(formula):
    order = Order.of(formula)
    draw = random.Random(str(formula))
    for _ in range(50):
        exponents = {dataset_size: draw.uniform(0, 40), dimension: draw.uniform(0, 40), epsilon: draw.uniform(-20, 0)}
        values = {symbol: sympy.Float(10) ** power for symbol, power in exponents.items()}
        exact = float(sympy.log(formula.subs({**values, delta: Rational(1, 8)}).evalf(60), 10))
        point = {symbol: Fraction(power) for symbol, power in exponents.items()}
        assert abs(exact - float(logarithm(order.without([LOG, LOG_DELTA]), point))) < math.log10(100)


def test_logarithms_are_kept_apart():
    assert Order.of(log(1 / delta)).terms == ((Monomial.of({LOG_DELTA: 1}),),)
    assert Order.of(log(dataset_size / delta)).terms == (
        (Monomial.of({LOG: 1}),),
        (Monomial.of({LOG_DELTA: 1}),),
    )
    assert Order.of(sqrt(log(1 / failure_probability))).terms == ((Monomial.of({LOG_FAILURE: Fraction(1, 2)}),),)
    assert Order.of(log(2)).terms == ((Monomial(),),)
    assert Order.of(dimension, logs_hidden=True).maximum(Order.of(epsilon)).logs_hidden


@pytest.mark.parametrize(
    "formula",
    [
        dataset_size - 1,
        -dimension,
        exp(dimension),
        dimension**kl_exponent,
        2**dimension,
        Piecewise((dimension, dimension > 3), (1, True)),
        sympy.Integer(0),
    ],
    ids=str,
)
def test_what_is_no_order_is_refused(formula):
    with pytest.raises(InvalidValue):
        Order.of(formula)


def test_superfluous_terms_go():
    both = Order.of(Max(dimension, Min(dimension, dataset_size)))
    assert both == Order.of(dimension)


def test_in_words():
    assert str(Order.of(sqrt(dimension) * lipschitz / (dataset_size * epsilon))) == (
        "dimension^(1/2) lipschitz dataset_size^(-1) epsilon^(-1)"
    )
    assert str(Order.of(Min(lipschitz, dimension))) in ("min(lipschitz, dimension)", "min(dimension, lipschitz)")


def test_one_over_a_sum_is_the_smaller_of_two():
    """And one over the smaller of two is the larger: neither is changed by what is done to the other."""
    assert Order.of(1 / (dimension + dataset_size)) == Order.of(Min(1 / dimension, 1 / dataset_size))
    assert Order.of(1 / Min(dimension, dataset_size)) == Order.of(Max(1 / dimension, 1 / dataset_size))
