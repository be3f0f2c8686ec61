"""Equation (2), a second time: squared sensitivity over twice the variance."""

from mpmath import mpf

TWINS = {
    "fresh-cost": lambda lipschitz, dataset_size, noise_stddev: (
        (2 * lipschitz / dataset_size) ** 2 / (2 * noise_stddev**2)
    ),
    "difference-cost": lambda smoothness, dataset_size, difference_noise_stddev: (
        (2 * smoothness / dataset_size) ** 2 / (2 * difference_noise_stddev**2)
    ),
}


def test_sensitivities_are_attained():
    # n = 3 records, losses ±G x: means differ by 2G/n; quadratics ±M x²/2: differences of slopes by 2M|x - y|/n
    lipschitz, smoothness, x, y = mpf(5), mpf(2), mpf(7), mpf(4)
    assert abs((lipschitz + 0 + 0) / 3 - (-lipschitz + 0 + 0) / 3) == 2 * lipschitz / 3
    assert abs(smoothness * (x - y) / 3 - -smoothness * (x - y) / 3) == 2 * smoothness * abs(x - y) / 3
