"""Theorem 9: the range of ε that no constant serves.

With constants: its arithmetic, and runs of Algorithm 6 at the smallest sample.
"""

import math

import numpy as np
import pytest
import sympy
from mpmath import ceil, erfc, exp, ln, log, loggamma, mpf, sqrt, workdps
from sympy import Rational

from dpbounds.papers.wang_chen_xu_2019 import theorem_9
from tests.papers.reference_formulas import evaluated

explicit = evaluated("wang-chen-xu-2019/theorem-9/explicit")
evaluate = evaluated("wang-chen-xu-2019/theorem-9")


def above(threshold):
    """P(N(0, 1) > threshold)."""
    return erfc(threshold / sqrt(mpf(2))) / 2


@pytest.mark.parametrize(("constant", "share", "steps"), [(8, "0.5", 6), (8, "0.1", 8), (100, "0.5", 8)])
def test_no_constant_serves_the_printed_range(constant, share, steps):
    """C = [-1, 1], G = n = 1, w₁ = 0; all losses are 0 but one, which is -w or w; ε = share·T, δ = 1e-5.

    L and ρ_H may be any upper bounds: they are chosen to make η small and the second test pass. With α = 1/4 the first
    test asks for a step towards v while |g|(1 - |w|) > 1/8. Under -w, if all noise is below 1/8, w walks up to at least
    6/7 and is returned. Under w a step up takes noise beyond 1, and w > 1/2 takes m of them.
    """
    with workdps(60):
        steps = mpf(10) ** steps
        epsilon, logarithm = mpf(share) * steps, ln(mpf(10) ** 5)
        ratio = epsilon / sqrt(constant * steps * logarithm)  # gradient over noise
        walk = 1 / (8 * constant * logarithm / mpf(share))  # η = α/(2D²L), by the choice of L
        needed = ceil(ln(mpf(2)) / -log(1 - walk))
        walked = ceil(ln(mpf(8)) / -log(1 - walk)) + 1
        # the Hessian is 0 and its noise σ₂: q(u) >= -4|H|; ρ_H is so large that Φ√(ρ_H α)/8 = σ₂ · 10√T
        curved = 2 * above(10 * sqrt(steps))
        returned = 1 - walked * 2 * above(ratio / 8) - curved
        assert walked < steps
        ways = loggamma(steps + 1) - loggamma(needed + 1) - loggamma(steps - needed + 1)
        elsewhere = exp(epsilon + ways + needed * ln(above(ratio))) + exp(epsilon + ln(steps * curved))
        assert returned - elsewhere > mpf("0.99")


def test_the_combined_number_of_steps_is_larger():
    values = {"D": 2, "L": 3, "B": 1, "rho_H": 5, "Phi": "0.5"}
    for alpha in ("1", "0.01"):
        both, combined = (evaluate(name, alpha=alpha, **values).value for name in ("steps", "combined_steps"))
        assert both.upper <= combined.upper


def test_no_unit_of_the_tolerance_makes_the_terms_numbers():
    """The exponents of loss and length in each term, for α of the unit loss^a length^b: never all of them 0."""
    a, b = sympy.symbols("a b")
    loss = {"G": 1, "L": 1, "rho_H": 1, "B": 1, "D": 0, "alpha": a}
    length = {"lipschitz": -1, "smoothness": -2, "hessian_lipschitz": -3, "loss_range": 0, "diameter": 1}
    length["stationarity"] = b
    equations = []
    for term in theorem_9.sample_size.args:
        powers = term.as_powers_dict()
        equations += [sum(power * unit.get(str(base), 0) for base, power in powers.items()) for unit in (loss, length)]
    assert len(equations) == 6
    assert sympy.solve(equations, [a, b]) == []
    assert sympy.solve(equations[4:], [a, b])  # one term alone could be repaired by a unit


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
    limit = explicit("steps", Delta_F=gap, **values).value.upper
    small = {"G": 1, "rho": "0.1", "T": int(limit)}
    found = explicit(d=1, zeta="0.05", **small, **values)
    assert found.applies is True
    records = math.ceil(found.value.upper)
    first = explicit("noise_stddev", n=records, **small).value.upper
    second = explicit("hessian_noise_stddev", n=records, d=1, L="1.1", rho="0.1", T=int(limit)).value.upper
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
