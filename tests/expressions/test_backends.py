"""Ball arithmetic beyond what Arb offers: the regularised incomplete beta function for large parameters."""

import flint
import mpmath
import pytest
from flint import arb, fmpq
from hypothesis import given, settings, strategies as st

from dpbounds.expressions import backends
from dpbounds.expressions.backends import backend_of

SHARE = backend_of("arb").functions["betainc_regularized"]
parameters = st.fractions("1/7", 40, max_denominator=7)


@pytest.mark.one_in(4)
@given(parameters, parameters, st.fractions("1/1000", "999/1000", max_denominator=1000))
@settings(max_examples=60, deadline=None)
def test_incomplete_beta_against_arb(a, b, x):
    with flint.ctx.workprec(160):
        first, second, point = (arb(fmpq(number.numerator, number.denominator)) for number in (a, b, x))
        ours = SHARE(first, second, point)
        assert ours.rel_accuracy_bits() > 100
    with flint.ctx.workprec(1200):
        first, second, point = (arb(fmpq(number.numerator, number.denominator)) for number in (a, b, x))
        theirs = point.beta_lower(first, second, regularized=True)
        assert theirs.is_finite()
        assert ours.overlaps(theirs)
        assert abs(ours - theirs).upper() < arb(10) ** -30 * abs(theirs).upper()


@pytest.mark.one_in(4)
@pytest.mark.parametrize("dimension", [1, 2, 50, 5_000, 1_000_000])
@pytest.mark.parametrize("spread", [fmpq(1, 10), fmpq(1), fmpq(9)])
def test_ball_noise_in_many_dimensions(dimension, spread):
    # The chance that one coordinate of a uniform point of the unit ball lies within sqrt(x) of the centre.
    with flint.ctx.workprec(200):
        point = arb(spread) / (dimension + 10)
        value = SHARE(arb(fmpq(1, 2)), arb(fmpq(dimension + 1, 2)), point)
        assert value.rel_accuracy_bits() > 120
        with mpmath.workdps(60):
            spot = mpmath.mpf(int(spread.p)) / int(spread.q) / (dimension + 10)
            density = mpmath.quad(
                lambda t: (1 - t * t) ** (mpmath.mpf(dimension - 1) / 2), mpmath.linspace(0, mpmath.sqrt(spot), 9)
            )
            twin = 2 * density / mpmath.beta(mpmath.mpf(1) / 2, mpmath.mpf(dimension + 1) / 2)
            assert abs(arb(mpmath.nstr(twin, 50)) - value).upper() < arb(10) ** -28


def test_wide_balls_stay_enclosures():
    with flint.ctx.workprec(120):
        wide = SHARE(arb(fmpq(1, 2)), arb(20), arb(fmpq(1, 10), fmpq(1, 1000)))
        for point in (fmpq(99, 1000), fmpq(1, 10), fmpq(101, 1000)):
            assert wide.contains(arb(point).beta_lower(arb(fmpq(1, 2)), arb(20), regularized=True))
        assert not SHARE(arb(1), arb(1), arb(1, 1)).is_finite()


@pytest.mark.parametrize("terms", [3, 8, 20])
@pytest.mark.parametrize(
    ("a", "b", "x"), [("1/7", "1/7", "2/5"), ("1/2", "9", "1/20"), ("3", "1/5", "1/3"), ("2", "30", "1/50")]
)
def test_a_series_cut_short_still_encloses(monkeypatch, terms, a, b, x):
    # What is left out after a few terms is far larger than the rounding errors, and must be covered by the tail bound.
    first, second, point = (fmpq(*map(int, [*text.split("/"), "1"][:2])) for text in (a, b, x))
    with flint.ctx.workprec(500):
        truth = arb(point).beta_lower(arb(first), arb(second), regularized=True)
    monkeypatch.setattr(backends, "_LONGEST_SERIES", terms)
    with flint.ctx.workprec(200):
        ours = SHARE(arb(first), arb(second), arb(point))
    assert ours.is_finite()
    assert ours.rel_accuracy_bits() < 150
    assert ours.contains(truth)
