"""Evaluation of a SymPy tree with a back end: the known kinds of nodes, and their values."""

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache, reduce
from typing import Any

import numpy as np
import sympy

from dpbounds.errors import InvalidValue
from dpbounds.expressions.backends import ELEMENTARY, Backend, Truth
from dpbounds.expressions.symbols import Domain

EXACT_BITS = 1 << 14  # rational numbers longer than this are handed to the back end
_LARGEST_FACTORIAL = 2_000


class Undecided(Exception):
    """A condition or an argument that this precision does not decide; caught where the precision is raised."""


def shown(node: Any, longest: int = 160) -> str:
    """Return a node as text, cut where it is too long for a message."""
    text = str(node)
    return text if len(text) <= longest else text[: longest - 4] + " ..."


def checked_tree(tree: Any) -> Any:
    """Return the expression itself, if every node is one that the walk knows and no ``Float`` is in it.

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
            raise InvalidValue("part of an expression", f"{type(node).__name__} {shown(node, 60)}", allowed)


def as_number(backend: Backend, value: Any, node: Any) -> Any:
    """Return the value of ``node`` as a number of the back end: a ``Fraction`` enters it here."""
    if not isinstance(value, Fraction):
        return value
    try:
        return backend.number(value)
    except OverflowError:
        raise overflow(node, backend) from None


def overflow(node: Any, backend: Backend) -> InvalidValue:
    """Return the error for a node whose value the back end cannot hold."""
    advice = "use the back end 'arb' or 'mpmath'" if backend.name in ("float", "numpy") else ""
    return InvalidValue(shown(node), "not a finite number", "a finite real value (neither overflow nor NaN)", advice)


class Walk:
    """One pass over a tree. A value is a ``Fraction`` as long as it is known exactly, else a number of the back end."""

    def __init__(self, backend: Backend, values: Mapping[sympy.Symbol, Any]) -> None:
        self.backend, self.values = backend, values
        self.seen: dict[Any, Any] = {}  # sub-expressions that occur twice are evaluated once

    def value(self, node: Any) -> Any:
        """Return the value of a node, each sub-expression once."""
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
            and result.numerator.bit_length() + result.denominator.bit_length() > EXACT_BITS
        ):
            result = self._number(result, node)
        self.seen[node] = result
        return result

    def truth(self, node: Any) -> Truth:
        """Return whether a condition holds; ``None`` where this precision does not tell."""
        if node is sympy.true or node is sympy.false:
            return bool(node)
        if isinstance(node, sympy.And | sympy.Or):
            return reduce(_and if isinstance(node, sympy.And) else _or, (self.truth(part) for part in node.args))
        if isinstance(node, sympy.Not):
            return _not(self.truth(node.args[0]))
        if not isinstance(node, sympy.core.relational.Relational):
            raise InvalidValue("condition", shown(node), "a relation such as epsilon <= 1, or And, Or, Not of some")
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
                raise InvalidValue(f"{shown(node.base)} in {shown(node)}", 0, "different from 0 (it is divided by)")
            return base
        if base < 0 and exponent.denominator != 1:
            self._within(node, base, _NONNEGATIVE)
        size = base.numerator.bit_length() + base.denominator.bit_length()
        if abs(exponent.numerator) * size <= EXACT_BITS:
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
            raise Undecided(f"{shown(node)} is not decided")
        return rounded

    def _piecewise(self, node: Any) -> Any:
        arrays = {symbol: value for symbol, value in self.values.items() if isinstance(value, np.ndarray)}
        if arrays:
            return self._piecewise_on_arrays(node, arrays)
        for branch, condition in node.args:
            holds = self.truth(condition)
            if holds is None:
                raise Undecided(f"the condition {shown(condition)} is not decided")
            if holds:
                return self.value(branch)
        raise InvalidValue(shown(node), "no branch", "a point where one of its conditions holds")

    def _piecewise_on_arrays(self, node: Any, arrays: dict[sympy.Symbol, Any]) -> Any:
        # Each branch is evaluated only where it is chosen: elsewhere it may not be defined.
        shape = np.broadcast_shapes(*(array.shape for array in arrays.values()))
        flat = {symbol: np.broadcast_to(array, shape).ravel() for symbol, array in arrays.items()}
        result = np.empty(math.prod(shape))
        left = np.arange(result.size)
        for branch, condition in node.args:
            if left.size == 0:
                break
            walk = Walk(self.backend, {**self.values, **{symbol: array[left] for symbol, array in flat.items()}})
            chosen = np.broadcast_to(np.asarray(walk.truth(condition), dtype=bool), left.shape)
            here = left[chosen]
            if here.size:
                walk = Walk(self.backend, {**self.values, **{symbol: array[here] for symbol, array in flat.items()}})
                result[here] = self._number(walk.value(branch), branch)
            left = left[~chosen]
        if left.size:
            raise InvalidValue(shown(node), "no branch", "points where one of its conditions holds")
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
                raise InvalidValue(f"argument of {shown(node)}", arguments[0], "no whole number below 1 (a pole)")
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
                counts[1] > counts[0] or min(counts[1], counts[0] - counts[1]) <= EXACT_BITS // 64
            ):
                return Fraction(math.comb(*counts))
        if name == "binomial":
            excess = self._less(arguments[0], arguments[1])
            self._require(node, _not(excess), arguments[1], f"at most {shown(node.args[0])} unless both are whole")
        return self._call(node, self.backend.functions[name], *self._numbers(node, *arguments))

    def _lambert(self, node: Any, argument: Any, branch: Any = Fraction(0)) -> Any:
        if not isinstance(branch, Fraction) or branch not in (0, -1):
            raise InvalidValue(f"branch of {shown(node)}", branch, "0 or -1 (the real branches)")
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
        return as_number(self.backend, value, node)

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
            raise Undecided(f"whether an argument of {shown(node)} is {allowed} is not decided")
        if not np.all(holds):
            culprit = np.broadcast_to(value, np.shape(holds))[~holds].flat[0] if np.ndim(holds) else value
            raise InvalidValue(f"argument of {shown(node)}", culprit, allowed)

    def _call(self, node: Any, function: Callable[..., Any], *arguments: Any) -> Any:
        try:
            result = function(*arguments)
        except (OverflowError, ZeroDivisionError, ValueError):
            raise overflow(node, self.backend) from None
        return self._checked(node, result)

    def _checked(self, node: Any, result: Any) -> Any:
        defined = self.backend.defined(result)
        if defined is None:
            raise Undecided(f"{shown(node)} is not known to be finite")
        if not defined:
            raise overflow(node, self.backend)
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
    over = _whole_root(value.numerator, degree)
    under = None if over is None else _whole_root(value.denominator, degree)
    return None if over is None or under is None else Fraction(over, under)


def _whole_root(number: int, degree: int) -> int | None:
    """Return the root if it is a whole number; below 2^50 a double's root is off by less than 1/2."""
    if number < 1 << 50:
        root = round(number ** (1 / degree))
        return root if root**degree == number else None
    large, is_exact = sympy.integer_nthroot(number, degree)
    return int(large) if is_exact else None


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
