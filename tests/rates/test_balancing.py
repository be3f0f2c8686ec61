"""Balancing against minimisation by brute force, by hand, and in the derivations of the literature."""

import random
from fractions import Fraction

import pytest
from hypothesis import given, strategies as st
from sympy import Min, sqrt

from dpbounds.errors import InvalidValue
from dpbounds.expressions.symbols import dataset_size as n, dimension as d, epsilon, smoothness, stationarity, steps
from dpbounds.rates.balancing import balance, fixed_point, least_over, powers_of
from dpbounds.rates.orders import Monomial, Order
from dpbounds.rates.spaces import standard

powers = st.fractions(min_value=-2, max_value=2, max_denominator=4)
terms = st.lists(st.tuples(powers, powers, powers), min_size=2, max_size=5)


def lines(family):
    """Sums in T: a monomial in n and d, and a power of steps, each."""
    return Order(tuple((Monomial.of({n: a, d: b, steps: c}),) for a, b, c in family))


def least_by_brute_force(order, point):
    """The lowest point of the upper envelope of lines, at one of their crossings."""
    space = standard()
    heights = [
        (one[0].exponent(steps), sum(x * y for x, y in zip(space.form(one[0].without([steps])), point, strict=True)))
        for one in order.terms
    ]
    crossings = [(h2 - h1) / (c1 - c2) for c1, h1 in heights for c2, h2 in heights if c1 != c2]
    return min(max(h + c * t for c, h in heights) for t in crossings)


@pytest.mark.seconds
@given(terms, st.integers())
def test_the_value_is_the_least_over_the_parameter(family, seed):
    order = lines(family)
    signs = {(c > 0) - (c < 0) for _, _, c in family}
    if not {1, -1} <= signs:
        with pytest.raises(InvalidValue, match="one term rises and another falls"):
            balance(order, steps)
        return
    draw = random.Random(seed)
    point = tuple(Fraction(draw.randint(0, 60), 7) for _ in range(3))
    found = balance(order, steps)
    assert standard().value(found.value, point) == least_by_brute_force(order, point)
    for choice in found.choices:  # both terms really meet there
        at = {steps: Order.single(choice.parameter)}
        assert Order.single(choice.rising).substituted(at) == Order.single(choice.value)
        assert Order.single(choice.falling).substituted(at) == Order.single(choice.value)


def test_steps_of_projected_gradient_descent():
    squared = balance(Order.of(smoothness / steps + steps * d / (n * epsilon) ** 2 / steps * steps), steps)
    assert squared.value ** Fraction(1, 2) == Order.of(
        smoothness ** Fraction(1, 4) * d ** Fraction(1, 4) / sqrt(n * epsilon)
    )
    assert powers_of(squared.choices[0].parameter, n, epsilon, d) == (1, 1, Fraction(-1, 2))


def test_a_bound_on_the_parameter():
    order = Order.of(1 / steps + steps * d / (n * epsilon) ** 2)
    bounded = least_over(order, steps, Order.of(1))
    # T >= 1 matters only where √d > nε: there the noise of one step decides
    assert bounded == Order.of(sqrt(d) / (n * epsilon) + d / (n * epsilon) ** 2)


def test_an_inequality_with_the_unknown_on_both_sides():
    assert fixed_point(Order.of(sqrt(stationarity) / n + 1 / d), stationarity) == Order.of(n**-2 + 1 / d)
    with pytest.raises(InvalidValue, match="below 1"):
        fixed_point(Order.of(stationarity / n), stationarity)


def test_a_minimum_is_no_sum():
    with pytest.raises(InvalidValue, match="without a minimum"):
        balance(Order.of(Min(steps / d, steps / n) + 1 / steps), steps)
