"""Theorem 9 with constants: its arithmetic, and runs of Algorithm 6 at the smallest sample."""

import math

import numpy as np
import pytest
from mpmath import mpf
from sympy import Rational

from tests.papers.twins import evaluated

evaluate = evaluated("wang-chen-xu-2019/theorem-9/explicit")


def test_the_decreases():
    # second-order step, in units of Φbθ²: slope, curvature, remainder
    assert 2 * Rational(1, 48) - Rational(3, 8) / 2 + Rational(1, 6) / 2 == -Rational(1, 16)
    assert 2 * Rational(1, 36) - Rational(3, 8) / 2 + Rational(1, 6) / 2 == -Rational(7, 144)  # r with 72 for 96
    # first-order step at η = a/(2D²L), in units of a²/(D²L)
    assert -Rational(3, 8) / 2 + Rational(1, 4) / 2 == -Rational(1, 16)


@pytest.mark.parametrize("seed", range(4))
def test_runs_end_at_a_stationary_point(seed):
    # F(w) = cos w - w²/20 on [-1, 1] (L <= 1.1, ρ_H <= 1), from the maximum at 0; Φ = 1; a = b = 1/2
    generator = np.random.default_rng(seed)
    values = {"D": 2, "L": "1.1", "gap_tolerance": "0.5", "curvature_tolerance": "0.5"}
    values |= {"rho_H": 1, "Phi": 1}
    gap = 1 - math.cos(1) + 0.05
    limit = evaluate("steps", Delta_F=gap, **values).value.upper
    small = {"G": 1, "rho": "0.1", "T": int(limit)}
    found = evaluate(d=1, zeta="0.05", **small, **values)
    assert found.applies is True
    records = math.ceil(found.value.upper)
    first = evaluate("noise_stddev", n=records, **small).value.upper
    second = evaluate("hessian_noise_stddev", n=records, d=1, L="1.1", rho="0.1", T=int(limit)).value.upper
    eta, theta, r = 0.5 / 8.8, 0.5 / 16, 0.25 / (96 * 8)
    w, used = 0.0, 0
    while True:
        used += 1
        g = -math.sin(w) - w / 10 + first * generator.normal()
        v = -math.copysign(1.0, g)
        if g * (v - w) < -0.25:
            w += eta * (v - w)
            continue
        h = -math.cos(w) - 0.1 + second * generator.normal()
        ends = [-1.0, 1.0]  # of the u in [-1, 1] with g(u - w) <= r
        ends[1 if g > 0 else 0] = min(1.0, w + r / g) if g > 0 else max(-1.0, w + r / g)
        u = max(ends, key=lambda one: abs(one - w)) if h < 0 else w
        if h * (u - w) ** 2 <= -0.25:
            w += theta * (u - w)
            continue
        break
    assert used <= limit
    slope = -math.sin(w) - w / 10
    assert min(slope * (u - w) for u in (-1.0, 1.0)) >= -0.5
    if abs(slope) < 1e-12:
        assert -(math.cos(w) + 0.1) * (1 + abs(w)) ** 2 >= -0.5
    assert abs(w) > 0.2  # it left the maximum
    assert mpf(used) > 1
