"""Theorem 5.7: what its count and its δ really are."""

import pytest
from mpmath import exp, ln, mpf, sqrt

from tests.papers.reference_formulas import evaluated, reference_of

twin = reference_of("ganesh-liu-oh-thakurta-2023/theorem-5.7")

evaluate = evaluated("ganesh-liu-oh-thakurta-2023/theorem-5.7")


def printed_count(size, dimension, epsilon, delta, span):
    return size * epsilon**3 * ln(dimension) ** 3 * sqrt(-ln(delta)) / span


def rounds(size, dimension, epsilon, delta, span, start):
    """The proof's T, all constants 1: C/η ln(start/δ²) with C = nD² and η = 1/(β²G² ln(2T/δ)), ln(1/δ) for the last."""
    hot = epsilon * ln(size * dimension) / sqrt(-ln(delta))  # βGD
    del span  # of the loss: β is in units of 1/(GD), and T does not know of it
    return size * hot**2 * -ln(delta) * (start(hot) - 2 * ln(delta))


def test_the_printed_count_changes_with_the_unit_of_the_loss():
    n, d, epsilon, delta = mpf(10) ** 4, mpf(10), mpf("0.4"), mpf("1e-5")
    ratios = [
        rounds(n, d, epsilon, delta, span, ln) / printed_count(n, d, epsilon, delta, span)
        for span in (mpf(1), mpf(10) ** 6, mpf(10) ** 12)
    ]
    assert ratios[1] == pytest.approx(1e6 * ratios[0])
    assert printed_count(n, d, epsilon, delta, mpf(10) ** 12) < mpf("0.01")  # no data at all are looked at, on average
    values = {"n": 10**4, "d": 10, "epsilon": "0.4", "delta": "1e-5", "G": 10**12, "D": 1}
    relative = evaluate("rate", **values).value.lower / 1e12
    huge = evaluate("rate", **{**values, "n": 10**400, "d": 1}).value.lower / 1e12
    assert relative > 1 > huge  # and yet the risk would be small against GD


def test_the_rounds_of_the_proof():
    n, delta = mpf(10) ** 4, mpf("1e-5")
    assert printed_count(n, mpf(1), mpf("0.4"), delta, mpf(1)) == 0
    for d in (mpf(1), mpf(50)):
        shares = []
        for epsilon in (mpf("0.1"), mpf("1e-3"), mpf("1e-5")):
            stated = twin("queries", n=n, epsilon=epsilon, d=d, delta=delta)
            logs = rounds(n, d, epsilon, delta, 1, lambda hot: hot) / stated  # with the printed start: ln of e^{βGD}
            shares.append(logs)
        assert shares[-1] == pytest.approx(2, rel=1e-3)  # the power of ε is 2


@pytest.mark.parametrize(("n", "d", "epsilon"), [(10**6, 10, "0.4"), (10**4, 100, "0.1"), (10**8, 1, "0.01")])
def test_the_repaired_count_goes_with_the_rounds_in_every_direction(n, d, epsilon):
    """The record's own T and η, solved for each other, against the order that is stated: also where δ falls."""
    counts, shares = [], []
    for exponent in range(len(str(n)) - 1, 40, 4):  # δ <= 1/n
        delta = mpf(10) ** -exponent
        hot = mpf(epsilon) * (ln(mpf(n)) + ln(mpf(d))) / sqrt(-ln(delta))  # β, with G = D = 1
        count = mpf(1)
        for _ in range(50):
            eta = twin("proximal_step", beta=hot, G=1, T=count, delta=delta)
            count = twin("steps", n=n, D=1, proximal_step=eta, beta=hot, G=1, delta=delta)
        counts.append(count)
        shares.append(count / twin("queries", n=n, epsilon=mpf(epsilon), d=mpf(d), delta=delta))
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
    assert twin("delta", epsilon=mpf("0.4999"), delta=off) < 2 * off
