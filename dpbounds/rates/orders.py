r"""Orders of growth as algebra: a maximum of minima of monomials.

Up to constants a sum is a maximum, so every formula built from +, x, powers, Max and Min of positive quantities is a
maximum of minima of monomials, and stays one under those operations (each distributes over the others). Logarithms are
kept apart, as factors: powers of log 1/δ, of log 1/ζ (failure probability), and of logarithms of everything else.

>>> from sympy import sqrt
>>> from dpbounds.expressions.symbols import dataset_size as n, dimension as d, epsilon
>>> print(Order.of(sqrt(d) / (n * epsilon) + 1 / sqrt(n)))
max(dimension^(1/2) dataset_size^(-1) epsilon^(-1), dataset_size^(-1/2))
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import product
from typing import Any

from sympy import Abs, Add, Expr, Max, Min, Mul, Pow, Rational, Symbol, ceiling, exp, floor, log

from dpbounds.errors import InvalidValue
from dpbounds.expressions.symbols import as_expression, delta, failure_probability

# of a power of n, d, ...: log n and log d have the same order when n is a power of d
LOG = Symbol("log", positive=True)
LOG_DELTA = Symbol("log_1_delta", positive=True)  # log 1/δ
LOG_FAILURE = Symbol("log_1_zeta", positive=True)  # log of 1 over the failure probability
LOGARITHMS = (LOG, LOG_DELTA, LOG_FAILURE)


@dataclass(frozen=True, slots=True)
class Monomial:
    """A product of powers; constants are dropped.

    Attributes:
        powers: (symbol, exponent), no exponent 0, sorted by name.
    """

    powers: tuple[tuple[Symbol, Fraction], ...] = ()

    @classmethod
    def of(cls, powers: Mapping[Symbol, Fraction | int]) -> Monomial:
        """Build a monomial from a mapping; zero exponents are dropped."""
        kept = ((symbol, Fraction(power)) for symbol, power in powers.items() if power)
        return cls(tuple(sorted(kept, key=lambda item: item[0].name)))

    def exponent(self, symbol: Symbol) -> Fraction:
        """Return the power of a symbol, 0 if it does not occur."""
        return next((power for own, power in self.powers if own == symbol), Fraction(0))

    def __mul__(self, other: Monomial) -> Monomial:
        powers = dict(self.powers)
        for symbol, power in other.powers:
            powers[symbol] = powers.get(symbol, Fraction(0)) + power
        return Monomial.of(powers)

    def __truediv__(self, other: Monomial) -> Monomial:
        return self * other**-1

    def __pow__(self, power: Fraction | int) -> Monomial:
        return Monomial.of({symbol: exponent * power for symbol, exponent in self.powers})

    def without(self, symbols: Iterable[Symbol]) -> Monomial:
        """Return the monomial with those symbols set to 1."""
        left_out = set(symbols)
        return Monomial(tuple((symbol, power) for symbol, power in self.powers if symbol not in left_out))

    @property
    def logarithms(self) -> Monomial:
        """The factors that are logarithms."""
        return Monomial(tuple((symbol, power) for symbol, power in self.powers if symbol in LOGARITHMS))

    @property
    def expression(self) -> Expr:
        """Return the order as a SymPy expression."""
        return Mul(*(symbol ** Rational(power.numerator, power.denominator) for symbol, power in self.powers))

    def __str__(self) -> str:
        return " ".join(_power(symbol.name, power) for symbol, power in self.by_sign()) or "1"

    def by_sign(self) -> tuple[tuple[Symbol, Fraction], ...]:
        """Positive powers first."""
        return tuple(sorted(self.powers, key=lambda item: (item[1] < 0, item[0].name)))


def _power(name: str, power: Fraction) -> str:
    return name if power == 1 else f"{name}^({power})" if power.denominator > 1 or power < 0 else f"{name}^{power}"


ONE = Monomial()


@dataclass(frozen=True, slots=True)
class Order:
    """The maximum over ``terms`` of the minimum over each term's monomials.

    Attributes:
        terms: Non-empty tuples of monomials, none of them superfluous by inclusion.
        logs_hidden: Powers of logarithms were left out in the paper, so that ties cannot be broken by them.
    """

    terms: tuple[tuple[Monomial, ...], ...]
    logs_hidden: bool = False

    @classmethod
    def single(cls, monomial: Monomial) -> Order:
        """One monomial."""
        return cls(((monomial,),))

    @classmethod
    def sum(cls, monomials: Iterable[Monomial], *, logs_hidden: bool = False) -> Order:
        """Return a sum of monomials."""
        return _reduced([(one,) for one in monomials], logs_hidden)

    @classmethod
    def of(cls, expression: Any, *, logs_hidden: bool = False) -> Order:
        """Build an order from a formula in positive quantities.

        Args:
            expression: Built of +, x, rational powers, Max, Min, log, floor, ceiling, numbers and positive symbols.
            logs_hidden: Whether print left powers of logarithms out.

        Raises:
            InvalidValue: The formula has something that is not an order of growth: a difference, a symbol in an
            exponent,
                an exponential, a case distinction.
        """
        found = _order(as_expression(expression, "order"))
        return cls(found.terms, logs_hidden or found.logs_hidden)

    def maximum(self, other: Order) -> Order:
        """Return the larger of two; up to a factor of 2, their sum."""
        return _reduced([*self.terms, *other.terms], self.logs_hidden or other.logs_hidden)

    def minimum(self, other: Order) -> Order:
        """Return the smaller of two."""
        terms = [(*left, *right) for left, right in product(self.terms, other.terms)]
        return _reduced(terms, self.logs_hidden or other.logs_hidden)

    def __mul__(self, other: Order) -> Order:
        terms = [tuple(a * b for a, b in product(left, right)) for left, right in product(self.terms, other.terms)]
        return _reduced(terms, self.logs_hidden or other.logs_hidden)

    def __truediv__(self, other: Order) -> Order:
        return self * other**-1

    def __pow__(self, power: Fraction | int) -> Order:
        # a negative power turns max of min into min of max, which distributes back
        terms = self.terms if power > 0 else product(*self.terms)
        return _reduced([tuple(one**power for one in term) for term in terms], self.logs_hidden)

    @property
    def monomials(self) -> tuple[Monomial, ...]:
        """Each monomial that occurs, once."""
        return tuple(dict.fromkeys(one for term in self.terms for one in term))

    @property
    def symbols(self) -> set[Symbol]:
        """Every quantity that occurs, logarithms included."""
        return {symbol for one in self.monomials for symbol, _ in one.powers}

    def substituted(self, values: Mapping[Symbol, Order]) -> Order:
        """Return the order with orders of growth substituted for symbols."""

        def put_in(one: Monomial) -> Order:
            powers = [value ** one.exponent(symbol) for symbol, value in values.items() if one.exponent(symbol)]
            return reduce(Order.__mul__, powers, Order.single(one.without(values)))

        result = reduce(Order.maximum, (reduce(Order.minimum, map(put_in, term)) for term in self.terms))
        return Order(result.terms, self.logs_hidden or result.logs_hidden)

    def without(self, symbols: Iterable[Symbol]) -> Order:
        """Return the order with those symbols set to 1 (constants, as far as the order is concerned)."""
        left_out = tuple(symbols)
        return _reduced([tuple(one.without(left_out) for one in term) for term in self.terms], self.logs_hidden)

    @property
    def expression(self) -> Expr:
        """Return the order as a SymPy expression: Max of Min."""
        return Max(*(Min(*(one.expression for one in term)) for term in self.terms))

    def __str__(self) -> str:
        terms = [str(term[0]) if len(term) == 1 else f"min({', '.join(map(str, term))})" for term in self.terms]
        return terms[0] if len(terms) == 1 else f"max({', '.join(terms)})"


def _reduced(terms: Iterable[tuple[Monomial, ...]], logs_hidden: bool) -> Order:
    """Without repetitions, and without terms that are never larger than another: a minimum over more."""
    distinct = list(dict.fromkeys(tuple(dict.fromkeys(term)) for term in terms))
    sets = [frozenset(term) for term in distinct]
    kept = [
        term
        for index, term in enumerate(distinct)
        if not any(
            sets[other] < sets[index] or (sets[other] == sets[index] and other < index) for other in range(len(sets))
        )
    ]
    in_order = sorted((tuple(sorted(term, key=_key)) for term in kept), key=lambda term: [*map(_key, term)])
    return Order(tuple(in_order), logs_hidden)


def _key(monomial: Monomial) -> tuple[tuple[str, Fraction], ...]:
    """Some fixed order, so that equal orders of growth are equal records."""
    return tuple((symbol.name, power) for symbol, power in monomial.powers)


def _order(expression: Expr) -> Order:
    if expression.is_number:
        if not expression.is_positive:
            raise InvalidValue("order", expression, "a formula without negative or zero terms")
        return Order.single(ONE)
    if isinstance(expression, Symbol):
        return Order.single(Monomial.of({expression: 1}))
    if isinstance(expression, Add | Max):
        return reduce(Order.maximum, map(_order, expression.args))
    if isinstance(expression, Min):
        return reduce(Order.minimum, map(_order, expression.args))
    if isinstance(expression, Mul):
        return reduce(Order.__mul__, map(_order, expression.args))
    if isinstance(expression, Pow) and expression.exp.is_Rational:
        return _order(expression.base) ** Fraction(int(expression.exp.p), int(expression.exp.q))
    if isinstance(expression, ceiling):
        return _order(expression.args[0]).maximum(Order.single(ONE))
    if isinstance(expression, floor | Abs):
        return _order(expression.args[0])
    if isinstance(expression, log):
        return logarithm(expression.args[0])
    allowed = "sums, products, rational powers, Max, Min and logarithms of positive quantities"
    advice = "give values to quantities in exponents" if isinstance(expression, Pow | exp) else ""
    raise InvalidValue("order", expression, allowed, advice)


def logarithm(argument: Expr) -> Order:
    """Return the logarithm of something that grows: one factor per kind of quantity that occurs in it."""
    kinds = {
        LOG_DELTA if symbol == delta else LOG_FAILURE if symbol == failure_probability else LOG
        for symbol in argument.free_symbols
    }
    return Order.sum([Monomial.of({kind: 1}) for kind in kinds] or [ONE])  # logarithms are at least 1 up to constants
