"""The value of a formula: one walk over a SymPy tree, and back ends for the kinds of numbers.

Rational values stay rational: whole numbers, fractions, and their sums, products, integer powers and perfect roots are
computed exactly, so that comparisons and roundings of them (the branch of a ``Piecewise``, ``ceiling(n / b)``) are
decided exactly whatever the back end. A number enters the back end where the first irrational operation meets it.

=========  =======================  =================================================================================
back end   result                   accuracy
=========  =======================  =================================================================================
arb        ``Enclosure``            proven; the precision is doubled until the digits asked for are certified
mpmath     ``mpmath.mpf``           computed at growing precision until two results agree to these digits
float      ``float``                computed in double precision; cancellation is not watched, tiny values become 0
numpy      array of ``float64``     the same, for arrays of values that are broadcast against each other
=========  =======================  =================================================================================
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal, TypeAlias, overload

import mpmath
import numpy as np
import sympy
from flint import arb
from numpy.typing import NDArray
from sympy.logic.boolalg import Boolean

from dpbounds.errors import MISSING, InvalidValue, NotCertified
from dpbounds.expressions.backends import BackendName, backend_of, to_arb
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.exact import exact
from dpbounds.expressions.symbols import Domain, by_name, domain_of
from dpbounds.expressions.walk import EXACT_BITS, Undecided, Walk, as_number, checked_tree, shown
from dpbounds.expressions.working import working

Values: TypeAlias = Mapping[Any, Any]  # name or symbol -> exact number, text, Enclosure (arb) or array (numpy)

_GUARD_BITS = 32
_MOST_DIGITS = 100_000
_LARGEST_EXPONENT = 1 << 22  # what an exact end may be: from 2**-this to 2**this
_BITS_PER_DIGIT = math.log2(10)


@overload
def evaluate(
    expression: sympy.Expr, values: Values, *, backend: Literal["arb"] = "arb", digits: int = 15
) -> Enclosure: ...
@overload
def evaluate(expression: sympy.Expr, values: Values, *, backend: Literal["float"], digits: int = 15) -> float: ...
@overload
def evaluate(
    expression: sympy.Expr, values: Values, *, backend: Literal["numpy"], digits: int = 15
) -> NDArray[np.float64]: ...
@overload
def evaluate(expression: sympy.Expr, values: Values, *, backend: Literal["mpmath"], digits: int = 15) -> Any: ...


def evaluate(expression: sympy.Expr, values: Values, *, backend: BackendName = "arb", digits: int = 15) -> Any:
    """Evaluate a formula at given values of its symbols.

    Args:
        expression: A SymPy expression with exact rationals only.
        values: A value for every symbol, under its name, an alias of the symbol table, or the symbol itself. Values are
            exact: text ``"0.1"`` is one tenth, a float the binary number it holds. The back end "arb" also takes an
            ``Enclosure``, the back end "numpy" arrays. Values of symbols that do not occur are ignored.
        backend: "arb", "mpmath", "float" or "numpy".
        digits: Significant decimal digits to reach, 1 to 100 000; without effect on "float" and "numpy".

    Returns:
        For "arb" an ``Enclosure`` whose relative width is below ``10**-digits``; its ends are exact, and rounded
        outwards. If a value is itself an enclosure of some width, the result is as narrow as that width lets it be
        (evaluated in ball arithmetic), and its ``digits`` say how narrow. For the other back ends a computed number.

    Raises:
        InvalidValue: A value is missing, outside its domain or not a whole number where one is needed; the expression
            holds a ``Float`` or a node that is not supported; a sub-expression (which the error names) has no finite
            real value there, or overflows in double precision.
        NotCertified: The digits could not be reached below the largest precision, which the error states (a value
            that is exactly zero but not visibly so, or a condition that is exactly on its boundary).

    >>> from sympy import Rational, sqrt
    >>> from dpbounds.expressions.symbols import dataset_size, dimension
    >>> print(evaluate(5 * sqrt(dimension) / (28 * dataset_size), {"d": 2, "n": "1e3"}, digits=8))
    [0.00025253813613805268, 0.00025253813613805269]
    >>> evaluate(dimension ** Rational(1, 3), {dimension: 8}, backend="float")
    2.0
    """
    if isinstance(expression, Boolean) and not isinstance(expression, sympy.Expr):  # SymPy's symbols are both
        raise InvalidValue("expression", shown(expression), "a number-valued formula", "conditions go to decide()")
    if isinstance(digits, bool) or not isinstance(digits, int) or not 1 <= digits <= _MOST_DIGITS:
        raise InvalidValue("digits", digits, f"a whole number from 1 to {_MOST_DIGITS}")
    if backend not in ("float", "numpy", "mpmath", "arb"):
        raise InvalidValue("backend", repr(backend), "one of 'arb', 'mpmath', 'float', 'numpy'")
    tree = checked_tree(expression)
    bound = _bind(tree, values, backend)
    if backend == "arb":
        return _enclose(tree, bound, digits)
    if backend == "mpmath":
        return _compute_in_mpmath(tree, bound, digits)
    with np.errstate(all="ignore"):  # every result is checked where it arises, and the culprit named
        value = Walk(backend_of(backend), bound).value(tree)
        result = as_number(backend_of(backend), value, tree)
    if backend == "float":
        return float(result)
    shape = np.broadcast_shapes(*(np.shape(value) for value in bound.values()))
    return np.array(np.broadcast_to(result, shape), dtype=np.float64)


def decide(condition: Any, values: Values) -> bool:
    """Return whether a condition holds at given values of its symbols, proven.

    Args:
        condition: A SymPy relation, or relations joined by And, Or, Not.
        values: As for ``evaluate`` with the back end "arb".

    Raises:
        InvalidValue: As for ``evaluate``; or the condition is not one.
        NotCertified: Not decided at the largest precision: both sides are irrational and (almost) equal, or a value
            is an enclosure that straddles the boundary.

    >>> from dpbounds.expressions.symbols import dimension, radius
    >>> decide(3 * radius < dimension, {"radius": "1/3", "d": 1})
    False
    """
    if isinstance(condition, bool):
        return condition
    if not isinstance(condition, Boolean):
        raise InvalidValue(
            "condition", shown(condition), "a relation such as epsilon <= 1, or And, Or or Not of relations"
        )
    tree = checked_tree(condition)
    bound = _bind(tree, values, "arb")
    precision, limit = 2 * _GUARD_BITS, _largest_precision(2 * _GUARD_BITS)
    while True:
        try:
            with working(precision):
                answer = Walk(backend_of("arb"), _as_balls(bound)).truth(tree)
            if answer is not None:
                return bool(answer)
            reason = f"{shown(condition)} is not decided"
        except Undecided as why:
            reason = str(why)
        if precision >= limit:
            raise NotCertified(f"{reason} at {limit} bits, the largest precision tried")
        precision = min(2 * precision, limit)


def value_at(tree: Any, values: Mapping[sympy.Symbol, Any], backend: BackendName) -> Any:
    """One walk at the current precision, for callers that raise the precision themselves.

    Raises:
        InvalidValue: A sub-expression has no finite real value there.
        Undecided: The precision does not suffice to tell.
    """
    return Walk(backend_of(backend), values).value(tree)


# --- Values in, numbers out -------------------------------------------------------------------------------------------


def _bind(tree: Any, values: Values, backend: BackendName) -> dict[sympy.Symbol, Any]:
    given: dict[str, Any] = {}
    for key, value in values.items():
        word = key.name if isinstance(key, sympy.Symbol) else str(key)
        record = by_name().get(word)
        name = record.name if record is not None else word
        if name in given:
            raise InvalidValue(word, value, f"given once only ({name} is given under two names)")
        given[name] = value
    bound = {}
    for symbol, domain in _needed(tree):
        if symbol.name not in given:
            record = by_name().get(symbol.name)
            also = f" (or {' or '.join(record.aliases)}=...)" if record is not None and record.aliases else ""
            raise InvalidValue(symbol.name, MISSING, str(domain), f"give {symbol.name}=...{also}")
        bound[symbol] = _admit(symbol.name, given[symbol.name], domain, backend)
    return bound


@lru_cache(maxsize=4096)
def _needed(tree: Any) -> tuple[tuple[sympy.Symbol, Domain], ...]:
    return tuple((symbol, domain_of(symbol)) for symbol in sorted(tree.free_symbols, key=str))


def _admit(name: str, value: Any, domain: Domain, backend: BackendName) -> Any:
    if isinstance(value, Enclosure):
        if backend != "arb":
            raise InvalidValue(name, value, f"an exact number for the back end {backend!r}", "use the back end 'arb'")
        lower, upper = value.exact_lower, value.exact_upper
        if not (isinstance(lower, Fraction) and isinstance(upper, Fraction)):
            raise InvalidValue(name, value, f"{domain}, with finite ends")
        wide = lower != upper
        if not (domain.contains(lower) and domain.contains(upper)) or (domain.whole and wide):
            raise InvalidValue(name, value, str(domain))
        return value if wide else lower
    if backend == "numpy" and (isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim > 0)):
        return _admit_array(name, value, domain)
    number = exact(value, name)
    if not domain.contains(number):
        raise InvalidValue(name, value, str(domain))
    return number


def _admit_array(name: str, value: Any, domain: Domain) -> NDArray[np.float64]:
    array = np.asarray(value)
    if array.dtype.kind in "UO":  # text and fractions: each is exact, then rounded once
        numbers = [exact(entry, name) for entry in array.flat]
        array = np.array([float(number) for number in numbers]).reshape(array.shape)
    if array.dtype.kind not in "iuf":
        raise InvalidValue(name, f"array of {array.dtype}", "numbers")
    array = array.astype(np.float64)
    for entry in (array.min(), array.max()) if array.size else ():
        if not domain.contains(exact(float(entry), name)):  # a NaN or an infinity is refused by exact()
            raise InvalidValue(name, float(entry), str(domain))
    broken = array[array != np.rint(array)] if domain.whole else array[:0]
    if broken.size:
        raise InvalidValue(name, float(broken.flat[0]), str(domain))
    return array


def _as_balls(bound: Mapping[sympy.Symbol, Any]) -> dict[sympy.Symbol, Any]:
    return {symbol: _ball_of(value) if isinstance(value, Enclosure) else value for symbol, value in bound.items()}


def _ball_of(value: Enclosure) -> arb:
    lower, upper = Fraction(value.exact_lower), Fraction(value.exact_upper)
    return to_arb(lower).union(to_arb(upper))


# --- Precision --------------------------------------------------------------------------------------------------------


def _largest_precision(start: int) -> int:
    return max(1 << 15, 8 * start)


def _enclose(tree: Any, bound: Mapping[sympy.Symbol, Any], digits: int) -> Enclosure:
    inexact = any(isinstance(value, Enclosure) for value in bound.values())
    precision = math.ceil(digits * _BITS_PER_DIGIT) + _GUARD_BITS
    limit, previous = _largest_precision(precision), None
    while True:
        try:
            with working(precision):
                value = Walk(backend_of("arb"), _as_balls(bound)).value(tree)
                if isinstance(value, Fraction):
                    return Enclosure.exactly(value)
                enclosure = _ball_to_enclosure(value, tree, precision)
            if enclosure.exact_lower == enclosure.exact_upper or enclosure.digits >= digits:
                return enclosure
            # A width that stems from the values does not shrink any more: the enclosure is as good as they are.
            if inexact and previous is not None and _width(enclosure) > Fraction(99, 100) * _width(previous):
                return enclosure
            previous = enclosure
            reason = f"{shown(tree)}: {enclosure.digits} of {digits} digits are certified"
        except Undecided as why:
            reason = str(why)
        if precision >= limit:
            raise NotCertified(f"{reason} at {limit} bits, the largest precision tried")
        precision = min(2 * precision, limit)


def _width(enclosure: Enclosure) -> Fraction:
    return Fraction(enclosure.exact_upper) - Fraction(enclosure.exact_lower)


def _ball_to_enclosure(ball: arb, tree: Any, precision: int) -> Enclosure:
    if not ball.is_zero():
        size = abs(ball).upper()
        if not size < arb(2) ** _LARGEST_EXPONENT:
            raise NotCertified(f"{shown(tree)}: larger than 2**{_LARGEST_EXPONENT}, so exact ends would be too long")
        if size < arb(2) ** -_LARGEST_EXPONENT:
            raise NotCertified(f"{shown(tree)}: below 2**-{_LARGEST_EXPONENT}, so exact ends would be too long")
    return Enclosure.from_balls(ball, ball, "closed form", precision)


def _compute_in_mpmath(tree: Any, bound: Mapping[sympy.Symbol, Any], digits: int) -> Any:
    """Computed at growing precision until two results in a row agree: a warning light for cancellation, no proof.

    It starts with as many bits as the values themselves have, so that 1 + 1e-200 is not 1; a result that is zero by
    cancellation (an exact zero is a ``Fraction``) never counts as settled.
    """
    backend = backend_of("mpmath")
    lengths = [max(value.numerator.bit_length(), value.denominator.bit_length()) for value in bound.values()]
    precision = math.ceil(digits * _BITS_PER_DIGIT) + _GUARD_BITS + min(2 * max(lengths, default=0), EXACT_BITS)
    limit, previous = _largest_precision(precision), None
    while precision <= limit:
        with mpmath.workprec(precision):
            value = Walk(backend, bound).value(tree)
            if isinstance(value, Fraction):
                return backend.number(value)
            agreed = previous is not None and abs(value - previous) < abs(value) * mpmath.mpf(10) ** -digits
        if agreed:
            return value
        previous, precision = value, 2 * precision
    raise NotCertified(f"{shown(tree)}: {digits} digits did not settle below {limit} bits, the largest precision tried")
