"""Assumption 3 and its example: why its bars are needed; and where the biweight loss satisfies it."""

import math

import numpy as np
import pytest
from sympy import Rational, Symbol, diff, expand, simplify

from tests.papers.reference_formulas import evaluated


def test_without_absolute_values_the_loss_is_not_smooth():
    for sharpness in (1e2, 1e4):
        # ψ'(s) = tanh(s)(0.6 - 0.5 tanh(K(s - 1))) for s > 0, continued oddly: ψ'' <= 1.1, and very negative at 1
        slope = lambda s, k=sharpness: math.tanh(s) * (0.6 - 0.5 * math.tanh(k * (s - 1)))  # noqa: E731
        second = lambda s, k=sharpness: (  # noqa: E731
            (1 - math.tanh(s) ** 2) * (0.6 - 0.5 * math.tanh(k * (s - 1)))
            - 0.5 * math.tanh(s) * k * (1 - math.tanh(k * (s - 1)) ** 2)
        )
        points = [k / 500 for k in range(1, 1500)]
        assert all(0 < slope(s) <= 1.1 and second(s) <= 1.1 for s in points)
        assert second(1.0) < -0.3 * sharpness


def test_a_small_tuning_constant_is_excluded():
    evaluate = evaluated("wang-chen-xu-2019/assumption-3")
    flat = [evaluate("biweight", residual=s, tuning_constant="1.5").value for s in ("1.6", "1.8", "2")]
    assert len({(one.lower, one.upper) for one in flat}) == 1  # ψ' = 0 at s > 0 within [-(1 + Y), 1 + Y] for Y = 1


def test_influence_of_the_biweight_loss():
    s, c = Symbol("s", positive=True), Symbol("c", positive=True)
    loss = c**2 / 6 * (1 - (1 - (s / c) ** 2) ** 3)
    influence = diff(loss, s)
    assert simplify(influence - s * (1 - (s / c) ** 2) ** 2) == 0
    top = c / sqrt_of_five()
    assert simplify(diff(influence, s).subs(s, top)) == 0
    assert simplify(influence.subs(s, top) - Rational(16, 25) * c / sqrt_of_five()) == 0
    # |ψ''| <= 1: with x = (s/c)² it is 1 - 6x + 5x², between -4/5 (at 3/5) and 1
    x = Symbol("x")
    assert expand(simplify(diff(influence, s)).subs(s, c * Symbol("y", positive=True))) is not None
    assert simplify(diff(influence, s) - (1 - 6 * (s / c) ** 2 + 5 * (s / c) ** 4)) == 0
    assert (1 - 6 * x + 5 * x**2).subs(x, Rational(3, 5)) == Rational(-4, 5)


def sqrt_of_five():
    return Rational(5) ** Rational(1, 2)


def test_with_a_large_tuning_constant_the_slope_at_zero_decides():
    generator = np.random.default_rng(7)
    grid = np.linspace(0.01, 0.99, 99)
    decided = 0
    for _ in range(200):
        atoms = generator.random(generator.integers(1, 4))
        weights = generator.dirichlet(np.ones(atoms.size))
        second, fourth = weights @ atoms**2, weights @ atoms**4
        first = 1 - 6 * second + 5 * fourth
        score = grid * (first + (10 * second - 2) * grid**2 + grid**4)
        shifted = np.stack([grid[:, None] + atoms, grid[:, None] - atoms])
        direct = (shifted * (1 - shifted**2) ** 2).mean(axis=0) @ weights  # E ψ'(s + ξ), c = 1
        assert score == pytest.approx(direct, abs=1e-12)
        if first > 1e-6:
            decided += 1
            assert (score > 0).all()
    assert 20 < decided < 200
