"""Remark 2: the exponent that a polynomial constant would give."""

from mpmath import findroot, log, mpf


def test_the_exponent():
    for degree in (0, 1, 4):
        sizes = (mpf(10) ** 6, mpf(10) ** 9)
        betas = [findroot(lambda b, n=n, m=degree: log(b) * (m + 3) - 2 * log(n), 10) for n in sizes]
        slope = log(betas[1] / betas[0]) / log(sizes[1] / sizes[0])
        assert abs(slope - mpf(2) / (degree + 3)) < 1e-10
