"""Corollary 8.2: its exponent, and the minimisers of projected problems."""

import numpy as np
import pytest
import sympy
from mpmath import cbrt, mpf, sqrt


def test_the_exponent_is_three_sevenths():
    # the rate of Corollary 4.3 in dimension k, k^{2/3}/N, against the loss 1/√k of projecting
    k, scale = sympy.symbols("k N", positive=True)
    (best,) = sympy.solve(sympy.Eq(sympy.log(k ** sympy.Rational(2, 3) / scale), -sympy.log(k) / 2), k)
    assert sympy.simplify(best / scale ** sympy.Rational(6, 7)) == 1
    reached = sympy.simplify(sympy.log(1 / sympy.sqrt(best)) / sympy.log(scale))
    assert sympy.N(reached.subs(scale, 50)) == pytest.approx(-3 / 7)
    assert sympy.Rational(2, 7) < sympy.Rational(2, 5) < sympy.Rational(3, 7)


def test_it_beats_the_earlier_rate_at_every_rank():
    for scale in (mpf(10), mpf(10**4), mpf(10**8)):
        for r in (1, 2, 10, 1000, 10**6, 10**9):
            new = min(cbrt(mpf(r)) ** 2 / scale, scale ** (mpf(-3) / 7))
            old = min(cbrt(sqrt(mpf(r)) / scale) ** 2, scale ** (mpf(-2) / 5))
            assert new < old


def test_projected_minimisers_may_be_far_away():
    # squared loss in the link (Huber's, with a threshold above every residual): orthonormal features, labels D/√n, so
    # |w*| = D = 1; projected to k = n - 1 dimensions the least-squares solution has norm of order √n
    norms = []
    for n in (9, 36, 144):
        draw = np.random.default_rng(n)
        labels = np.full(n, n**-0.5)
        found = []
        for _ in range(61):
            projected = draw.normal(size=(n, n - 1)) / np.sqrt(n - 1)  # row i is Φx_i
            solution, *_ = np.linalg.lstsq(projected, labels, rcond=None)
            assert np.abs(projected @ solution - labels).max() <= 1  # the residuals stay below the threshold
            found.append(np.linalg.norm(solution))
        norms.append(np.median(found))
    assert norms[0] > 1
    assert norms[1] > 1.4 * norms[0]  # √4 = 2, within what 61 heavy-tailed draws allow
    assert norms[2] > 1.4 * norms[1]


def test_the_point_that_serves_is_near():
    # Φw* has norm at most 2D and keeps every prediction up to O(D √(log n/k))
    n, k = 400, 100
    draw = np.random.default_rng(0)
    projected = draw.normal(size=(n, k)) / np.sqrt(k)
    image = projected.T @ np.full(n, n**-0.5)  # Φw*, w* = (1, …, 1)/√n
    assert np.linalg.norm(image) < 2
    assert np.abs(projected @ image - n**-0.5).max() < 2 * np.sqrt(np.log(n) / k)
