"""Theorem 7: how long it takes to leave an exact saddle."""

from mpmath import erfc, mpf, sqrt


def test_an_exact_saddle_is_left_after_a_number_of_steps_that_grows_with_n():
    # x -> (1 + ηγ)x - ησz from 0 with ηγ = 1/10: after T steps N(0, η²σ² Σ (1 + ηγ)^(2k)); away means |x| > η
    def away(sigma, steps):
        spread = sigma * sqrt(sum(mpf("1.1") ** (2 * k) for k in range(steps)))
        return erfc(1 / spread / sqrt(mpf(2)))

    assert away(mpf("0.1"), 60) > 0.97
    assert away(mpf(10) ** -6, 60) < mpf(10) ** -100  # a million times less noise, the same number of steps
    assert away(mpf(10) ** -6, 60 + 150) > 0.97  # and ln(10⁵)/ln(1.1) = 121 more
