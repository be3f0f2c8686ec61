"""Definition A.1, a second time from the text, and that it is a density."""

from mpmath import e, inf, mp, mpf, quad

TWINS = {
    "density": lambda laplace_point, laplace_scale: 1 / (2 * laplace_scale) * e ** (-abs(laplace_point) / laplace_scale)
}


def test_it_integrates_to_one_with_variance_2b2():
    scale = mpf("0.7")
    density = TWINS["density"]
    assert mp.almosteq(2 * quad(lambda x: density(x, scale), [0, 1, inf]), 1, 1e-12)
    assert mp.almosteq(2 * quad(lambda x: x**2 * density(x, scale), [0, 1, 10, inf]), 2 * scale**2, 1e-10)
