"""The value of a formula: one walk over a SymPy tree, and back ends that say what a number is.

What is rational stays rational: whole numbers, fractions, and their sums, products, integer powers and perfect roots
are computed exactly, so that comparisons and roundings of them (the branch of a ``Piecewise``, ``ceiling(n / b)``) are
decided exactly whatever the back end. A number enters the back end where the first irrational operation meets it.

=========  =======================  =================================================================================
back end   result                   accuracy
=========  =======================  =================================================================================
arb        ``Enclosure``            proven; the precision is doubled until so many digits are certified
mpmath     ``mpmath.mpf``           computed at growing precision until two results agree to so many digits
float      ``float``                computed in double precision; cancellation is not watched, tiny values become 0
numpy      array of ``float64``     the same, for arrays of values that are broadcast against each other
=========  =======================  =================================================================================
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache, reduce
from typing import Any, Literal, TypeAlias, overload

import flint
import mpmath
import numpy as np
import sympy
from flint import arb
from numpy.typing import NDArray
from sympy.logic.boolalg import Boolean

from dpbounds.errors import InvalidValue, NotCertified
from dpbounds.expressions.backends import ELEMENTARY, Backend, BackendName, Truth, backend_of, to_arb
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.exact import exact
from dpbounds.expressions.symbols import Domain, by_name, domain_of

Values: TypeAlias = Mapping[Any, Any]  # name or symbol -> exact number, text, Enclosure (arb) or array (numpy)

_GUARD_BITS = 32
_MOST_DIGITS = 100_000
_EXACT_BITS = 1 << 14  # rational numbers longer than this are handed to the back end
_LARGEST_EXPONENT = 1 << 22  # what an exact end may be: from 2**-this to 2**this
_LARGEST_FACTORIAL = 2_000
_BITS_PER_DIGIT = math.log2(10)


class Undecided(Exception):
    """A condition or an argument that this precision does not decide; caught where the precision is raised."""


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
        values: A value for every symbol, under its name, an alias of the symbol table, or the symbol itself. Values
            are exact: text ``"0.1"`` is one tenth, a float the binary number it holds. The back end "arb" also takes
            an ``Enclosure``, the back end "numpy" arrays. Values of symbols that do not occur are not looked at.
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
        raise InvalidValue("expression", _shown(expression), "a number-valued formula", "conditions go to decide()")
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
        value = _Walk(backend_of(backend), bound).value(tree)
        result = _as_number(backend_of(backend), value, tree)
    if backend == "float":
        return float(result)
    shape = np.broadcast_shapes(*(np.shape(value) for value in bound.values()))
    return np.array(np.broadcast_to(result, shape), dtype=np.float64)


def decide(condition: Any, values: Values) -> bool:
    """Whether a condition holds at given values of its symbols, proven.

    Args:
        condition: A SymPy relation, or relations joined by And, Or, Not.
        values: As for ``evaluate`` with the back end "arb".

    Returns:
        The proven truth value.

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
        raise InvalidValue("condition", _shown(condition), "a relation such as epsilon <= 1, or And, Or, Not of some")
    tree = checked_tree(condition)
    bound = _bind(tree, values, "arb")
    precision, limit = 2 * _GUARD_BITS, _largest_precision(2 * _GUARD_BITS)
    while True:
        try:
            with flint.ctx.workprec(precision):
                answer = _Walk(backend_of("arb"), _as_balls(bound)).truth(tree)
            if answer is not None:
                return bool(answer)
            reason = f"{_shown(condition)} is not decided"
        except Undecided as why:
            reason = str(why)
        if precision >= limit:
            raise NotCertified(f"{reason} at {limit} bits, the largest precision tried")
        precision = min(2 * precision, limit)


def value_at(tree: Any, values: Mapping[sympy.Symbol, Any], backend: BackendName) -> Any:
    """One walk at the current precision, for callers that raise the precision themselves.

    Args:
        tree: An expression that ``checked_tree`` has passed.
        values: For each symbol an exact ``Fraction`` or a number of the back end; domains are not looked at.
        backend: The back end's name.

    Returns:
        A ``Fraction`` where the value is known exactly, else a number of the back end.

    Raises:
        InvalidValue: A sub-expression has no finite real value there.
        Undecided: The precision does not suffice to tell.
    """
    return _Walk(backend_of(backend), values).value(tree)


# --- Values in, numbers out -------------------------------------------------------------------------------------------


def _shown(node: Any, longest: int = 160) -> str:
    text = str(node)
    return text if len(text) <= longest else text[: longest - 4] + " ..."


def checked_tree(tree: Any) -> Any:
    """The expression itself, if every node is one that the walk knows and no ``Float`` is in it.

    Raises:
        InvalidValue: Otherwise; the message names the node.
    """
    if not isinstance(tree, sympy.Basic):
        raise InvalidValue("expression", repr(tree), "a SymPy expression", "wrap numbers with sympy.Rational")
    _check_nodes(tree)
    return tree


@lru_cache(maxsize=4096)
def _check_nodes(tree: Any) -> None:
    for node in sympy.preorder_traversal(tree):
        if isinstance(node, sympy.Float):
            advice = "write sympy.Rational(1, 10) instead of 0.1"
            raise InvalidValue("number in an expression", node, "exact rational numbers only", advice)
        if not isinstance(node, _KNOWN):
            allowed = "one of " + ", ".join(sorted(known.__name__ for known in _KNOWN))
            raise InvalidValue("part of an expression", f"{type(node).__name__} {_shown(node, 60)}", allowed)


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
            raise InvalidValue(symbol.name, "(missing)", str(domain), f"give {symbol.name}=...{also}")
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


def _as_number(backend: Backend, value: Any, node: Any) -> Any:
    if not isinstance(value, Fraction):
        return value
    try:
        return backend.number(value)
    except OverflowError:
        raise _overflow(node, backend) from None


def _overflow(node: Any, backend: Backend) -> InvalidValue:
    advice = "use the back end 'arb' or 'mpmath'" if backend.name in ("float", "numpy") else ""
    return InvalidValue(_shown(node), "not a finite number", "a finite real value (neither overflow nor NaN)", advice)


# --- Precision --------------------------------------------------------------------------------------------------------


def _largest_precision(start: int) -> int:
    return max(1 << 15, 8 * start)


def _enclose(tree: Any, bound: Mapping[sympy.Symbol, Any], digits: int) -> Enclosure:
    inexact = any(isinstance(value, Enclosure) for value in bound.values())
    precision = math.ceil(digits * _BITS_PER_DIGIT) + _GUARD_BITS
    limit, previous = _largest_precision(precision), None
    while True:
        try:
            with flint.ctx.workprec(precision):
                value = _Walk(backend_of("arb"), _as_balls(bound)).value(tree)
                if isinstance(value, Fraction):
                    return Enclosure.exactly(value)
                enclosure = _ball_to_enclosure(value, tree, precision)
            if enclosure.exact_lower == enclosure.exact_upper or enclosure.digits >= digits:
                return enclosure
            # A width that stems from the values does not shrink any more: the enclosure is as good as they are.
            if inexact and previous is not None and _width(enclosure) > Fraction(99, 100) * _width(previous):
                return enclosure
            previous = enclosure
            reason = f"{_shown(tree)}: {enclosure.digits} of {digits} digits are certified"
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
            raise NotCertified(f"{_shown(tree)}: larger than 2**{_LARGEST_EXPONENT}, so exact ends would be too long")
        if size < arb(2) ** -_LARGEST_EXPONENT:
            raise NotCertified(f"{_shown(tree)}: below 2**-{_LARGEST_EXPONENT}, so exact ends would be too long")
    return Enclosure.from_balls(ball, ball, "closed form", precision)


def _compute_in_mpmath(tree: Any, bound: Mapping[sympy.Symbol, Any], digits: int) -> Any:
    """Computed at growing precision until two results in a row agree: a warning light for cancellation, no proof.

    It starts with as many bits as the values themselves have, so that 1 + 1e-200 is not 1; a result that is zero by
    cancellation (an exact zero is a ``Fraction``) never counts as settled.
    """
    backend = backend_of("mpmath")
    lengths = [max(value.numerator.bit_length(), value.denominator.bit_length()) for value in bound.values()]
    precision = math.ceil(digits * _BITS_PER_DIGIT) + _GUARD_BITS + min(2 * max(lengths, default=0), _EXACT_BITS)
    limit, previous = _largest_precision(precision), None
    while precision <= limit:
        with mpmath.workprec(precision):
            value = _Walk(backend, bound).value(tree)
            if isinstance(value, Fraction):
                return backend.number(value)
            agreed = previous is not None and abs(value - previous) < abs(value) * mpmath.mpf(10) ** -digits
        if agreed:
            return value
        previous, precision = value, 2 * precision
    raise NotCertified(
        f"{_shown(tree)}: {digits} digits did not settle below {limit} bits, the largest precision tried"
    )


# --- The walk ---------------------------------------------------------------------------------------------------------


class _Walk:
    """One pass over a tree. A value is a ``Fraction`` as long as it is known exactly, else a number of the back end."""

    def __init__(self, backend: Backend, values: Mapping[sympy.Symbol, Any]) -> None:
        self.backend, self.values = backend, values
        self.seen: dict[Any, Any] = {}  # sub-expressions that occur twice are evaluated once

    def value(self, node: Any) -> Any:
        if node.is_Symbol:
            return self.values[node]
        if node.is_Rational:
            return Fraction(int(node.p), int(node.q))
        if node in self.seen:
            return self.seen[node]
        if node.is_Add:
            result = self._sum(node)
        elif node.is_Mul:
            result = self._product(node)
        elif node.is_Pow:
            result = self._power(node)
        elif node is sympy.pi or node is sympy.E:  # both are singletons
            result = self.backend.constants[str(node).lower()]()
        elif isinstance(node, sympy.Piecewise):
            result = self._piecewise(node)
        elif isinstance(node, sympy.Max | sympy.Min):
            result = self._extreme(node)
        elif isinstance(node, sympy.floor | sympy.ceiling):
            result = self._whole(node)
        else:
            result = self._function(node)
        if (
            isinstance(result, Fraction)
            and result.numerator.bit_length() + result.denominator.bit_length() > _EXACT_BITS
        ):
            result = self._number(result, node)
        self.seen[node] = result
        return result

    def truth(self, node: Any) -> Truth:
        if node is sympy.true or node is sympy.false:
            return bool(node)
        if isinstance(node, sympy.And | sympy.Or):
            return reduce(_and if isinstance(node, sympy.And) else _or, (self.truth(part) for part in node.args))
        if isinstance(node, sympy.Not):
            return _not(self.truth(node.args[0]))
        if not isinstance(node, sympy.core.relational.Relational):
            raise InvalidValue("condition", _shown(node), "a relation such as epsilon <= 1, or And, Or, Not of some")
        left, right = (self.value(part) for part in node.args)
        kind = node.rel_op
        if kind in (">", ">="):
            left, right, kind = right, left, "<" if kind == ">" else "<="
        if kind == "<":
            return self._less(left, right)
        if kind == "<=":
            return _not(self._less(right, left))
        same = left == right if _both_exact(left, right) else self.backend.equal(*self._numbers(node, left, right))
        return same if kind == "==" else _not(same)

    # Arithmetic: the exact part is added or multiplied up exactly, then meets the rest once.

    def _sum(self, node: Any) -> Any:
        parts = [self.value(part) for part in node.args]
        known = sum((part for part in parts if isinstance(part, Fraction)), Fraction(0))
        rest = [part for part in parts if not isinstance(part, Fraction)]
        if not rest:
            return known
        total = reduce(lambda a, b: a + b, rest)
        return self._checked(node, total + self._number(known, node) if known else total)

    def _product(self, node: Any) -> Any:
        parts = [self.value(part) for part in node.args]
        known = math.prod((part for part in parts if isinstance(part, Fraction)), start=Fraction(1))
        rest = [part for part in parts if not isinstance(part, Fraction)]
        if not rest or known == 0:  # every part has been found finite, so that 0 times it is 0
            return known
        total = reduce(lambda a, b: a * b, rest)
        return self._checked(node, total * self._number(known, node) if known != 1 else total)

    def _power(self, node: Any) -> Any:
        base, exponent = self.value(node.base), self.value(node.exp)
        if isinstance(exponent, Fraction):
            if exponent == 0:
                return Fraction(1)
            if isinstance(base, Fraction):
                return self._exact_power(node, base, exponent)
            if exponent.denominator == 1:
                if exponent < 0:
                    self._require(node, self._nonzero(base), base, "different from 0 (it is divided by)")
            else:
                self._within(node, base, _NONNEGATIVE if exponent > 0 else _POSITIVE)
            return self._call(node, self.backend.power, base, exponent)
        if isinstance(base, Fraction) and base in (0, 1):
            if base == 0:
                self._within(node, exponent, _POSITIVE)
            return base
        self._within(node, base, _POSITIVE)
        return self._call(node, self.backend.power, self._number(base, node), exponent)

    def _exact_power(self, node: Any, base: Fraction, exponent: Fraction) -> Any:
        if base == 0:
            if exponent < 0:
                raise InvalidValue(f"{_shown(node.base)} in {_shown(node)}", 0, "different from 0 (it is divided by)")
            return base
        if base < 0 and exponent.denominator != 1:
            self._within(node, base, _NONNEGATIVE)
        size = base.numerator.bit_length() + base.denominator.bit_length()
        if abs(exponent.numerator) * size <= _EXACT_BITS:
            root = base if exponent.denominator == 1 else _perfect_root(base, exponent.denominator)
            if root is not None:
                return root**exponent.numerator
        return self._call(node, self.backend.power, self._number(base, node), exponent)

    def _extreme(self, node: Any) -> Any:
        parts = [self.value(part) for part in node.args]
        choose, name = (max, "Max") if isinstance(node, sympy.Max) else (min, "Min")
        known = [part for part in parts if isinstance(part, Fraction)]
        rest = [part for part in parts if not isinstance(part, Fraction)]
        if not rest:
            return choose(known)
        best = reduce(self.backend.functions[name], rest)
        if not known:
            return best
        exact_best = choose(known)
        known_wins = self._less(best, exact_best) if choose is max else self._less(exact_best, best)
        if known_wins is True:
            return exact_best
        return best if known_wins is False else self.backend.functions[name](best, self._number(exact_best, node))

    def _whole(self, node: Any) -> Any:
        inner = self.value(node.args[0])
        direction = "down" if isinstance(node, sympy.floor) else "up"
        if isinstance(inner, Fraction):
            return Fraction(math.floor(inner) if direction == "down" else math.ceil(inner))
        rounded = self.backend.whole(inner, direction)
        if rounded is None:
            raise Undecided(f"{_shown(node)} is not decided")
        return rounded

    def _piecewise(self, node: Any) -> Any:
        arrays = {symbol: value for symbol, value in self.values.items() if isinstance(value, np.ndarray)}
        if arrays:
            return self._piecewise_on_arrays(node, arrays)
        for branch, condition in node.args:
            holds = self.truth(condition)
            if holds is None:
                raise Undecided(f"the condition {_shown(condition)} is not decided")
            if holds:
                return self.value(branch)
        raise InvalidValue(_shown(node), "no branch", "a point where one of its conditions holds")

    def _piecewise_on_arrays(self, node: Any, arrays: dict[sympy.Symbol, Any]) -> Any:
        # Each branch is evaluated only where it is chosen: elsewhere it may not be defined.
        shape = np.broadcast_shapes(*(array.shape for array in arrays.values()))
        flat = {symbol: np.broadcast_to(array, shape).ravel() for symbol, array in arrays.items()}
        result = np.empty(math.prod(shape))
        left = np.arange(result.size)
        for branch, condition in node.args:
            if left.size == 0:
                break
            walk = _Walk(self.backend, {**self.values, **{symbol: array[left] for symbol, array in flat.items()}})
            chosen = np.broadcast_to(np.asarray(walk.truth(condition), dtype=bool), left.shape)
            here = left[chosen]
            if here.size:
                walk = _Walk(self.backend, {**self.values, **{symbol: array[here] for symbol, array in flat.items()}})
                result[here] = self._number(walk.value(branch), branch)
            left = left[~chosen]
        if left.size:
            raise InvalidValue(_shown(node), "no branch", "points where one of its conditions holds")
        return result.reshape(shape)

    def _function(self, node: Any) -> Any:
        name = type(node).__name__
        arguments = [self.value(part) for part in node.args]
        if name == "Abs" and isinstance(arguments[0], Fraction):
            return abs(arguments[0])
        if name in ("binomial", "factorial"):
            return self._combinatorial(node, name, arguments)
        if name == "LambertW":
            return self._lambert(node, *arguments)
        if name == "beta" and len(arguments) == 1:
            arguments = arguments * 2
        for argument, domain in zip(arguments, _DOMAINS.get(name, ()), strict=False):
            self._within(node, argument, domain)
        known = (
            _EXACT_VALUES.get(name, {}).get(arguments[0]) if len(arguments) == 1 and _both_exact(*arguments) else None
        )
        if known is not None:
            return known
        if name == "gamma" and isinstance(arguments[0], Fraction) and arguments[0].denominator == 1:
            if arguments[0] <= 0:
                raise InvalidValue(f"argument of {_shown(node)}", arguments[0], "no whole number below 1 (a pole)")
            if arguments[0] <= _LARGEST_FACTORIAL:
                return Fraction(math.factorial(int(arguments[0]) - 1))
        if name == "betainc_regularized":
            return self._beta_share(node, *arguments)
        return self._call(node, self.backend.functions[name], *self._numbers(node, *arguments))

    def _combinatorial(self, node: Any, name: str, arguments: list[Any]) -> Any:
        for argument in arguments:
            self._within(node, argument, _NONNEGATIVE)
        if all(isinstance(part, Fraction) and part.denominator == 1 for part in arguments):
            counts = [int(part) for part in arguments]
            if name == "factorial" and counts[0] <= _LARGEST_FACTORIAL:
                return Fraction(math.factorial(counts[0]))
            if name == "binomial" and (
                counts[1] > counts[0] or min(counts[1], counts[0] - counts[1]) <= _EXACT_BITS // 64
            ):
                return Fraction(math.comb(*counts))
        if name == "binomial":
            excess = self._less(arguments[0], arguments[1])
            self._require(node, _not(excess), arguments[1], f"at most {_shown(node.args[0])} unless both are whole")
        return self._call(node, self.backend.functions[name], *self._numbers(node, *arguments))

    def _lambert(self, node: Any, argument: Any, branch: Any = Fraction(0)) -> Any:
        if not isinstance(branch, Fraction) or branch not in (0, -1):
            raise InvalidValue(f"branch of {_shown(node)}", branch, "0 or -1 (the real branches)")
        if isinstance(argument, Fraction) and argument == 0 and branch == 0:
            return argument
        lowest = -1 / self.backend.constants["e"]()
        allowed = "at least -1/e" if branch == 0 else "at least -1/e and less than 0"
        self._require(node, _not(self._less(argument, lowest)), argument, allowed)
        if branch == -1:
            self._require(node, self._less(argument, Fraction(0)), argument, allowed)
        return self._call(node, self.backend.functions["LambertW"], self._number(argument, node), int(branch))

    def _beta_share(self, node: Any, first: Any, second: Any, start: Any, end: Any) -> Any:
        def share(point: Any) -> Any:
            if isinstance(point, Fraction) and point in (0, 1):
                return point
            numbers = self._numbers(node, first, second, point)
            return self._call(node, self.backend.functions["betainc_regularized"], *numbers)

        upper, lower = share(end), share(start)
        if isinstance(lower, Fraction) and lower == 0:
            return upper
        if _both_exact(upper, lower):
            return upper - lower
        upper, lower = self._numbers(node, upper, lower)
        return self._checked(node, upper - lower)

    # Checks: a culprit is named by the sub-expression in which it arises.

    def _number(self, value: Any, node: Any) -> Any:
        return _as_number(self.backend, value, node)

    def _numbers(self, node: Any, *values: Any) -> tuple[Any, ...]:
        return tuple(self._number(value, node) for value in values)

    def _less(self, left: Any, right: Any) -> Truth:
        if _both_exact(left, right):
            return left < right
        return self.backend.less(*self._numbers("a comparison", left, right))

    def _nonzero(self, value: Any) -> Truth:
        return _not(self.backend.equal(value, self.backend.number(Fraction(0))))

    def _within(self, node: Any, value: Any, domain: Domain) -> None:
        for end, is_open, is_lower in (
            (domain.lower, domain.lower_open, True),
            (domain.upper, domain.upper_open, False),
        ):
            if end is not None:
                if is_open:
                    inside = self._less(end, value) if is_lower else self._less(value, end)
                else:
                    inside = _not(self._less(value, end) if is_lower else self._less(end, value))
                self._require(node, inside, value, str(domain))

    def _require(self, node: Any, holds: Truth, value: Any, allowed: str) -> None:
        if holds is None:
            raise Undecided(f"whether an argument of {_shown(node)} is {allowed} is not decided")
        if not np.all(holds):
            culprit = np.broadcast_to(value, np.shape(holds))[~holds].flat[0] if np.ndim(holds) else value
            raise InvalidValue(f"argument of {_shown(node)}", culprit, allowed)

    def _call(self, node: Any, function: Callable[..., Any], *arguments: Any) -> Any:
        try:
            result = function(*arguments)
        except (OverflowError, ZeroDivisionError, ValueError):
            raise _overflow(node, self.backend) from None
        return self._checked(node, result)

    def _checked(self, node: Any, result: Any) -> Any:
        defined = self.backend.defined(result)
        if defined is None:
            raise Undecided(f"{_shown(node)} is not known to be finite")
        if not defined:
            raise _overflow(node, self.backend)
        return result


def _both_exact(*values: Any) -> bool:
    return all(isinstance(value, Fraction) for value in values)


def _not(truth: Truth) -> Truth:
    if isinstance(truth, np.ndarray):
        return ~truth
    return None if truth is None else not truth


def _and(left: Truth, right: Truth) -> Truth:
    if isinstance(left, np.ndarray) or isinstance(right, np.ndarray):
        return np.logical_and(left, right)
    if left is False or right is False:
        return False
    return None if left is None or right is None else True


def _or(left: Truth, right: Truth) -> Truth:
    return _not(_and(_not(left), _not(right)))


def _perfect_root(value: Fraction, degree: int) -> Fraction | None:
    parts = []
    for part in (value.numerator, value.denominator):
        root, is_exact = sympy.integer_nthroot(part, degree)
        if not is_exact:
            return None
        parts.append(int(root))
    return Fraction(*parts)


_POSITIVE = Domain(Fraction(0))
_NONNEGATIVE = Domain(Fraction(0), lower_open=False)
_SHARE = Domain(Fraction(0), Fraction(1), lower_open=False, upper_open=False)
_SINE = Domain(Fraction(-1), Fraction(1), lower_open=False, upper_open=False)
_DOMAINS: dict[str, tuple[Domain, ...]] = {
    "log": (_POSITIVE,),
    "loggamma": (_POSITIVE,),
    "beta": (_POSITIVE, _POSITIVE),
    "betainc_regularized": (_POSITIVE, _POSITIVE, _SHARE, _SHARE),
    "asin": (_SINE,),
    "acos": (_SINE,),
}
_AT_ZERO = {Fraction(0): Fraction(0)}
_EXACT_VALUES: dict[str, dict[Fraction, Fraction]] = {
    "exp": {Fraction(0): Fraction(1)},
    "log": {Fraction(1): Fraction(0)},
    "erfc": {Fraction(0): Fraction(1)},
    "cos": {Fraction(0): Fraction(1)},
    "cosh": {Fraction(0): Fraction(1)},
    **dict.fromkeys(("erf", "sin", "tan", "asin", "atan", "sinh", "tanh"), _AT_ZERO),
}
_SYMPY_FUNCTIONS = (*ELEMENTARY, "erf", "erfc", "gamma", "loggamma", "LambertW", "beta", "betainc_regularized")
_KNOWN: tuple[type, ...] = (
    *(sympy.Symbol, sympy.Rational, sympy.Add, sympy.Mul, sympy.Pow, type(sympy.pi), type(sympy.E)),
    *(sympy.Piecewise, sympy.functions.elementary.piecewise.ExprCondPair, sympy.Max, sympy.Min, sympy.Abs),
    *(sympy.floor, sympy.ceiling, sympy.binomial, sympy.factorial, sympy.core.relational.Relational),
    *(sympy.And, sympy.Or, sympy.Not, type(sympy.true), type(sympy.false)),
    *(getattr(sympy, name) for name in _SYMPY_FUNCTIONS),
)
