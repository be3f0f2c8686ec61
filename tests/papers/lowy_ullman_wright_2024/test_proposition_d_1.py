"""Proposition D.1: where they come from."""

from mpmath import mpf
from sympy import diff, simplify, solve

from dpbounds.expressions.symbols import step_size
from dpbounds.papers.lowy_ullman_wright_2024.proposition_d_1 import at_the_prescribed_step, telescoped
from tests.papers.twins import twin_of

twin = twin_of("lowy-ullman-wright-2024/proposition-d.1")


def test_the_prescribed_step_is_the_best_one():
    (best,) = solve(diff(telescoped, step_size), step_size)
    assert simplify(telescoped.subs(step_size, best) - at_the_prescribed_step) == 0


def test_a_quadratic_stays_below():
    # F = w²/2 (q = 1, even q = 2 here), started at D: exact second moments; G >= |w| on the path is D here
    start, eta, sigma, steps = mpf(2), mpf("0.1"), mpf("0.3"), 40
    square, total = start**2, mpf(0)
    for _ in range(steps):
        total += square / 2
        square = (1 - eta) ** 2 * square + (eta * sigma) ** 2
        assert square <= start**2
    bound = twin("telescoped", D=start, eta=eta, q_c=1, T=steps, G=start, d=1, sigma=sigma)
    assert bound / 20 <= total / steps <= bound
