"""Proposition D.1: the bounds of its proof, a second time, and where they come from."""

from mpmath import mpf, sqrt
from sympy import diff, simplify, solve

from dpbounds.expressions.symbols import step_size
from dpbounds.papers.lowy_ullman_wright_2024.proposition_d_1 import at_the_prescribed_step, telescoped

TWINS = {
    "bound": lambda diameter, lipschitz, dimension, noise_stddev, quasar_convexity, steps: (
        diameter / quasar_convexity * sqrt((lipschitz**2 + dimension * noise_stddev**2) / steps)
    ),
    "telescoped": lambda diameter, step_size, quasar_convexity, steps, lipschitz, dimension, noise_stddev: (
        (diameter**2 / (step_size * steps) + step_size * (lipschitz**2 + dimension * noise_stddev**2))
        / (2 * quasar_convexity)
    ),
}


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
    bound = TWINS["telescoped"](start, eta, 1, steps, start, 1, sigma)
    assert bound / 20 <= total / steps <= bound
