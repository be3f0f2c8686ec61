"""Lemma 3.3: Lemma 2.4 fails where its parameters depend on the past."""

from mpmath import erfc, expm1, log, log1p, mpf, sqrt


def chance_of_exceeding(constant, failure, terms):
    """A lower bound on P(|S| > c √(V log(2/ω))): d = 1, V the sum of the variances that were met.

    S = Σ s_i g_i with s_i² = 10⁸ times the variance so far, as long as |S| <= a √V, and s_i = 0 ever after. Where the
    first i - 1 sums are within, |g_i| > a (√(1 + 1e-8) + 1e-4) is enough for the next to be outside.
    """
    a = constant * sqrt(log(2 / failure))
    one = erfc(a * (sqrt(1 + mpf("1e-8")) + mpf("1e-4")) / sqrt(2))
    return -expm1(terms * log1p(-one))


def test_no_constant_serves_parameters_that_depend_on_the_past():
    for constant in (1, 3, 10):
        failure = mpf("0.1")
        tail = erfc(constant * sqrt(log(2 / failure)) * mpf("1.001") / sqrt(2))
        assert chance_of_exceeding(constant, failure, 10 / tail) > mpf("0.99") > failure
    assert chance_of_exceeding(3, mpf("0.1"), 1) < mpf("0.1")  # one term, fixed in advance: no contradiction
