"""Theorem A.5: the divergence of two Gaussians by quadrature."""

from mpmath import exp, inf, log, mp, mpf, pi, quad, sqrt

from tests.papers.reference_formulas import reference_of

twin = reference_of("ganesh-liu-oh-thakurta-2023/theorem-a.5")


def test_the_divergence_is_exactly_this():
    shift, spread, order = mpf("0.8"), mpf("1.3"), mpf("2.5")

    def integrand(x):
        first, second = (-((x - centre) ** 2) / (2 * spread**2) for centre in (0, shift))
        return exp(order * first + (1 - order) * second) / (spread * sqrt(2 * pi))

    divergence = log(quad(integrand, [-inf, -5, 0, 5, inf])) / (order - 1)
    assert mp.almosteq(divergence, order * twin("rho", Delta=shift, sigma=spread), 1e-10)
