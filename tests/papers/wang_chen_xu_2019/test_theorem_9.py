"""Theorem 9: its number of steps, and the units of its tolerance.

With constants: runs of Algorithm 6 at the smallest sample.
"""

import math

import numpy as np
import pytest
import sympy
from mpmath import mpf

from dpbounds.papers.wang_chen_xu_2019 import theorem_9
from tests.papers.reference_formulas import evaluated

explicit = evaluated("wang-chen-xu-2019/theorem-9/explicit")
evaluate = evaluated("wang-chen-xu-2019/theorem-9")


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


@pytest.mark.parametrize("seed", range(4))
def test_runs_end_at_a_stationary_point(seed):
    # F(w) = cos w - w²/20 on [-1, 1] (L <= 1.1, ρ_H <= 1), from the maximum at 0; Φ = 1; a = b = 1/2
    generator = np.random.default_rng(seed)
    values = {"D": 2, "L": "1.1", "gap_tolerance": "0.5", "curvature_tolerance": "0.5"}
    values |= {"rho_H": 1, "Phi": 1}
    gap = 1 - math.cos(1) + 0.05
    limit = explicit("steps", Delta_F=gap, **values).value.upper
    small = {"G": 1, "rho": "0.1", "T": int(limit)}
    found = explicit(d=1, zeta="0.05", Delta_F=gap, **small, **values)
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
