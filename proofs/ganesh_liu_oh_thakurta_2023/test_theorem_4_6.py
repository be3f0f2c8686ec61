"""Theorem 4.6: its batches do not fit, and a third term follows from the terms of its proof."""

from mpmath import mpf, root, sqrt
from sympy import Rational, Symbol, expand, symbols


def test_the_batches_do_not_fit():
    n, kappa, risk, smooth, alpha, logs = symbols("n kappa B M alpha ell", positive=True)
    first, second = n * kappa * smooth / risk, n * alpha**2 / (risk * smooth)
    queries, steps = risk / (smooth * kappa) * logs**4, risk * smooth * logs**10 / alpha**2
    needed = expand(first * queries + second * steps)
    assert needed == n * logs**4 + n * logs**10
    assert needed.subs(logs, 1) > n / 2
    # T of Algorithm 1 in terms of α₁ = γ log³: log⁴/γ² = log¹⁰/α₁²
    gamma = Symbol("gamma", positive=True)
    assert (logs**10 / alpha**2).subs(alpha, gamma * logs**3) == logs**4 / gamma**2
    # b₁ smaller by log⁴ and b₂ by log¹⁰: powers of the logarithm in each of the proof's terms, times log³, and the
    # power of α₁ by which it is solved; the printed κ stays
    sampling = (Rational(4, 2) + 3, (Rational(10, 2) + 3) / 2)
    noise = (Rational(4) + 3, (Rational(10) + 3) / 3)
    assert (max(sampling), max(noise)) == (5, 7)


def four_terms(x, n, kappa, alpha):
    """Of the display in the proof, G = B = M = 1, without logarithms."""
    return x / kappa, x * sqrt(kappa) / alpha**2, 1 / sqrt(n * kappa), sqrt(kappa) / (sqrt(n) * alpha)


def smallest(x, n, kappa):
    """The smallest α that is at least the largest of the four terms, by bisection on its logarithm."""
    low, high = mpf(10) ** -60, mpf(10) ** 60
    for _ in range(250):
        middle = sqrt(low * high)
        low, high = (low, middle) if max(four_terms(x, n, kappa, middle)) <= middle else (middle, high)
    return high


def test_a_third_term_follows_from_the_four():
    n = mpf(10) ** 120
    for power, inside in ((mpf(7) / 9, True), (mpf("0.8"), True), (mpf("0.9"), False), (mpf("0.6"), False)):
        x = n**-power
        printed = max(n ** (-mpf(1) / 3), x ** (mpf(3) / 7))
        third = root(x / sqrt(n), 4)
        best = min(smallest(x, n, n ** (-mpf(k) / 100)) for k in range(100))
        assert best >= third * mpf("0.999")
        assert (third > 2 * printed) is inside
        assert best <= 10 * max(printed, third)
    # at x = n^{-7/9} the excess is n^{1/72}; edges of the window
    assert Rational(-7, 36) - Rational(1, 8) - Rational(-1, 3) == Rational(1, 72)
    assert (Rational(-5, 6) - Rational(1, 2)) / 4 == Rational(-1, 3)
    assert (Rational(-7, 10) - Rational(1, 2)) / 4 == Rational(3, 7) * Rational(-7, 10)
    # the printed κ is worse by more
    x = n ** -(mpf(7) / 9)
    kappa = max(n ** (-mpf(1) / 3), x ** (mpf(4) / 7))
    assert smallest(x, n, kappa) > 2 * root(x / sqrt(n), 4)
