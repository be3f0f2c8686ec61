"""Theorem 5.6 with constants: exact risks on an interval and on cones, and what is spent."""

from math import comb

import numpy as np
import pytest
from mpmath import exp, mpf, quad

from tests.papers.reference_formulas import evaluated, reference_of

twin = reference_of("ganesh-liu-oh-thakurta-2023/theorem-5.6/explicit")

evaluate = evaluated("ganesh-liu-oh-thakurta-2023/theorem-5.6/explicit")


@pytest.mark.parametrize("beta", [0.05, 1.0, 10.0, 200.0])
@pytest.mark.parametrize("dimension", [1, 2, 7])
@pytest.mark.parametrize("sign", [1, -1])
def test_cones(beta, dimension, sign):
    beta, strength = mpf(beta), dimension / mpf(beta)  # G = D = 1, apex at the origin

    def density(r):
        return r ** (dimension - 1) * exp(-beta * (sign * r + strength * r * r / 2))

    ends = [0, 0.01, 0.1, 0.5, 0.9, 0.99, 1]
    mean = quad(lambda r: r * density(r), ends) / quad(density, ends)
    excess = mean if sign == 1 else 1 - mean
    assert 0 < excess <= twin("empirical", d=dimension, beta=beta, G=1, D=1)


@pytest.mark.parametrize("beta", [0.3, 3.0, 30.0])
@pytest.mark.parametrize("size", [1, 4, 12])
def test_the_population_risk_of_two_kinds_of_records(beta, size):
    grid = np.linspace(-0.5, 0.5, 4001)
    losses = np.abs(grid - 0.3), -np.maximum(0, 0.4 - np.abs(grid + 0.2))  # G = 1, not convex
    share = 0.45
    population_risk = share * losses[0] + (1 - share) * losses[1]
    total = 0.0
    for first in range(size + 1):
        chance = comb(size, first) * share**first * (1 - share) ** (size - first)
        risk = (first * losses[0] + (size - first) * losses[1]) / size
        weight = np.exp(-beta * (risk + 1 / beta / 2 * grid**2))  # μ = d/(D²β)
        total += chance * (weight @ population_risk) / weight.sum()
    assert 0 < total - population_risk.min() <= float(twin("bound", d=1, beta=mpf(beta), G=1, D=1, n=size))


def test_how_far_the_temperatures_lie_apart():
    values = {"n": 10**6, "d": 2, "epsilon": "0.1", "G": 1, "D": 1}
    route = evaluate("log_sobolev_temperature", delta="1e-6", **values).value
    printed = evaluated("ganesh-liu-oh-thakurta-2023/theorem-5.6")(
        "inverse_temperature", delta="1e-6", temperature_constant=1, **values
    )
    assert printed.formula_value.lower == pytest.approx(0.39, abs=0.01)
    assert route.lower == pytest.approx(13.74, abs=0.01)
    assert evaluate("inverse_temperature", **values).value.lower == pytest.approx(
        (2e6 * (1.5 + np.log1p((10**6 / 2) ** 0.5))) ** 0.5  # privacy alone would allow nε/2 = 5e4
    )


def test_the_simple_form_is_an_upper_bound():
    for size in (1, 10, 10**4, 10**9):
        for dimension in (1, 7, 1000):
            for epsilon in (mpf("0.001"), mpf("0.1"), mpf(3), mpf(50)):
                point = {"d": dimension, "epsilon": epsilon, "n": mpf(size), "G": mpf(1), "D": mpf(1)}
                assert twin("tuned", **point) <= twin("simple", **point) * (1 + mpf(10) ** -12)


def test_the_printed_temperature_says_nothing_for_long():
    found = evaluate(
        "printed_temperature", n=10**11, d=1, epsilon="0.4", delta="1e-5", temperature_constant="0.3", G=1, D=1
    )
    assert found.applies is True
    assert found.value.lower > 1  # more than GD
    assert evaluate("tuned", n=10**4, d=1, epsilon="0.4", G=1, D=1).value.upper < 0.08
