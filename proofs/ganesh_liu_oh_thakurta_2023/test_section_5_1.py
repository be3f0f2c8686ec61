"""The log-Sobolev constant of a strongly convex potential: Gaussians attain it."""

from mpmath import exp, inf, log, mp, mpf, pi, quad, sqrt


def test_exponentials_attain_it_under_a_gaussian():
    beta, strength, slope = mpf(3), mpf("0.4"), mpf("0.9")
    constant = 1 / (beta * strength)

    def mean(function):
        weight = sqrt(beta * strength / (2 * pi))
        return quad(lambda x: function(x) * weight * exp(-beta * strength * x * x / 2), [-inf, -6, -2, 0, 2, 6, inf])

    square = mean(lambda x: exp(slope * x))  # f = exp(slope x / 2)
    entropy = mean(lambda x: slope * x * exp(slope * x)) - square * log(square)
    gradient = mean(lambda x: slope**2 / 4 * exp(slope * x))
    assert mp.almosteq(entropy, 2 * constant * gradient, 1e-10)
