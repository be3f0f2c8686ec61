"""Dwork & Roth, Theorem A.1: it holds over its whole range."""

from mpmath import exp, ln, mpf, ncdf, sqrt, workdps


def failure(epsilon, noise):
    mean = 1 / noise
    return ncdf(mean / 2 - epsilon / mean) - exp(epsilon) * ncdf(-mean / 2 - epsilon / mean)


def test_it_holds_over_the_whole_range():
    with workdps(30):
        for power in range(1, 60):
            for delta in (mpf(10) ** -power, 1 - mpf(10) ** -power, mpf(power) / 60):
                for epsilon in (mpf("0.001"), mpf("0.1"), mpf("0.5"), mpf(1)):
                    assert failure(epsilon, sqrt(2 * ln(mpf("1.25") / delta)) / epsilon) <= delta
