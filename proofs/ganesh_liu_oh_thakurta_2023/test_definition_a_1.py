"""Definition A.1: it is a density."""

from mpmath import exp, inf, mp, mpf, quad


def test_it_integrates_to_one_with_variance_2b2():
    scale = mpf("0.7")

    def density(x, scale):
        return exp(-abs(x) / scale) / (2 * scale)

    assert mp.almosteq(2 * quad(lambda x: density(x, scale), [0, 1, inf]), 1, 1e-12)
    assert mp.almosteq(2 * quad(lambda x: x**2 * density(x, scale), [0, 1, 10, inf]), 2 * scale**2, 1e-10)
