"""Theorem A.5: the divergence of two Gaussians by quadrature."""

from mpmath import exp, inf, log, mp, mpf, pi, quad, sqrt


def test_the_divergence_is_exactly_this():
    shift, spread, order = mpf("0.8"), mpf("1.3"), mpf("2.5")

    def integrand(x):
        first, second = (-((x - centre) ** 2) / (2 * spread**2) for centre in (0, shift))
        return exp(order * first + (1 - order) * second) / (spread * sqrt(2 * pi))

    divergence = log(quad(integrand, [-inf, -5, 0, 5, inf])) / (order - 1)
    assert mp.almosteq(divergence, order * (shift / spread) ** 2 / 2, 1e-10)
