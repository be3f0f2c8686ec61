"""A small gradient of the population risk: the drop of a move, what samples are off, and when it is worth its start."""

import math

import numpy as np
import pytest

from tests.papers.reference_formulas import evaluated

cold, warm = evaluated("dpbounds/population-path-noise"), evaluated("dpbounds/population-path-noise/warm-start")
second_order = evaluated("dpbounds/second-order-path-noise/population")


def test_no_walk_is_longer_than_is_said():
    """On (L/2)w² and on Huber's loss, with the errors that make moves as useless as they can be."""
    L, alpha = 2.0, 0.1
    for w, bend in ((0.05, math.inf), (0.25, math.inf), (0.2, 0.15), (0.25, 0.3)):

        def slope(x, bend=bend):
            return L * float(np.clip(x, -bend, bend))

        def value(x, bend=bend):
            return L * (x * x / 2 if abs(x) <= bend else bend * abs(x) - bend * bend / 2)

        x, walked = 1.0, 0.0
        longest = cold("path_length", L=L, alpha=alpha, Delta_F=value(x), gradient_error=w).value.upper
        for k in range(100_000):
            error = w * alpha * (1 if k % 2 else -1)  # makes a move longer than the gradient is worth, then shorter
            g = slope(x) + error
            if abs(g) <= (1 - w) * alpha:
                break
            before, x = value(x), x - g / L
            walked += abs(g) / L
            assert before - value(x) >= abs(g) / L * alpha * (1 - 3 * w) / 2 * (1 - 1e-12)
        else:
            raise AssertionError("it does not end")
        assert 0 < walked <= longest
        assert abs(slope(x)) <= alpha


@pytest.mark.parametrize(("n", "radius"), [(30, 3.0), (300, 1.0)])
def test_gradients_of_records_that_are_drawn_are_as_near_as_is_said(n, radius):
    """Losses cos(w - z) in one dimension, z uniform: F_P is constant, and the supremum has a closed form."""
    draws = np.random.default_rng(1).uniform(0, 2 * math.pi, (2000, n))
    waves = np.abs(np.exp(1j * draws).mean(axis=1))
    common = {"G": 1, "L": 1, "d": 1, "n": n, "zeta": "0.9"}
    near = cold("gradient_deviation", **common, path_length=radius).value.upper
    net = warm("gradient_deviation", **common, D=radius / 2, path_length=radius / 2).value.upper
    assert near == pytest.approx(net, rel=1e-12)  # the same ball
    assert (waves > near).mean() <= 0.9 / 2
    assert (waves > near / 6).mean() > 0.9 / 2  # a sixth of it is not enough
    both = second_order("gradient_deviation", **common, D=radius / 2, path_length=radius / 2).value.upper
    assert near < both  # there Hessians have half of what may fail


FREE = {"gradient_error": "0.217", "window": "0.03"}
COMMON = {"G": 1, "L": 1, "D": 1, "rho": 1, "zeta": "0.01", **FREE}


def least(statement, n, d, gap):
    """The least α for which n records are enough."""

    def enough(alpha):
        point = {**COMMON, "n": n, "d": d, "alpha": repr(alpha), **gap}
        point["path_length"] = repr(statement("path_length", **point).value.upper * (1 + 1e-9))
        return statement(**point).applies

    low, high = 1e-14, 10.0
    while high > 1.001 * low:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def test_a_good_start_has_its_order_and_is_worth_it_where_there_are_more_than_d_records():
    """At n = d² the orders of α are d^(2/3)/n = d^(-4/3), and from anywhere (√d/n)^(2/3) = d^-1."""
    found = {}
    for d in (10**6, 10**8):
        n = d**2
        psi = repr(warm("start_gap", **COMMON, n=n, d=d).value.upper)
        found["net", d], found["far", d] = least(warm, n, d, {"start_gap": psi}), least(cold, n, d, {"Delta_F": 1})
    fall = {kind: math.log(found[kind, 10**8] / found[kind, 10**6]) / math.log(100) for kind in ("net", "far")}
    assert fall["net"] == pytest.approx(-4 / 3, abs=0.05)  # logarithms make it a little less
    assert fall["far"] == pytest.approx(-1, abs=0.05)
    assert found["net", 10**6] < found["far", 10**6]
    n, d = 10**7, 10**7  # as many parameters as records
    psi = repr(warm("start_gap", **COMMON, n=n, d=d).value.upper)
    assert least(warm, n, d, {"start_gap": psi}) > least(cold, n, d, {"Delta_F": 1})


def test_too_few_records_or_too_short_a_path_promise_nothing():
    point = {**COMMON, "n": 10**7, "d": 10, "alpha": "0.01", "Delta_F": 1}
    length = cold("path_length", **point).value.upper * (1 + 1e-9)
    assert cold(**point, path_length=repr(length)).applies
    assert cold(**point, path_length=repr(length / 2)).applies is False
    assert cold(**{**point, "n": 10**4}, path_length=repr(length)).applies is False
    behind = {**point, "path_length": repr(length)}
    assert warm(**behind, start_gap="1e-9").applies is False  # the first point is not known to be as good
