"""Lemma E.3: the losses that it calls bounded are not, and the deviation that its proof takes is too small."""

import pytest
from mpmath import exp, ln, log, mpf, sqrt


def test_losses_themselves_are_not_bounded():
    # f(w, x) = G|w - x| on W = [0, 1] (D = 1 from w̃ = 0) at x = 50: values near 50 G; differences within [-GD, GD]
    lipschitz, diameter, record = 2.0, 1.0, 50.0
    values = [lipschitz * abs(w / 10 - record) for w in range(11)]
    assert min(values) > lipschitz * diameter
    assert all(abs(value - values[0]) <= lipschitz * diameter + 1e-12 for value in values)


@pytest.mark.parametrize(("d", "scale", "logarithm"), [(1, 1_000, 5.95), (5, 10_000, 37.8), (50, 100_000, 388.6)])
def test_the_printed_deviation_is_too_small(d, scale, logarithm):
    # G = D = 1, ε = 1, n = scale; a net of spacing d/(εn) with (2εn/d)^d points; the proof needs 4N exp(-np²/2) <= ζ/2
    zeta, points = mpf("0.05"), (2 * mpf(scale) / d) ** d
    printed = sqrt((log(8 / zeta) + d) / scale)
    failure = 4 * points * exp(-scale * printed**2 / 2)
    assert float(ln(failure)) == pytest.approx(logarithm, rel=2e-3)
    assert failure > 1 > zeta / 2
    # no net does better: even εn points on a line are too many
    assert 4 * mpf(scale) * exp(-scale * sqrt((log(8 / zeta) + 1) / scale) ** 2 / 2) > zeta / 2
    repaired = sqrt(2 * log(8 * points / zeta) / scale)
    assert 4 * points * exp(-scale * repaired**2 / 2) <= zeta / 2 * (1 + mpf("1e-9"))
