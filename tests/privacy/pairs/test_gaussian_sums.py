"""Sums over draws, held against the same sums term by term, mpmath, and weights that end early."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import flint
import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings, strategies as st

from dpbounds.privacy.pairs.gaussian_sums import (
    Places,
    RatioSum,
    Weights,
    tails_growing,
    tails_shrinking,
    upper_tail,
)
from dpbounds.privacy.pairs.losses import LossDistribution, ball, law_at
from dpbounds.privacy.pairs.pairs import Direction, DrawnGaussians, Draws, Sampled, ShiftedGaussians

REFERENCE = 1200  # bits


def binomial(rate: Fraction, slots: int) -> list[Fraction]:
    return [comb(slots, k) * rate**k * (1 - rate) ** (slots - k) for k in range(slots + 1)]


def as_balls(masses: list[Fraction]) -> list[arb]:
    return [ball(mass) for mass in masses]


def term_by_term(masses: list[Fraction], places: list[Fraction]) -> arb:
    with flint.ctx.workprec(REFERENCE):
        terms = (ball(mass) * upper_tail(ball(place)) for mass, place in zip(masses, places, strict=True))
        return sum(terms, arb(0))


@pytest.mark.seconds
@pytest.mark.one_in(4)
@settings(deadline=None, max_examples=60)
@given(
    rate=st.fractions(Fraction(1, 10**6), Fraction(9, 10)),
    slots=st.integers(1, 60),
    shift=st.fractions(Fraction(1, 1000), 8),
    start=st.fractions(-30, 30),
    bits=st.sampled_from([40, 96, 192, 320]),
)
def test_both_kinds_of_sums_hold_the_true_one(
    rate: Fraction, slots: int, shift: Fraction, start: Fraction, bits: int
) -> None:
    masses = binomial(rate, slots)
    for sign, summed in ((-1, tails_growing), (1, tails_shrinking)):
        exact = [start + sign * k * shift for k in range(slots + 1)]
        with flint.ctx.workprec(bits):
            places = Places.near(
                lambda k, exact=exact: ball(exact[k]),  # type: ignore[misc]
                np.array([float(x) for x in exact]),
                lambda _: True,
            )
            found = summed(Weights.of(as_balls(masses)), places)
        truth = term_by_term(masses, exact)
        assert found.overlaps(truth)
        with flint.ctx.workprec(bits):
            assert found.rad() <= abs(truth) * arb(2) ** (40 - bits) + arb(2) ** (-3 * bits)


def test_rough_places_may_be_quite_wrong() -> None:
    """Sizes are estimates: whatever they are, the sum is in the ball."""
    masses = binomial(Fraction(1, 10), 30)
    exact = [Fraction(2) - k * Fraction(1, 3) for k in range(31)]
    truth = term_by_term(masses, exact)
    for rough in (np.zeros(31), np.full(31, 1e300), np.full(31, -1e300), np.full(31, np.nan), -(np.arange(31.0) ** 2)):
        with flint.ctx.workprec(128):
            places = Places.near(lambda k: ball(exact[k]), rough, lambda _: True)
            assert tails_growing(Weights.of(as_balls(masses)), places).overlaps(truth)


def test_what_is_not_steady_is_summed_term_by_term() -> None:
    masses = binomial(Fraction(1, 2), 20)
    exact = [Fraction((-1) ** k * 5) for k in range(21)]  # never monotone
    with flint.ctx.workprec(96):
        places = Places.near(lambda k: ball(exact[k]), np.array([float(x) for x in exact]), lambda _: False)
        for summed in (tails_growing, tails_shrinking):
            found = summed(Weights.of(as_balls(masses)), places)
            assert found.overlaps(term_by_term(masses, exact))
            assert found.rel_accuracy_bits() > 60


# --- the sum of likelihood ratios ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rate", "slots", "shift", "x"),
    [("1/1000", 100, "1/4", "3"), ("1/1000", 100, "2", "-5"), ("1/50", 5, "1/2", "40"), ("9/10", 200, "1/9", "0")],
)
@pytest.mark.parametrize("bits", [96, 320])
def test_likelihood_ratios(rate: str, slots: int, shift: str, x: str, bits: int) -> None:
    masses = binomial(Fraction(rate), slots)[1:]
    with flint.ctx.workprec(REFERENCE):
        s, place = ball(Fraction(shift)), arb(x)
        terms = [ball(mass) * (k * s * place - k * k * s * s / 2).exp() for k, mass in enumerate(masses, start=1)]
        value = sum(terms, arb(0))
        slope = s * sum((k * term for k, term in enumerate(terms, start=1)), arb(0))
    with flint.ctx.workprec(bits):
        ratios = RatioSum(Weights.of(as_balls(masses)), ball(Fraction(shift)))
        found, found_slope = ratios.value_and_slope(arb(x))
        root = ratios.root(value.log())
    assert found.overlaps(value)
    assert found_slope.overlaps(slope)
    assert found.rel_accuracy_bits() > bits - 30
    assert root.contains(arb(x))
    assert root.rad() < arb(2) ** (40 - bits)


def test_a_poor_start_only_widens_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    masses = binomial(Fraction(1, 20), 10)[1:]
    monkeypatch.setattr(RatioSum, "_rough_root", lambda *_: 30.0)
    with flint.ctx.workprec(128):
        ratios = RatioSum(Weights.of(as_balls(masses)), arb(1) / 2)
        value, _ = ratios.value_and_slope(arb(1))
        assert ratios.root(value.log()).contains(arb(1))


# --- the laws made of them -------------------------------------------------------------------------------------------


def from_the_definition(pair: Sampled | DrawnGaussians, loss: Fraction) -> tuple[arb, arb]:
    """P- and Q-mass above a loss, for remove: every term, the threshold by bisection."""
    draws = pair.draws
    masses = binomial(draws.rate, draws.slots)
    with flint.ctx.workprec(REFERENCE):
        if isinstance(pair, DrawnGaussians):
            s, goal = ball(pair.squared_shift).sqrt(), ball(loss).exp()
            low, high = arb(-400), arb(400)
            for _ in range(900):
                middle = ((low + high) / 2).mid()
                total = sum(
                    (ball(m) * (k * s * middle - k * k * s * s / 2).exp() for k, m in enumerate(masses)), arb(0)
                )
                low, high = (middle, high) if total < goal else (low, middle)
            x = low.union(high)
            return sum((ball(m) * upper_tail(x - k * s) for k, m in enumerate(masses)), arb(0)), upper_tail(x)
        assert isinstance(pair.base, ShiftedGaussians)
        mu, present = ball(pair.base.squared_shift).sqrt(), ball(1 - masses[0])
        inner = (1 + ball(loss).expm1() / present).log()
        p, r = arb(0), arb(0)
        for k, mass in enumerate(masses[1:], start=1):
            part_p = upper_tail(inner / (k * mu) - k * mu / 2)
            part_r = upper_tail(inner / (k * mu) + k * mu / 2)
            p += ball(mass) * (part_p + part_r * ball(masses[0]) / present)
            r += ball(mass) * part_r / present
        return p, r


@pytest.mark.seconds
@pytest.mark.parametrize("bits", [96, 192, 320])
@pytest.mark.parametrize("loss", ["1/1000", "1/10", "1", "6"])
@pytest.mark.parametrize(
    "pair",
    [
        Sampled(Direction.REMOVE, Draws(Fraction(1, 100), 30), ShiftedGaussians(Fraction(1, 4))),
        Sampled(Direction.REMOVE, Draws(Fraction(1, 3), 9), ShiftedGaussians(Fraction(4))),
        DrawnGaussians(Direction.REMOVE, Draws(Fraction(1, 100), 30), Fraction(1, 4)),
        DrawnGaussians(Direction.REMOVE, Draws(Fraction(1, 3), 9), Fraction(4)),
    ],
)
def test_tails_of_laws(pair: Sampled | DrawnGaussians, loss: str, bits: int) -> None:
    p, r = from_the_definition(pair, Fraction(loss))
    with flint.ctx.workprec(bits):
        law: LossDistribution = law_at(pair, bits)
        found_p, found_r = law.tail(ball(Fraction(loss)))
        head_p, head_r = law.head(ball(Fraction(loss)))
        whole_p, whole_r = law.whole
    for found, truth in ((found_p, p), (found_r, r)):
        assert found.overlaps(truth)
        assert found.rel_accuracy_bits() > bits - 60
    assert (found_p + head_p).overlaps(whole_p)
    assert (found_r + head_r).overlaps(whole_r)
