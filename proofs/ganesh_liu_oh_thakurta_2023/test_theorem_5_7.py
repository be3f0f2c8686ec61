"""Theorem 5.7: the start is close to the target, how many rounds suffice, and what δ really is."""

import numpy as np
import pytest
from mpmath import exp, ln, mpf, sqrt


def test_the_start_is_close():
    grid = np.linspace(0, 1, 4001)
    for beta in (0.1, 1.0, 8.0, 60.0):
        for loss in (grid, np.abs(grid - 0.4), -np.abs(np.abs(grid - 0.5) - 0.2)):
            weight = np.exp(-beta * loss)
            divergence = np.log(weight.mean()) + beta * loss.mean()  # KL of the uniform start from the target
            assert 0 <= divergence <= min(beta, beta**2 / 8)


def test_the_number_of_rounds_suffices():
    for reach in (mpf("1e-4"), mpf("0.3"), mpf(1)):  # η/C
        for start, delta in ((mpf(3), mpf("1e-5")), (mpf("0.01"), mpf("0.4"))):
            count = ln(1 + 8 * start / delta**2) / reach
            assert start / (1 + reach) ** (2 * count) <= delta**2 / 8


def queries(n, epsilon, d, delta):
    """The repaired count, all constants 1."""
    return n * (epsilon * (ln(n) + ln(d))) ** 2 * -ln(delta)


def rounds(size, dimension, epsilon, delta):
    """The proof's T, all constants 1: C/η ln(e^{βGD}/δ²) with C = nD² and η = 1/(β²G² ln(1/δ))."""
    hot = epsilon * ln(size * dimension) / sqrt(-ln(delta))  # βGD
    return size * hot**2 * -ln(delta) * (hot - 2 * ln(delta))


def test_the_rounds_of_the_proof():
    n, delta = mpf(10) ** 4, mpf("1e-5")
    for d in (mpf(1), mpf(50)):
        for epsilon, rel in ((mpf("1e-3"), 0.1), (mpf("1e-5"), 1e-3)):  # the power of ε is 2
            assert rounds(n, d, epsilon, delta) / queries(n, epsilon, d, delta) == pytest.approx(2, rel=rel)


@pytest.mark.parametrize(("n", "d", "epsilon"), [(10**6, 10, "0.4"), (10**4, 100, "0.1"), (10**8, 1, "0.01")])
def test_the_repaired_count_goes_with_the_rounds_in_every_direction(n, d, epsilon):
    """The record's own T and η, solved for each other, against the order that is stated: also where δ falls."""
    counts, shares = [], []
    for exponent in range(len(str(n)) - 1, 40, 4):  # δ <= 1/n
        delta = mpf(10) ** -exponent
        hot = mpf(epsilon) * (ln(mpf(n)) + ln(mpf(d))) / sqrt(-ln(delta))  # β, with G = D = 1
        count = mpf(1)
        for _ in range(50):
            eta = 1 / hot**2 / ln(2 * count / delta)
            count = n * ln(1 + 8 * hot / delta**2) / eta
        counts.append(count)
        shares.append(count / queries(mpf(n), mpf(epsilon), mpf(d), delta))
    assert counts == sorted(counts)
    assert counts[-1] > 1.3 * counts[0]
    assert 1.5 < min(shares) <= max(shares) < 6


def test_the_distance_is_paid_twice():
    epsilon, share, off = mpf("0.45"), mpf("0.2"), mpf("1e-3")  # one event; δ = off
    first, second = exp(epsilon) * share, share  # of an ε-DP law: the worst event
    achieved = (first + off) - exp(epsilon) * (second - off)
    assert achieved == pytest.approx((1 + exp(epsilon)) * off)
    assert achieved > 2 * off  # although the δ of the target is 0 here
    with_own_delta = (first + off + off) - exp(epsilon) * (second - off)  # the target uses up its own δ
    assert with_own_delta == pytest.approx((2 + exp(epsilon)) * off)
    assert (exp(mpf("0.4999")) + 1) * off * 3 / 4 < 2 * off  # what is recorded: with δ/T/2 for each round
