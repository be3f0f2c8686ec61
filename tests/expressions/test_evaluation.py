"""The back ends agree with each other, with plain mpmath twins, and refuse what they must."""

import math
from decimal import Decimal
from fractions import Fraction

import flint
import mpmath
import numpy as np
import pytest
import sympy
from flint import arb, fmpq
from hypothesis import HealthCheck, given, settings, strategies as st
from sympy import (
    And,
    Eq,
    Float,
    LambertW,
    Max,
    Min,
    Ne,
    Not,
    Or,
    Piecewise,
    Rational,
    Symbol,
    betainc_regularized,
    binomial,
    ceiling,
    erf,
    erfc,
    exp,
    factorial,
    floor,
    log,
    loggamma,
    pi,
    sqrt,
)

from dpbounds.errors import InvalidValue, NotCertified
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.evaluation import decide, evaluate
from dpbounds.expressions.symbols import (
    dataset_size,
    delta,
    dimension,
    distance,
    epsilon,
    gaussian_mu,
    initial_gap,
    noise_stddev,
    radius,
    smoothness,
    steps,
)

x, y = Symbol("x", positive=True), Symbol("y", positive=True)
real = Symbol("u", real=True)

RHO = (sqrt(log(1 / delta) + epsilon) - sqrt(log(1 / delta))) ** 2
GAUSSIAN_CURVE = (
    erfc((epsilon / gaussian_mu - gaussian_mu / 2) / sqrt(2)) / 2
    - exp(epsilon) * erfc((epsilon / gaussian_mu + gaussian_mu / 2) / sqrt(2)) / 2
)
DESCENT = Rational(8, 3) * smoothness * initial_gap / steps + Rational(4, 3) * dimension * noise_stddev**2
BALL = Piecewise(
    (
        betainc_regularized(Rational(1, 2), (dimension + 1) / 2, 0, (distance / (2 * radius)) ** 2),
        distance < 2 * radius,
    ),
    (1, True),
)


@pytest.fixture(autouse=True)
def _precision_is_left_alone():
    before = (flint.ctx.prec, mpmath.mp.prec)
    yield
    assert (flint.ctx.prec, mpmath.mp.prec) == before


def _mp(value):
    number = Fraction(value)
    return mpmath.mpf(number.numerator) / number.denominator


def _encloses(enclosure, value, digits):
    """Whether a 50-digit value lies within the enclosure, up to the error of the value itself."""
    slack = abs(Fraction(*mpmath.libmp.to_rational(value._mpf_))) / 10**digits
    number = Fraction(*mpmath.libmp.to_rational(value._mpf_))
    return enclosure.exact_lower - slack <= number <= enclosure.exact_upper + slack


# --- Every function, in every back end ---

FUNCTIONS = {
    "exp": (exp(real), mpmath.exp, (-20, 20)),
    "log": (log(x), mpmath.log, ("1/1000", 1000)),
    "sqrt": (sqrt(x), mpmath.sqrt, ("1/1000", 1000)),
    "cube root": (x ** Rational(1, 3), lambda v: mpmath.power(v, mpmath.mpf(1) / 3), ("1/1000", 1000)),
    "root": (x ** Rational(-5, 7), lambda v: mpmath.power(v, -mpmath.mpf(5) / 7), ("1/10", 10)),
    "negative base": (real**3 + pi * real**-2, lambda v: v**3 + mpmath.pi / v**2, (-9, "-1/9")),
    "irrational power": (x**pi, lambda v: mpmath.power(v, mpmath.pi), ("1/10", 10)),
    "irrational base": (pi**real, lambda v: mpmath.power(mpmath.pi, v), (-5, 5)),
    "erf": (erf(real), mpmath.erf, (-4, 4)),
    "erfc": (erfc(real), mpmath.erfc, (-4, 12)),
    "sin": (sympy.sin(x), mpmath.sin, ("1/10", 3)),
    "cos": (sympy.cos(x), mpmath.cos, ("1/10", "3/2")),
    "tan": (sympy.tan(x), mpmath.tan, ("1/10", "3/2")),
    "asin": (sympy.asin(x), mpmath.asin, ("1/10", "9/10")),
    "acos": (sympy.acos(x), mpmath.acos, ("1/10", "9/10")),
    "atan": (sympy.atan(real), mpmath.atan, (-5, 5)),
    "sinh": (sympy.sinh(real), mpmath.sinh, (-5, 5)),
    "cosh": (sympy.cosh(real), mpmath.cosh, (-5, 5)),
    "tanh": (sympy.tanh(real), mpmath.tanh, (-5, 5)),
    "gamma": (sympy.gamma(x), mpmath.gamma, ("1/10", 30)),
    "loggamma": (loggamma(x), mpmath.loggamma, (3, 3000)),
    "beta": (sympy.beta(x, Rational(5, 2)), lambda v: mpmath.beta(v, 2.5), ("1/10", 30)),
    "LambertW": (LambertW(x), mpmath.lambertw, ("1/100", 1000)),
    "lower LambertW": (LambertW(-x, -1), lambda v: mpmath.re(mpmath.lambertw(-v, -1)), ("1/100", "35/100")),
    "betainc": (
        betainc_regularized(Rational(3, 2), 7, Rational(1, 50), x),
        lambda v: mpmath.betainc(1.5, 7, mpmath.mpf(1) / 50, v, regularized=True),
        ("1/10", "9/10"),
    ),
    "factorial": (factorial(x), mpmath.factorial, ("1/10", 30)),
    "binomial": (binomial(x, Rational(3, 2)), lambda v: mpmath.binomial(v, 1.5), (2, 30)),
    "abs": (abs(real - pi), lambda v: abs(v - mpmath.pi), (-5, 3)),
    "max": (Max(x, pi, x**2 / 2), lambda v: max(v, +mpmath.pi, v * v / 2), ("1/10", 5)),
    "min": (Min(x, pi, log(x + 2)), lambda v: min(v, +mpmath.pi, mpmath.log(v + 2)), ("1/10", 5)),
    "floor": (floor(10 * sqrt(x)), lambda v: mpmath.floor(10 * mpmath.sqrt(v)), ("1/2", 50)),
    "ceiling": (ceiling(10 * log(x)), lambda v: mpmath.ceil(10 * mpmath.log(v)), ("3/2", 50)),
    "piecewise": (
        Piecewise((log(real), real > 1), (sqrt(1 - real), True)),
        lambda v: mpmath.log(v) if v > 1 else mpmath.sqrt(1 - v),
        ("-7/3", 9),
    ),
    "e and pi": (sympy.E * x + pi, lambda v: mpmath.e * v + mpmath.pi, (1, 5)),
}
# Elsewhere a subtraction cancels, or SciPy is less exact (its erfc is 10 units off at 14/3).
FEW_ULPS = {
    *("exp", "log", "sqrt", "cube root", "erf", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh"),
    *("tanh", "max", "e and pi"),
}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", FUNCTIONS)
@given(data=st.data())
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_back_ends_agree(name, data):
    formula, twin, (low, high) = FUNCTIONS[name]
    (symbol,) = formula.free_symbols
    value = data.draw(st.fractions(Fraction(low), Fraction(high), max_denominator=1009), "value")
    with mpmath.workdps(70):
        expected = twin(_mp(value))
    enclosure = evaluate(formula, {symbol: value}, digits=40)
    assert _encloses(enclosure, expected, 55)
    assert enclosure.width == 0 or enclosure.digits >= 40
    with mpmath.workdps(50):
        assert (
            abs(evaluate(formula, {symbol: value}, backend="mpmath", digits=40) - expected)
            <= abs(expected) * mpmath.mpf(10) ** -38
        )
    if name in ("floor", "ceiling"):
        assert evaluate(formula, {symbol: value}, backend="float") == float(expected)
        return
    # In double precision at a double: what is left is the error of the functions themselves.
    double = float(value)
    with mpmath.workdps(40):
        same = float(twin(mpmath.mpf(double)))
    result = evaluate(formula, {symbol: double}, backend="float")
    array = evaluate(formula, {symbol: [double] * 3}, backend="numpy")
    assert array.shape == (3,)
    for number in (result, *array):
        if name in FEW_ULPS:
            assert abs(number - same) <= 8 * math.ulp(same)
        else:
            assert number == pytest.approx(same, rel=1e-11, abs=1e-13)


@pytest.mark.one_in(4)
@given(
    st.fractions(Fraction(1, 50), 50, max_denominator=10**6),
    st.fractions(Fraction(1, 50), 50, max_denominator=10**6),
    st.integers(1, 400),
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_more_digits_lie_within_fewer(first, second, digits):
    formula = log(1 + x / y) ** Rational(2, 3) - exp(-x) * sqrt(y) + Max(x, y * erf(x))
    wide = evaluate(formula, {x: first, y: second}, digits=digits)
    narrow = evaluate(formula, {x: first, y: second}, digits=digits + 40)
    assert wide.overlaps(narrow)
    assert wide.digits >= digits
    assert narrow.digits >= digits + 40


# --- Exactness ---


def test_the_lambdify_trap():
    # A printer that writes 1/3 and 5/28 as doubles gives a ball of radius 1e-60 about 1e-18 away from the truth.
    formula = dataset_size ** Rational(1, 3) * 5 / 28
    with flint.ctx.workprec(200):
        trapped = sympy.lambdify(dataset_size, formula, "math")(arb(2))
        truth = arb(2) ** fmpq(1, 3) * 5 / 28
        assert not trapped.overlaps(truth)
    enclosure = evaluate(formula, {"n": 2}, digits=60)
    # The cube of the value times (28/5)**3 is 2: checked in exact arithmetic, without any library's cube root.
    assert (enclosure.exact_lower * 28 / 5) ** 3 < 2 < (enclosure.exact_upper * 28 / 5) ** 3
    assert enclosure.digits >= 60


def test_rational_formulas_are_exact():
    value = evaluate(3 * x / 7 + y**-2, {x: "0.1", y: "1/3"})
    assert value.exact_lower == value.exact_upper == Fraction(3, 70) + 9
    assert evaluate(sqrt(x) * y, {x: Fraction(4, 9), y: 3}).exact_upper == 2
    assert evaluate(x ** Rational(-2, 3), {x: "8/27"}).exact_upper == Fraction(9, 4)
    assert evaluate(binomial(dimension, 3) * factorial(dimension), {"d": 5}).exact_lower == 1200
    assert evaluate(log(x) + exp(y - 1), {x: 1, y: 1}).exact_lower == 1


@pytest.mark.parametrize("backend", ["arb", "mpmath", "float", "numpy"])
def test_a_boundary_between_rationals_is_decided_exactly(backend):
    # In doubles 3 * 0.1 > 0.3; in balls 3 * (1/3) overlaps 1 at every precision.
    formula = Piecewise((1, 3 * x <= y), (2, True))
    result = evaluate(formula, {x: "0.1", y: "0.3"}, backend=backend)
    assert (result.exact_lower if backend == "arb" else float(result)) == 1
    result = evaluate(ceiling(y / x), {x: "0.1", y: "0.3"}, backend=backend)
    assert (result.exact_lower if backend == "arb" else float(result)) == 3


@pytest.mark.parametrize("value", [Fraction(1, 10), "0.1", Decimal("0.1"), Rational(1, 10)])
def test_ways_to_give_one_tenth(value):
    assert evaluate(x, {x: value}).exact_lower == Fraction(1, 10)


def test_a_float_is_its_binary_value():
    assert evaluate(x, {x: 0.1}).exact_lower == Fraction(0.1) != Fraction(1, 10)
    assert evaluate(x, {x: np.int64(2**53 + 1)}).exact_lower == 2**53 + 1


# --- Any number of digits ---


@pytest.mark.parametrize(
    ("formula", "values"),
    [
        (GAUSSIAN_CURVE, {"epsilon": "1.7", "gaussian_mu": "0.31"}),
        (GAUSSIAN_CURVE.subs(gaussian_mu, sqrt(steps) / 100), {"epsilon": 12, "T": 10_000}),
        (
            DESCENT + sqrt(RHO),
            {
                "smoothness": 2,
                "initial_gap": "1/3",
                "steps": 7,
                "dimension": 9,
                "noise_stddev": "0.1",
                "epsilon": 1,
                "delta": "1e-6",
            },
        ),
        (BALL, {"dimension": 20, "distance": "1/3", "radius": 2}),
    ],
)
def test_a_thousand_digits_take_a_few_thousand_bits(formula, values):
    enclosure = evaluate(formula, values, digits=1000)
    assert enclosure.precision < 10_000
    assert enclosure.digits >= 1000
    twin = evaluate(formula, values, backend="mpmath", digits=300)
    assert _encloses(enclosure, twin, 300)


def test_deep_tails_and_cancellation():
    enclosure = evaluate(erfc(x), {x: 500}, digits=20)  # about 1e-108577
    assert enclosure.lower == 0.0
    assert 0 < enclosure.exact_lower < enclosure.exact_upper < Fraction(1, 10**108_570)
    value = evaluate(log(1 + x) - x, {x: "1e-200"}, digits=30)
    assert value.contains(-Fraction(1, 2 * 10**400) + Fraction(1, 3 * 10**600))
    with mpmath.workdps(60):
        twin = evaluate(log(1 + x) - x, {x: "1e-200"}, backend="mpmath", digits=30)
        assert abs(twin * mpmath.mpf(10) ** 400 + mpmath.mpf("0.5")) < 1e-29


@pytest.mark.parametrize("lost", range(24, 48))
def test_the_digits_asked_for_are_reached_whatever_cancels(lost):
    value = evaluate(exp(x) - 1, {x: f"2**-{lost}"}, digits=20)
    assert value.digits >= 20
    small = Fraction(1, 2**lost)
    assert value.overlaps(Enclosure(small + small**2 / 2, small + small**2 / 2 + small**3))


def test_what_cannot_be_certified_is_refused():
    with pytest.raises(NotCertified, match=r"0 of 15 digits are certified at 32768 bits"):
        evaluate(log(x * y) - log(x) - log(y), {x: 2, y: 3})
    with pytest.raises(NotCertified, match=r"the condition .* is not decided at 32768 bits"):
        evaluate(Piecewise((1, log(x * y) > log(x) + log(y)), (0, True)), {x: 2, y: 3})
    with pytest.raises(NotCertified, match="floor"):
        evaluate(floor(log(x**5) / log(x)), {x: 3})
    with pytest.raises(NotCertified, match="did not settle"):
        evaluate(log(x * y) - log(x) - log(y), {x: 2, y: 3}, backend="mpmath")
    with pytest.raises(NotCertified, match="exact ends would be too long"):
        evaluate(exp(-x), {x: 10**8})
    with pytest.raises(NotCertified, match="exact ends would be too long"):
        evaluate(exp(x), {x: 10**12})


# --- Enclosures as values ---


def test_enclosures_as_values():
    wide = Enclosure(Fraction(1, 2), Fraction(3, 5))
    result = evaluate(exp(x) + y, {x: wide, y: "1/3"}, digits=30)
    low, high = (evaluate(exp(x) + y, {x: end, y: "1/3"}, digits=30) for end in (wide.exact_lower, wide.exact_upper))
    assert result.contains(low)
    assert result.contains(high)
    assert result.width < 0.19
    narrow = Enclosure(Fraction(1, 2), Fraction(1, 2) + Fraction(1, 10**40))
    assert evaluate(exp(x), {x: narrow}, digits=30).digits >= 30
    assert evaluate(x + 1, {x: Enclosure.exactly("0.1")}).exact_lower == Fraction(11, 10)
    with pytest.raises(NotCertified, match="not decided"):
        evaluate(Piecewise((1, x < Rational(11, 20)), (2, True)), {x: wide})
    largest, smallest = (evaluate(kind(x, Rational(11, 20)), {x: wide}) for kind in (Max, Min))
    assert largest.contains(Enclosure(Fraction(11, 20), Fraction(3, 5)))
    assert smallest.contains(Enclosure(Fraction(1, 2), Fraction(11, 20)))
    # The width of the values allows 20 digits, which are found only after two doublings of the precision.
    shifted = Fraction(1, 2) + Fraction(1, 10**100)
    cancelling = evaluate(
        exp(x) - exp(Rational(1, 2)), {x: Enclosure(shifted, shifted + Fraction(1, 10**120))}, digits=30
    )
    assert 18 <= cancelling.digits <= 20


def test_enclosures_are_held_to_the_domain():
    for values, backend in (
        ({"epsilon": Enclosure(Fraction(-1), Fraction(1))}, "arb"),
        ({"epsilon": Enclosure(Fraction(1), math.inf)}, "arb"),
        ({"epsilon": Enclosure(Fraction(1), Fraction(2))}, "float"),
    ):
        with pytest.raises(InvalidValue, match="epsilon"):
            evaluate(sqrt(epsilon), values, backend=backend)
    with pytest.raises(InvalidValue, match="steps"):
        evaluate(sqrt(steps), {"T": Enclosure(Fraction(1), Fraction(2))})


# --- Arrays ---


def test_arrays_broadcast():
    formula = sqrt(dimension) / dataset_size
    sizes, dimensions = np.array([[10], [100]]), np.array([1, 4, 9])
    result = evaluate(formula, {"n": sizes, "d": dimensions}, backend="numpy")
    np.testing.assert_allclose(result, np.sqrt(dimensions) / sizes, rtol=1e-15)
    assert evaluate(formula, {"n": 10, "d": 4}, backend="numpy").shape == ()
    assert evaluate(x - x + 3 + 0 * y, {}, backend="numpy") == 3
    assert evaluate(2 * x, {x: ["0.1", Fraction(1, 3)]}, backend="numpy").tolist() == [0.2, 2 / 3]
    assert evaluate(x + 1, {x: np.array([])}, backend="numpy").shape == (0,)
    assert evaluate(Piecewise((1, x > 2), (2, True)), {x: [1.0, 3.0]}, backend="numpy").tolist() == [2.0, 1.0]


def test_branches_are_evaluated_only_where_chosen():
    formula = Piecewise(
        (log(real), And(real > 0, Ne(real, 5))), (1 / real, Or(real < 0, Eq(real, 5))), (7, Not(real > 0))
    )
    points = np.array([[2.0, -4.0], [0.0, 5.0]])
    expected = [[math.log(2), -0.25], [7.0, 0.2]]
    np.testing.assert_allclose(evaluate(formula, {real: points}, backend="numpy"), expected, rtol=1e-15)
    for point, value in zip(points.flat, np.array(expected).flat, strict=True):
        assert evaluate(formula, {real: float(point)}, backend="float") == pytest.approx(value, rel=1e-15)
        assert evaluate(formula, {real: float(point)}).contains(value) or value in (math.log(2), 0.2)


def test_numpy_names_the_offending_entry():
    with pytest.raises(InvalidValue, match=r"argument of log\(u\) must be .*, not -3"):
        evaluate(log(real), {real: [1.0, -3.0]}, backend="numpy")
    with pytest.raises(InvalidValue, match=r"delta must be .*, not 1.5"):
        evaluate(log(delta), {"delta": [0.5, 1.5]}, backend="numpy")
    with pytest.raises(InvalidValue, match=r"steps must be .*, not 2.5"):
        evaluate(sqrt(steps), {"T": [1.0, 2.5, 4.0]}, backend="numpy")
    with pytest.raises(InvalidValue, match="nan"):
        evaluate(log(x), {x: [1.0, math.nan]}, backend="numpy")
    with pytest.raises(InvalidValue, match=r"exp\(u\)"):
        evaluate(exp(real), {real: [1.0, 1000.0]}, backend="numpy")
    with pytest.raises(InvalidValue, match="different from 0"):
        evaluate(1 / real, {real: [1.0, 0.0]}, backend="numpy")
    with pytest.raises(InvalidValue, match="bool"):
        evaluate(real, {real: np.array([True])}, backend="numpy")
    with pytest.raises(InvalidValue, match="no branch"):
        evaluate(Piecewise((1, real > 0), evaluate=False), {real: [1.0, 0.0]}, backend="numpy")


# --- Refusals ---

BACKENDS = ("arb", "mpmath", "float", "numpy")


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("formula", "values", "message"),
    [
        (Float("0.1") * x, {x: 1}, r"number in an expression must be exact rational numbers only"),
        (x**0.5, {x: 4}, "exact rational numbers only"),
        (sympy.zeta(x), {x: 2}, "zeta"),
        (sympy.I * x, {x: 2}, "ImaginaryUnit"),
        (x + sympy.oo * y, {x: 2, y: 1}, "Infinity"),
        (sympy.EulerGamma + x, {x: 2}, "EulerGamma"),
        (x + y, {x: 1}, "y is missing: "),
        (sqrt(dataset_size), {}, r"dataset_size is missing: .*give dataset_size=... \(or n=...\)"),
        (sqrt(dataset_size), {"n": 1, "dataset_size": 2}, "given once only"),
        (sqrt(epsilon), {"epsilon": 0}, "epsilon must be greater than 0"),
        (log(delta), {"delta": 1}, "delta must be greater than 0 and less than 1"),
        (sqrt(steps), {"T": "2.5"}, "steps must be a whole number at least 1"),
        (sqrt(steps), {"T": 0}, "whole number at least 1"),
        (x, {x: -1}, "greater than 0"),
        (x, {x: math.nan}, "finite"),
        (x, {x: math.inf}, "finite"),
        (x, {x: "one"}, "a number such as"),
        (x, {x: True}, "a number"),
        (Symbol("epsilon") + 1, {"epsilon": 1}, "symbol table's own symbol"),
        (log(real), {real: -2}, r"argument of log\(u\) must be greater than 0"),
        (log(real), {real: 0}, r"argument of log\(u\)"),
        (x + log(1 - sqrt(y)), {x: 1, y: 3}, r"argument of log\(1 - sqrt\(y\)\)"),
        (1 / (x - y), {x: 2, y: 2}, r"x - y in 1/\(x - y\) must be .*, not 0"),
        ((x - 4) ** Rational(1, 3), {x: 1}, r"\(x - 4\)\*\*\(1/3\) must be .*, not -3"),
        ((x - pi) ** Rational(1, 2), {x: 1}, r"sqrt\(x - pi\)"),
        ((1 - pi * x) ** x, {x: Rational(3, 2)}, "at least 0"),
        (loggamma(real), {real: -1}, "loggamma"),
        (sympy.gamma(real), {real: -2}, "pole"),
        (sympy.asin(x), {x: 2}, "asin"),
        (betainc_regularized(x, 1, 0, y), {x: 1, y: 2}, "betainc_regularized"),
        (LambertW(real), {real: -1}, "at least -1/e"),
        (LambertW(real, -1), {real: 1}, "less than 0"),
        (LambertW(x, 1), {x: 1}, "real branches"),
        (factorial(real), {real: "-1/2"}, "factorial"),
        (binomial(x, y), {x: "1/2", y: 3}, "at most x"),
        (Piecewise((1, x < 1), evaluate=False), {x: 2}, "no branch"),
        (x < 1, {x: 2}, "conditions go to decide"),
    ],
)
def test_refusals(formula, values, message, backend):
    with pytest.raises(InvalidValue, match=message):
        evaluate(formula, values, backend=backend)


def test_overflow_is_an_error_in_double_precision_only():
    for backend in ("float", "numpy"):
        with pytest.raises(InvalidValue, match=r"exp\(x\) .* use the back end 'arb' or 'mpmath'"):
            evaluate(exp(x), {x: 1000}, backend=backend)
        with pytest.raises(InvalidValue, match="finite"):
            evaluate(x**400 * pi, {x: 10}, backend=backend)
    assert evaluate(exp(x), {x: 1000}).digits >= 15


@pytest.mark.parametrize("digits", [0, -1, 1.5, True, 10**6])
def test_digits_are_checked(digits):
    with pytest.raises(InvalidValue, match="digits"):
        evaluate(x, {x: 1}, digits=digits)


def test_other_bad_input():
    with pytest.raises(InvalidValue, match="backend"):
        evaluate(x, {x: 1}, backend="decimal")
    with pytest.raises(InvalidValue, match="expression"):
        evaluate(0.5, {})
    with pytest.raises(InvalidValue, match="expression"):
        evaluate([x], {})


# --- Conditions ---


@pytest.mark.seconds
def test_decide():
    values = {x: 2, y: "1/3"}
    assert decide(x > y, values) is True
    assert decide(x <= 6 * y, values) is True
    assert decide(x < 6 * y, values) is False
    assert decide(sqrt(x) > Rational(14142135623730950488, 10**19), values) is True
    assert decide(And(exp(x) > 7, log(y) >= 0), values) is False
    assert decide(Or(exp(x) > 8, Not(log(y) >= 0)), values) is True
    assert decide(Eq(sqrt(x), y), values) is False
    assert decide(Ne(x, 6 * y), values) is False
    assert decide(sympy.true, {}) is True
    assert decide(Eq(x, 6 * y), values) is True
    with pytest.raises(NotCertified, match="not decided"):
        decide(log(6) < log(3 * x) + log(y * 3), values)
    with pytest.raises(InvalidValue, match="condition"):
        decide(x + y, values)
    with pytest.raises(InvalidValue, match="condition"):
        decide(And(Symbol("b_"), x > 1), {**values, "b_": 1})
    with pytest.raises(NotCertified, match="not decided"):
        decide(And(log(x**2) > 2 * log(y * 6), x > 1), values)
    # An unknown half does not keep the other half from deciding.
    assert decide(Or(log(x**2) > 2 * log(y * 6), x > 1), values) is True


@pytest.mark.parametrize("degree", range(2, 10))
def test_a_power_of_a_perfect_root_is_exact(degree):
    x = sympy.Symbol("x", positive=True)
    for root in (Fraction(1), Fraction(3, 2), Fraction(7), Fraction(11**30, 13)):
        for power in (-2, 1, degree + 1):
            found = evaluate(x ** sympy.Rational(power, degree), {"x": root**degree})
            assert found.exact_lower == found.exact_upper == root**power
            beside = evaluate(x ** sympy.Rational(power, degree), {"x": root**degree + Fraction(1, 10**9)})
            assert beside.exact_lower != found.exact_lower
