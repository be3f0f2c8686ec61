"""Back ends: kinds of numbers (a double, an array, an mpmath number, a ball) and their operations."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any, Literal, TypeAlias

import mpmath
import numpy as np
from flint import arb, fmpq

from dpbounds.expressions.working import working_bits

BackendName = Literal["float", "numpy", "mpmath", "arb"]
Truth: TypeAlias = Any  # True, False, None (not decided at this precision) or an array of truth values

ELEMENTARY = ("exp", "log", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh")
_LONGEST_SERIES = 100_000


@dataclass(frozen=True, slots=True)
class Backend:
    """The numbers of a backend, and the operations on them.

    Attributes:
        number: A rational number as a number of this back end.
        constants: ``pi`` and ``E``.
        power: A number to a rational (``Fraction``) or real power; the base has been checked.
        functions: Functions by their SymPy name; the arguments have been checked.
        less: Whether a < b: a truth value, ``None`` if not decided, or an array of truth values.
        whole: A number rounded "down" or "up" to a whole one, or ``None`` if not decided.
        defined: Whether a result is a finite real number; ``None`` if more precision may make it one.
    """

    name: BackendName
    number: Callable[[Fraction], Any]
    constants: Mapping[str, Callable[[], Any]]
    power: Callable[[Any, Any], Any]
    functions: Mapping[str, Callable[..., Any]]
    less: Callable[[Any, Any], Truth]
    equal: Callable[[Any, Any], Truth]
    whole: Callable[[Any, str], Any]
    defined: Callable[[Any], bool | None]


@cache
def backend_of(name: BackendName) -> Backend:
    """Return the back end of that name."""
    return {"float": _float_backend, "numpy": _numpy_backend, "mpmath": _mpmath_backend, "arb": _arb_backend}[name]()


def _float_backend() -> Backend:
    from scipy import special

    def power(base: float, exponent: Fraction | float) -> float:
        if exponent == Fraction(1, 2):
            return math.sqrt(base)
        if exponent == Fraction(1, 3):
            return math.cbrt(base)
        return math.pow(base, exponent)

    def special_function(function: Any) -> Callable[..., float]:
        return lambda *arguments: float(np.real(function(*arguments)))

    return Backend(
        name="float",
        number=float,
        constants={"pi": lambda: math.pi, "e": lambda: math.e},
        power=power,
        functions={
            **{name: getattr(math, name) for name in (*ELEMENTARY, "erf", "erfc", "gamma")},
            "Abs": abs,
            "Max": max,
            "Min": min,
            "loggamma": math.lgamma,
            "beta": special_function(special.beta),
            "LambertW": special_function(special.lambertw),
            "betainc_regularized": special_function(special.betainc),
            "binomial": special_function(special.binom),
            "factorial": lambda n: math.gamma(n + 1),
        },
        less=lambda a, b: a < b,
        equal=lambda a, b: a == b,
        whole=lambda a, direction: Fraction(math.floor(a) if direction == "down" else math.ceil(a)),
        defined=math.isfinite,
    )


def _numpy_backend() -> Backend:
    from scipy import special

    def power(base: Any, exponent: Any) -> Any:
        if isinstance(exponent, Fraction) and exponent == Fraction(1, 2):
            return np.sqrt(base)
        if isinstance(exponent, Fraction) and exponent == Fraction(1, 3):
            return np.cbrt(base)
        return np.power(base, float(exponent) if isinstance(exponent, Fraction) else exponent)

    return Backend(
        name="numpy",
        number=lambda value: np.float64(float(value)),
        constants={"pi": lambda: np.float64(math.pi), "e": lambda: np.float64(math.e)},
        power=power,
        functions={
            **{name: getattr(np, name) for name in ELEMENTARY},
            **{name: getattr(special, name) for name in ("erf", "erfc", "gamma", "beta")},
            "Abs": np.abs,
            "Max": np.maximum,
            "Min": np.minimum,
            "loggamma": special.gammaln,
            "LambertW": lambda argument, branch: np.real(special.lambertw(argument, branch)),
            "betainc_regularized": special.betainc,
            "binomial": special.binom,
            "factorial": lambda n: special.gamma(n + 1),
        },
        less=lambda a, b: _truth(a < b),
        equal=lambda a, b: _truth(a == b),
        whole=lambda a, direction: np.floor(a) if direction == "down" else np.ceil(a),
        defined=lambda a: bool(np.all(np.isfinite(a))),
    )


def _mpmath_backend() -> Backend:
    def number(value: Fraction) -> Any:
        return mpmath.mpf(value.numerator) / value.denominator

    def power(base: Any, exponent: Any) -> Any:
        return mpmath.power(base, number(exponent) if isinstance(exponent, Fraction) else exponent)

    def whole(value: Any, direction: str) -> Fraction:
        return Fraction(int(mpmath.floor(value) if direction == "down" else mpmath.ceil(value)))

    return Backend(
        name="mpmath",
        number=number,
        constants={"pi": lambda: +mpmath.pi, "e": lambda: +mpmath.e},
        power=power,
        functions={
            **{name: getattr(mpmath, name) for name in (*ELEMENTARY, "erf", "erfc", "gamma", "loggamma", "beta")},
            "Abs": abs,
            "Max": max,
            "Min": min,
            "binomial": mpmath.binomial,
            "factorial": mpmath.factorial,
            "LambertW": lambda argument, branch: mpmath.re(mpmath.lambertw(argument, branch)),
            "betainc_regularized": lambda a, b, x: mpmath.betainc(a, b, 0, x, regularized=True),
        },
        less=lambda a, b: bool(a < b),
        equal=lambda a, b: bool(a == b),
        whole=whole,
        defined=lambda a: isinstance(a, mpmath.mpf) and bool(mpmath.isfinite(a)),
    )


def _truth(answer: Any) -> Truth:
    return answer if np.ndim(answer) else bool(answer)


def to_arb(value: Fraction) -> arb:
    """Return a ball around a rational number, at the current precision."""
    return arb(value.numerator) if value.denominator == 1 else arb(fmpq(value.numerator, value.denominator))


def _arb_backend() -> Backend:
    def less(left: arb, right: arb) -> bool | None:
        if left < right:
            return True
        return False if left >= right else None

    def equal(left: arb, right: arb) -> bool | None:
        if left == right:  # Arb answers True for two exact and equal numbers only
            return True
        return None if left.overlaps(right) else False

    def power(base: arb, exponent: Any) -> arb:
        if not isinstance(exponent, Fraction):
            return arb(base**exponent)
        if exponent.denominator == 1:
            return base**exponent.numerator
        return base ** fmpq(exponent.numerator, exponent.denominator)

    def whole(value: arb, direction: str) -> Fraction | None:
        number = (value.floor() if direction == "down" else value.ceil()).unique_fmpz()
        return None if number is None else Fraction(int(number))

    def binomial(n: arb, k: arb) -> arb:
        return ((n + 1).lgamma() - (k + 1).lgamma() - (n - k + 1).lgamma()).exp()

    return Backend(
        name="arb",
        number=to_arb,
        constants={"pi": arb.pi, "e": arb.const_e},
        power=power,
        functions={
            **{name: getattr(arb, name) for name in (*ELEMENTARY, "erf", "erfc", "gamma")},
            "Abs": abs,
            "Max": lambda a, b: a.max(b),
            "Min": lambda a, b: a.min(b),
            "loggamma": arb.lgamma,
            "LambertW": lambda argument, branch: argument.lambertw(branch),
            "beta": lambda a, b: _log_beta(a, b).exp(),
            "betainc_regularized": _beta_share_ball,
            "binomial": binomial,
            "factorial": lambda n: (n + 1).gamma(),
        },
        less=less,
        equal=equal,
        whole=whole,
        defined=lambda a: True if a.is_finite() else None,
    )


def _log_beta(a: arb, b: arb) -> arb:
    return a.lgamma() + b.lgamma() - (a + b).lgamma()


def _beta_share_ball(a: arb, b: arb, x: arb) -> arb:
    """Return the regularised incomplete beta function I_x(a, b), for a, b > 0 and 0 < x < 1.

    I_x(a, b) = x^a (1 - x)^b / (a B(a, b)) * sum_k t_k with t_0 = 1, t_{k+1} = t_k x (a + b + k) / (a + 1 + k): every
    term is positive, so nothing cancels, however large b is. (Arb's own ``beta_lower`` loses accuracy when b is large:
    for a = 1/2, b = 5000, x = 1/3 it has no digit at 1024 bits.) Beyond term K the ratio is at most r = max(x, its
    value at K), since it moves monotonically towards x; so the rest lies between 0 and t_K r / (1 - r). Where that
    takes fewer terms the complement 1 - I_{1-x}(b, a) is summed instead; it may cancel, which more precision mends.
    """
    one = arb(1)
    if _terms_needed(b, a, one - x) < _terms_needed(a, b, x):
        return one - _beta_series(b, a, one - x, x)
    return _beta_series(a, b, x, one - x)


def _terms_needed(a: arb, b: arb, x: arb) -> float:
    """About how many terms the series takes: up to its largest one and down again, then geometrically. A guess only."""
    first, second, point = (float(number.mid()) for number in (a, b, x))
    if not 0 < point < 1:
        return math.inf
    peak = max(0.0, ((first + second) * point - first - 1) / (1 - point))
    return 2 * peak - working_bits() / math.log2(point)


def _beta_series(a: arb, b: arb, x: arb, rest: arb) -> arb:
    term = total = arb(1)
    smallest = arb(2) ** -(working_bits() + 8)
    for k in range(_LONGEST_SERIES):
        ratio = x * (a + b + k) / (a + 1 + k)
        largest = ratio.max(x)
        if largest < 1:
            tail = term * largest / (1 - largest)
            if tail < smallest * total or k == _LONGEST_SERIES - 1:
                total += arb(0).union(tail)
                return total * (a * x.log() + b * rest.log() - _log_beta(a, b)).exp() / a
        term = term * ratio
        total += term
    return arb.nan()
