"""Every formula must scale; planted transcription errors are caught and located."""

from fractions import Fraction

import pytest
from sympy import Max, Min, Piecewise, Rational, Symbol, erfc, exp, log, sqrt

from dpbounds.errors import InvalidValue, NotCertified
from dpbounds.expressions.symbols import (
    Unit,
    dataset_size,
    delta,
    diameter,
    dimension,
    epsilon,
    excess_risk,
    gaussian_width,
    hessian_lipschitz,
    initial_gap,
    inverse_temperature,
    kl_constant,
    kl_exponent,
    lipschitz,
    noise_stddev,
    rho,
    smoothness,
    stationarity,
    step_size,
    steps,
)
from dpbounds.expressions.units import scaling_defects

GRADIENT, GRADIENT_SQUARE, LOSS, PURE = Unit(1, -1), Unit(2, -2), Unit(loss=1), Unit()
n, d, G, L, D, DF = dataset_size, dimension, lipschitz, smoothness, diameter, initial_gap
A = sqrt(d * log(1 / delta)) / (epsilon * n)

HOMOGENEOUS = {
    "noise": (2 * G**2 * steps / (n**2 * rho), GRADIENT_SQUARE),
    "descent": (
        DF / (step_size * (1 - L * step_size / 2) * steps) + d * noise_stddev**2 / (1 - L * step_size / 2),
        GRADIENT_SQUARE,
    ),
    "optimum": (Rational(16, 3) * G * sqrt(L * DF * d / rho) / n, GRADIENT_SQUARE),
    "frank-wolfe": (DF / steps + noise_stddev * gaussian_width + L * D**2 / 2, LOSS),
    "warm start": (G * A + (G * L * excess_risk) ** Rational(1, 3) * A ** Rational(2, 3), GRADIENT),
    "second order": (
        DF * Max(32 * L / (3 * stationarity**2), 6 * sqrt(hessian_lipschitz) / stationarity ** Rational(3, 2)) + 1,
        PURE,
    ),
    "gibbs": (exp(-inverse_temperature * G * D) + d * log(inverse_temperature * G * D / d), PURE),
    "split logarithms": (log(G * D) - log(DF), PURE),
    "kurdyka": (kl_constant**kl_exponent * G**kl_exponent, LOSS),
    "combined": (Min(G * A, (sqrt(L * G * DF) * A) ** Rational(2, 3)), GRADIENT),
    "branches": (Piecewise((G * D, G < L * D), (L * D**2, True)), LOSS),
    "gap": (erfc(noise_stddev / G) * DF, LOSS),
}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", HOMOGENEOUS)
def test_correct_formulas_pass(name):
    formula, unit = HOMOGENEOUS[name]
    assert scaling_defects(formula, unit) == ()
    assert scaling_defects(formula, unit, seed=7) == ()


@pytest.mark.parametrize(
    ("formula", "unit", "culprit"),
    [
        (2 * G * steps / (n**2 * rho), GRADIENT_SQUARE, None),  # G for G²
        (2 * L**2 * steps / (n**2 * rho), GRADIENT_SQUARE, None),  # smoothness for the Lipschitz constant
        (Rational(16, 3) * G * L * DF * sqrt(d / rho) / n, GRADIENT_SQUARE, None),  # a root sign too short
        (DF / steps + noise_stddev * gaussian_width + L * D / 2, LOSS, "Add"),  # D for D²
        (DF / steps + noise_stddev**2 * gaussian_width, LOSS, "Add"),
        (G * A + (L * excess_risk) ** Rational(1, 3) * A ** Rational(2, 3), GRADIENT, "Add"),
        (DF * Max(32 * L / stationarity**2, sqrt(hessian_lipschitz) / stationarity**2), PURE, "Max"),
        (exp(-inverse_temperature * G) * G, GRADIENT, "exp"),
        (log(G * D) * G, GRADIENT, "log"),
        (Piecewise((G * D, G < L), (G * D * 2, True)), LOSS, "Piecewise"),
        (Min(G * A, sqrt(L * G * DF) * A), GRADIENT, "Min"),  # the power 2/3 forgotten
    ],
)
def test_planted_errors_are_caught(formula, unit, culprit):
    defects = scaling_defects(formula, unit)
    assert defects
    for defect in defects:
        assert str(defect).startswith(defect.base)
    assert all(defect.found is None or defect.found != defect.expected for defect in defects)
    assert {type(defect.culprit).__name__ for defect in defects if defect.found is None} == (
        {culprit} if culprit else set()
    )


def test_the_defect_says_exactly_what_fails():
    (loss, length) = scaling_defects(G * steps / n**2, GRADIENT_SQUARE)
    assert (loss.base, loss.expected, loss.found) == ("loss", 2, 1)
    assert (length.base, length.expected, length.found) == ("length", -2, -1)
    (length,) = scaling_defects(sqrt(1 + DF / steps + L * D) * 3 - sqrt(1 + DF / steps), PURE, bases=("length",))
    assert length.found is None
    assert length.culprit == 1 + DF / steps + L * D
    assert dict(length.parts) == {1: Fraction(0), DF / steps: Fraction(0), L * D: Fraction(-1)}
    assert "smoothness" in str(length)


def test_different_powers_in_different_regions_are_no_power():
    (defect,) = scaling_defects(Max(G, 3 * G**2), GRADIENT, bases=("loss",))
    assert defect.found is None
    assert dict(defect.parts) == {G: 1, 3 * G**2: 2}


def test_a_wrong_rational_exponent_is_recognised():
    (loss, length) = scaling_defects((G * L * DF) ** Rational(2, 7), Unit(1, -1))
    assert (loss.found, length.found) == (Fraction(6, 7), Fraction(-6, 7))


def test_samples():
    # Repeating every record k times divides ρ by k²: the noise stays what it was.
    assert scaling_defects(2 * G**2 * steps / (n**2 * rho), GRADIENT_SQUARE, bases=("loss", "length", "samples")) == ()
    (defect,) = scaling_defects(2 * G**2 * steps / (n * rho), GRADIENT_SQUARE, bases=("samples",))
    assert defect.found == 1


def test_local_symbols_need_a_unit():
    bias = Symbol("bias", positive=True)
    with pytest.raises(InvalidValue, match="bias"):
        scaling_defects(bias + G, GRADIENT)
    assert scaling_defects(bias + G, GRADIENT, units={bias: GRADIENT}) == ()
    assert scaling_defects(bias + G, GRADIENT, units={bias: Unit(Fraction(1, 2), -1)})


def test_bad_input():
    with pytest.raises(InvalidValue, match="base"):
        scaling_defects(G, GRADIENT, bases=("time",))
    with pytest.raises(InvalidValue, match="exact rational"):
        scaling_defects(0.5 * G, GRADIENT)
    with pytest.raises(NotCertified, match="points were found"):
        scaling_defects(log(-G), GRADIENT)
