"""Equation (2): the sensitivities are attained."""

from mpmath import mpf


def test_sensitivities_are_attained():
    # n = 3 records, losses ±G x: means differ by 2G/n; quadratics ±M x²/2: differences of slopes by 2M|x - y|/n
    lipschitz, smoothness, x, y = mpf(5), mpf(2), mpf(7), mpf(4)
    assert abs((lipschitz + 0 + 0) / 3 - (-lipschitz + 0 + 0) / 3) == 2 * lipschitz / 3
    assert abs(smoothness * (x - y) / 3 - -smoothness * (x - y) / 3) == 2 * smoothness * abs(x - y) / 3
