r"""The order of growth of a formula with constants, from one side: derived from the formula, never typed in.

From above a bound may be enlarged by constant factors, from below diminished: negative terms are dropped from above,
and from below allowed only where a count that grows outweighs a constant; $e^\varepsilon - 1$ is of order ε where
ε <= 1; $\ln(1 + x)$ is a logarithm from above. What fits no rule is refused: not every formula has an order of growth.

>>> from sympy import exp, log
>>> from dpbounds.expressions.symbols import dataset_size as n, dimension as d, epsilon
>>> print(growth((d - 2) * log(2) / (n * (exp(epsilon) - 1)), Side.LOWER))
dimension dataset_size^(-1) epsilon^(-1)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from sympy import Add, Expr, Max, Min, Mul, Pow, Symbol, ceiling, exp, floor, log, sympify

from dpbounds.errors import InvalidValue
from dpbounds.expressions.symbols import by_name, dataset_size as records, delta, dimension as parameters, epsilon
from dpbounds.rates.orders import LOG, LOG_DELTA, ONE, Monomial, Order, logarithm
from dpbounds.theorems.record import Side

_LIMIT = 64  # terms of an order: more are a sign of a formula that should be simplified first
Prescriptions = Mapping[Symbol, Expr]


def growth(expression: Expr, side: Side, prescribed: Prescriptions | None = None) -> Order:
    """Return an order of growth that bounds a formula from one side, up to constant factors.

    Valid for n, d >= 1 and ε <= 1, where δ is so small that it dominates the other factors in a logarithm.

    Args:
        expression: Built of positive quantities.
        side: Upper or lower: on which side of the formula the order is to lie.
        prescribed: Formulas for quantities that a statement prescribes, already rounded as it says.

    Raises:
        InvalidValue: No rule applies to a piece of the formula.
    """
    return _Reader(prescribed or {}).read(sympify(expression), side is Side.UPPER)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads formulas; ``above`` says from which side."""

    prescribed: Prescriptions
    pending: tuple[Symbol, ...] = ()

    def read(self, expression: Expr, above: bool) -> Order:
        match expression:
            case _ if expression.is_number:
                return _number(expression)
            case Symbol():
                return self._symbol(expression, above)
            case Add():
                return self._sum(expression, above)
            case Mul():
                return self._product(expression, above)
            case Max():
                return self._largest(expression.args, above)
            case Min():
                return self._of_some(expression.args, above, Order.minimum, may_skip=above)
            case Pow() if expression.exp.is_Rational:
                power = Fraction(int(expression.exp.p), int(expression.exp.q))
                return self.read(expression.base, above if power > 0 else not above) ** power
            case ceiling():
                return self.read(expression.args[0], above).maximum(_CONSTANT)
            case floor() if above:
                return self.read(expression.args[0], above)
            case log():
                return self._logarithm(expression.args[0], above)
            case exp() if _is_bounded(expression.args[0]):
                return _CONSTANT
        raise _refusal(expression)

    def _symbol(self, symbol: Symbol, above: bool) -> Order:
        if symbol not in self.prescribed:
            return Order.single(Monomial.of({symbol: 1}))
        if symbol in self.pending:
            raise InvalidValue("order", symbol, "prescriptions that do not go round in a circle")
        return _Reader(self.prescribed, (*self.pending, symbol)).read(self.prescribed[symbol], above)

    def _sum(self, expression: Add, above: bool) -> Order:
        terms = [one for one in expression.args if not one.could_extract_minus_sign()]
        negative = [one for one in expression.args if one.could_extract_minus_sign()]
        if not terms:
            raise _refusal(expression)
        if negative == [-1] and len(terms) == 1 and isinstance(terms[0], exp):  # e^x - 1
            if above and not _is_bounded(terms[0].args[0]):
                raise _refusal(expression)
            return self.read(terms[0].args[0], above)
        if negative and not above and not (all(one.is_number for one in negative) and any(map(_is_count, terms))):
            raise _refusal(expression)
        return self._with_floors(terms, above)

    def _with_floors(self, terms: Iterable[Expr], above: bool) -> Order:
        """Return a sum or a maximum; 1 + ⌊x⌋ and max(1, ⌊x⌋) are at least x/2."""
        every = [one for one in terms if not one.is_zero]
        lifted = any(one.is_number and one >= 1 for one in every)
        plain = [one.args[0] if lifted and isinstance(one, floor) else one for one in every]
        return self._of_some(plain, above, Order.maximum, may_skip=not above)

    def _largest(self, arguments: Iterable[Expr], above: bool) -> Order:
        return self._with_floors((one for one in arguments if not one.is_nonpositive), above)

    def _of_some(
        self, terms: Iterable[Expr], above: bool, join: Callable[[Order, Order], Order], *, may_skip: bool
    ) -> Order:
        """Orders of all terms joined; where leaving some out is on the safe side, those that can be read."""
        found: Order | None = None
        failed: InvalidValue | None = None
        for term in terms:
            try:
                order = self.read(term, above)
            except InvalidValue as error:
                failed = error
                if not may_skip:
                    raise
                continue
            found = order if found is None else _small(join(found, order))
        if found is None:
            raise failed or InvalidValue("order", 0, "a positive formula")
        return found

    def _product(self, expression: Mul, above: bool) -> Order:
        tangents, factors = _half_tangents(expression)
        result = _CONSTANT
        for argument in tangents:  # tanh(x/2) lies between min(1, x)/3 and min(1, x)
            result = result * self.read(argument, above).minimum(_CONSTANT)
        for factor in factors:
            if factor.could_extract_minus_sign():
                raise _refusal(expression)
            result = _small(result * self.read(factor, above))
        return result

    def _logarithm(self, argument: Expr, above: bool) -> Order:
        if above:
            return logarithm(argument)
        inner = self.read(argument, above)
        for term in inner.terms:
            for monomial in term:
                if monomial.exponent(delta) < 0:
                    continue  # δ outweighs the rest
                growing = all(power > 0 if symbol in (records, parameters) else power < 0 and symbol == epsilon
                              for symbol, power in monomial.powers)  # fmt: skip
                if not growing or not monomial.powers:
                    raise _refusal(log(argument))
        kinds = {LOG_DELTA if one.exponent(delta) < 0 else LOG for term in inner.terms for one in term}
        kind = LOG_DELTA if kinds == {LOG_DELTA} else LOG
        return Order.single(Monomial.of({kind: 1} if len(kinds) == 1 else {}))


_CONSTANT = Order.single(ONE)


def _small(order: Order) -> Order:
    if len(order.terms) > _LIMIT:
        raise InvalidValue("order", f"{len(order.terms)} terms", f"a formula of at most {_LIMIT} terms")
    return order


def _number(expression: Expr) -> Order:
    if not expression.is_positive:
        raise _refusal(expression)
    return _CONSTANT


def _refusal(expression: Expr) -> InvalidValue:
    text = str(expression)
    shown = text if len(text) <= 60 else text[:57] + "..."
    return InvalidValue("order", shown, "a formula whose order of growth follows from the rules of this library")


def _is_bounded(exponent: Expr) -> bool:
    """Return whether e^x stays between constants for ε <= 1: x is a multiple of ε."""
    return bool(exponent.free_symbols <= {epsilon} and (exponent / epsilon).is_number and exponent.is_positive)


def _is_count(term: Expr) -> bool:
    """Return whether a term is a positive number times a whole number that grows without end."""
    rest = term.as_coeff_Mul()[1]
    record = by_name().get(getattr(rest, "name", ""))
    return rest in (records, parameters) or bool(isinstance(rest, Symbol) and record and record.domain.whole)


def _half_tangents(expression: Mul) -> tuple[list[Expr], list[Expr]]:
    """Factors (e^x - 1)/(e^x + 1), by their x, and all other factors."""
    factors = list(expression.args)
    found = []
    for one in expression.args:
        if isinstance(one, Add) and len(one.args) == 2 and -1 in one.args:
            (other,) = (part for part in one.args if part != -1)
            below = Pow(other + 1, -1)
            if isinstance(other, exp) and below in factors:
                factors.remove(one)
                factors.remove(below)
                found.append(other.args[0])
    return found, factors
