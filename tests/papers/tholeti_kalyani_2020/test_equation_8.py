"""Equation (8): its left-hand side, by mpmath's own incomplete beta function; and the sum for more terms."""

import pytest
from mpmath import betainc, factorial, mpf, rf, workdps


def left(argument, parameter, m):
    return betainc(parameter, m, 0, argument, regularized=True)


def kth(argument, parameter, k):
    return argument**parameter * rf(parameter, k) * (1 - argument) ** k / factorial(k)


TWINS = {
    "one-term": lambda argument, parameter: left(argument, parameter, 1),
    "two-terms": lambda argument, parameter: left(argument, parameter, 2),
    "three-terms": lambda argument, parameter: left(argument, parameter, 3),
    "increment": lambda argument, parameter, terms: kth(argument, parameter, terms),
}


@pytest.mark.parametrize("m", [1, 4, 17])
@pytest.mark.parametrize(("z", "a"), [("0.2", "0.5"), ("0.9", "3.7")])
def test_the_identity(m, z, a):
    with workdps(40):
        right = sum(kth(mpf(z), mpf(a), k) for k in range(m))
        assert abs(left(mpf(z), mpf(a), m) - right) < mpf(10) ** -37
