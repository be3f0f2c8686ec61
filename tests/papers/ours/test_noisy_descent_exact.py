"""The exact worst case: an instance that attains it, in exact arithmetic, and problems that do not exceed it."""

from fractions import Fraction

import numpy as np
import pytest

from tests.papers.reference_formulas import evaluated

evaluate = evaluated("dpbounds/noisy-descent-exact")


def attained(L, eta, T, gap, second_moment):
    """The weighted mean of E|∇F(w_t)|² on F = (L/2)|w|², by its recursion in rational numbers."""
    weight, total = eta * (1 - L * eta / 2), Fraction(0)
    for _ in range(T):
        total += weight * 2 * L * gap
        gap = (1 - L * eta) ** 2 * gap + L * eta**2 * second_moment / 2
    return (total + gap) / (T * weight + 1 / (2 * L))


@pytest.mark.parametrize("seed", range(6))
def test_the_quadratic_attains_it(seed):
    rng = np.random.default_rng(seed)
    L, gap, moment = (Fraction(int(rng.integers(1, 40)), 7) for _ in range(3))
    eta, T = Fraction(int(rng.integers(1, 20)), 10) / L, int(rng.integers(1, 15))
    bound = evaluate(digits=30, L=L, eta=eta, T=T, Delta_F=gap, d=4, sigma="1/2" if moment == 1 else 1).value
    exact = attained(L, eta, T, gap, Fraction(1) if moment == 1 else Fraction(4))
    assert abs(bound.exact_upper**2 - exact) < Fraction(1, 10**25) * exact
    assert bound.exact_upper**2 >= exact


def test_no_other_problem_exceeds_it():
    # cosines, a mixture of curvatures and Huber: the same weights, 20 000 runs
    rng, eta, T, sigma, runs = np.random.default_rng(0), 0.6, 6, 0.4, 20_000
    weight = eta * (1 - eta / 2)
    for slope, gap, start in (
        (np.sin, 2.0, np.pi - 0.5),
        (lambda w: 0.3 * w, 0.15, 1.0),
        (lambda w: np.clip(w, -0.5, 0.5), 0.375, 1.0),
    ):
        w, total = np.full(runs, start), 0.0
        for _ in range(T):
            total += weight * float((slope(w) ** 2).mean())
            w = w - eta * (slope(w) + sigma * rng.standard_normal(runs))
        measured = (total + float((slope(w) ** 2).mean()) / 2) / (T * weight + 0.5)
        assert measured <= evaluate(L=1, eta="0.6", T=T, Delta_F=str(gap), d=1, sigma="0.4").value.upper ** 2


def test_its_noise_is_that_of_a_budget():
    point = {"L": 1, "eta": "0.6", "T": 6, "Delta_F": 1, "d": 3}
    sigma = evaluate("noise_stddev", G=1, n=50, rho="0.1", T=6).value.upper
    found = evaluate(sigma=sigma, **point).value.upper
    assert found == pytest.approx(evaluate("private", G=1, n=50, rho="0.1", **point).value.upper, rel=1e-12)
