"""Theorem 1: the range of ε that no constant serves. With constants: against the certified accountant."""

import pytest
from mpmath import exp, ln, mpf, ncdf, sqrt, workdps

from tests.papers.reference_formulas import evaluated


def failure_of_the_output(constant, steps, epsilon, delta):
    """A lower bound on the δ at ε of x_R alone: linear losses, x₁ = 0, a half-space test.

    The records' gradients are 0 but for one, which is +G u or -G u: after k steps <x, -u>/γ is N(±kG/n, kσ²).
    """
    with workdps(30):
        ratio = mpf(epsilon) / sqrt(constant * ln(1 / mpf(delta)))  # G √T / (n σ)
        step = ratio / sqrt(mpf(steps))  # G / (n σ)
        best = mpf(0)
        least = constant * ln(1 / mpf(delta)) / (2 * mpf(epsilon))  # of the whole drift: below it e^ε outweighs
        for share in (least * 21 / 20, least * 6 / 5, least * 3 / 2):
            threshold = share * steps * step
            above = below = mpf(0)
            for k in range(1, steps):  # R = k + 1; with R = 1 the output is x₁
                above += ncdf((k * step - threshold) / sqrt(k))
                below += ncdf((-k * step - threshold) / sqrt(k))
            best = max(best, (above - exp(mpf(epsilon)) * below) / steps)
        return best


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("constant", "steps", "epsilon", "reached"), [(8, 1000, 500, 0.88), (16, 1000, 500, 0.78)])
def test_no_constant_serves_the_printed_range(constant, steps, epsilon, reached):
    # ε = T/2: below c₁T for every c₁ > 1/2; smaller c₁ need a larger T at the same ratio of ε to T
    assert failure_of_the_output(constant, steps, epsilon, "1e-5") > reached


@pytest.mark.seconds
def test_twice_as_long_for_half_the_constant_of_the_range():
    assert failure_of_the_output(8, 2000, 400, "1e-5") > 0.5  # ε = T/5


def test_the_constants_of_the_text():
    evaluate = evaluated("wang-xu-2019/theorem-1/explicit")
    assert evaluate("noise_constant", epsilon="1e-9", delta="1e-5").value.lower == pytest.approx(8)
    at_the_edge = evaluate("noise_constant", epsilon="11.512925464970229", delta="1e-5").value.lower
    assert at_the_edge == pytest.approx(6 + 4 * 2**0.5)
