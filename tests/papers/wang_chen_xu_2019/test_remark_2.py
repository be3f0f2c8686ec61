"""Remark 2, a second time from the text; the exponent that a polynomial constant would give."""

from mpmath import cbrt, findroot, log, mpf

TWINS = {"rate": lambda dataset_size, epsilon: 1 / cbrt(dataset_size * epsilon) ** 2}


def test_the_exponent():
    for degree in (0, 1, 4):
        sizes = (mpf(10) ** 6, mpf(10) ** 9)
        betas = [findroot(lambda b, n=n, m=degree: log(b) * (m + 3) - 2 * log(n), 10) for n in sizes]
        slope = log(betas[1] / betas[0]) / log(sizes[1] / sizes[0])
        assert abs(slope - mpf(2) / (degree + 3)) < 1e-10
