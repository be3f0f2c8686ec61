r"""Rates that arise by balancing, derived: the free parameter of a sum of monomials is chosen, not typed in.

``min over t > 0 of max_i m_i t^(c_i)`` is a linear program in log t. By duality its value is the largest of the
monomials in which t does not occur and of every weighted geometric mean of a term that rises and one that falls in t,
with the weights for which t cancels (elimination of one variable, after Fourier and Motzkin). The balancing t of a
pair is the one at which its two terms are equal. Where t is bounded below (a number of steps, of candidates), the terms
that rise in t are at least what they are at that bound, and nothing else changes.

Source: elimination of a variable from linear inequalities (Fourier; Motzkin 1936); the rest is arithmetic.

>>> from dpbounds.expressions.symbols import dimension as d, epsilon, dataset_size as n, steps as T
>>> balanced = balance(Order.of(1 / T + T * d / (n * epsilon) ** 2), T)
>>> print(balanced.value)
dimension^(1/2) dataset_size^(-1) epsilon^(-1)
>>> print(balanced.choices[0].parameter)
dataset_size epsilon dimension^(-1/2)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from sympy import Symbol

from dpbounds.errors import InvalidValue
from dpbounds.rates.orders import Monomial, Order


@dataclass(frozen=True, slots=True)
class Choice:
    """A balancing value of the parameter: there the rising and the falling term have the same value."""

    rising: Monomial
    falling: Monomial
    parameter: Monomial
    value: Monomial


@dataclass(frozen=True, slots=True)
class Balanced:
    """The smallest order of growth that a choice of the parameter gives.

    Attributes:
        choices: One per pair of a rising and a falling term; the one whose value is largest is the choice to make.
    """

    value: Order
    choices: tuple[Choice, ...]
    constant: tuple[Monomial, ...]


def balance(order: Order, parameter: Symbol) -> Balanced:
    """Choose a positive parameter so that a maximum of monomials is as small as it can be.

    Raises:
        InvalidValue: A minimum occurs; or the sum has no least value above 0 (it only falls, or only rises, in the
            parameter): then there is nothing to balance.
    """
    terms = _sum(order)
    rising = [term for term in terms if term.exponent(parameter) > 0]
    falling = [term for term in terms if term.exponent(parameter) < 0]
    constant = tuple(term for term in terms if not term.exponent(parameter))
    if not rising or not falling:
        raise InvalidValue(
            "parameter", parameter, "a quantity in which one term rises and another falls", f"the sum is {order}"
        )
    choices = tuple(_meeting(up, down, parameter) for up in rising for down in falling)
    value = Order.sum([*constant, *(choice.value for choice in choices)], logs_hidden=order.logs_hidden)
    return Balanced(value, choices, constant)


def _sum(order: Order) -> Sequence[Monomial]:
    if any(len(term) > 1 for term in order.terms):
        raise InvalidValue("order", order, "a sum of monomials, without a minimum")
    return [term[0] for term in order.terms]


def _meeting(rising: Monomial, falling: Monomial, parameter: Symbol) -> Choice:
    up, down = rising.exponent(parameter), falling.exponent(parameter)
    of_rising, of_falling = rising.without([parameter]), falling.without([parameter])
    meeting = (of_falling / of_rising) ** (1 / (up - down))
    return Choice(rising, falling, meeting, of_rising * meeting**up)


def fixed_point(order: Order, unknown: Symbol) -> Order:
    """Return the order of the largest x with x <= order(x), where x occurs on the right in powers below 1.

    ``x = m x^c`` has the solution m^(1/(1-c)); a maximum of such terms has the largest of the solutions.

    Raises:
        InvalidValue: x occurs in a power of 1 or more, so that the inequality bounds nothing.

    >>> from dpbounds.expressions.symbols import dataset_size as n, stationarity as alpha
    >>> from sympy import sqrt
    >>> print(fixed_point(Order.of(sqrt(alpha) / n), alpha))
    dataset_size^(-2)
    """
    solved = []
    for term in _sum(order):
        power = term.exponent(unknown)
        if power >= 1:
            raise InvalidValue("order", term, f"powers of {unknown} below 1", "the inequality bounds nothing otherwise")
        solved.append(term.without([unknown]) ** (1 / (1 - power)))
    return Order.sum(solved, logs_hidden=order.logs_hidden)


def least_over(order: Order, parameter: Symbol, at_least: Order) -> Order:
    """Balance with the parameter bounded below: the value at the better of free choice and bound.

    With t >= b a term that rises in t is at least its value at b, which is what a bound adds: the result is the maximum
    of the free value and of the rising terms at b.
    """
    free = balance(order, parameter).value
    rising = [term for term in _sum(order) if term.exponent(parameter) > 0]
    bounded = Order.sum(rising).substituted({parameter: at_least})
    return free.maximum(bounded)


def powers_of(monomial: Monomial, *symbols: Symbol) -> tuple[Fraction, ...]:
    """Return the exponents of some quantities, in order."""
    return tuple(monomial.exponent(symbol) for symbol in symbols)
