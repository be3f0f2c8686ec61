"""Basic and advanced composition against 50-digit twins, against each other, and against the optimal theorem."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath as mp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpbounds.errors import InvalidValue
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.privacy.notions.composition_theorems import (
    ADVANCED_CLASSICAL,
    ADVANCED_SHARP,
    BASIC,
    OPTIMAL,
    EpsilonDelta,
    Parts,
    advanced_delta,
    advanced_epsilon,
    basic,
    basic_delta,
    basic_epsilon,
    spare_sign,
)
from dpbounds.privacy.notions.group_privacy import GROUP
from dpbounds.privacy.notions.optimal_composition import optimal_delta, optimal_epsilon

MIXED: Parts = ((EpsilonDelta("0.1", "1e-7"), 40), (EpsilonDelta("0.25", 0), 3), (EpsilonDelta("0.01", "1e-9"), 200))


def _mp(value: Fraction) -> mp.mpf:
    return mp.mpf(value.numerator) / value.denominator


def _holds(enclosure: Enclosure, value: mp.mpf) -> bool:
    """Whether a number known to 50 digits lies in the enclosure, widened by 1e-40, and the enclosure is narrow."""
    with mp.workdps(60):
        slack = abs(value) * mp.mpf("1e-40")
        low, high = (_mp(Fraction(end)) for end in (enclosure.exact_lower, enclosure.exact_upper))
        return bool(low - slack <= value <= high + slack and high - low <= abs(value) * mp.mpf("1e-15"))


def twin_moments(parts: Parts, form: str) -> tuple[mp.mpf, mp.mpf, mp.mpf, mp.mpf]:
    """(mean, variance, Σδ, Πsurvival), written out one release at a time."""
    mean = variance = added = mp.mpf(0)
    survival = mp.mpf(1)
    for guarantee, count in parts:
        for _ in range(count):
            e, d = _mp(guarantee.epsilon), _mp(guarantee.delta)
            mean += e * (mp.exp(e) - 1) if form == "classical" else e * (mp.exp(e) - 1) / (mp.exp(e) + 1)
            variance += e**2
            added += d
            survival *= 1 - d
    return mean, variance, added, survival


@pytest.mark.parametrize("form", ["classical", "sharp"])
@pytest.mark.parametrize("parts", [MIXED, ((EpsilonDelta("0.05", "1e-8"), 300),), ((EpsilonDelta(3), 2),)])
def test_advanced_is_its_twin(form: str, parts: Parts) -> None:
    with mp.workdps(60):
        mean, variance, added, survival = twin_moments(parts, form)
        for delta in (Fraction(1, 10**5), Fraction(1, 10), Fraction("1e-5") + Fraction("1e-30")):
            left = _mp(delta) - added if form == "classical" else 1 - (1 - _mp(delta)) / survival
            expected = mean + mp.sqrt(2 * variance * mp.log(1 / left))
            assert _holds(advanced_epsilon(parts, delta, form), expected)
        for epsilon in (Fraction(1, 10), Fraction(4), Fraction(40)):
            beyond = max(mp.mpf(0), _mp(epsilon) - mean)
            failure = mp.exp(-(beyond**2) / (2 * variance))
            expected = min(1, added + failure) if form == "classical" else 1 - survival * (1 - failure)
            assert _holds(advanced_delta(parts, epsilon, form), expected)


def test_classical_form_as_printed() -> None:
    """K ε (e^ε - 1) + ε √(2 k ln(1/δ')) at k δ + δ'."""
    k, epsilon, delta, slack = 500, Fraction(1, 50), Fraction(1, 10**8), Fraction(1, 10**6)
    with mp.workdps(50):
        e = _mp(epsilon)
        expected = k * e * mp.expm1(e) + e * mp.sqrt(2 * k * mp.log(1 / _mp(slack)))
    assert _holds(advanced_epsilon(((EpsilonDelta(epsilon, delta), k),), k * delta + slack, "classical"), expected)


def test_basic_is_exact_and_silent_beyond_its_reach() -> None:
    total = basic(MIXED)
    assert total == EpsilonDelta(Fraction("6.75"), Fraction("4.2e-6"))
    assert basic_epsilon(MIXED, "4.2e-6") == Enclosure.exactly("6.75", BASIC.name)
    assert basic_epsilon(MIXED, "4.19e-6").exact_lower == math.inf
    assert basic_epsilon(MIXED, 1).exact_upper == 0
    assert basic_delta(MIXED, "6.75").exact_upper == Fraction("4.2e-6")
    assert basic_delta(MIXED, "6.74").exact_upper == 1
    assert basic(((EpsilonDelta(1, "0.3"), 4),)).delta == 1


def test_advanced_is_infinite_exactly_where_the_deltas_are_too_large() -> None:
    parts = ((EpsilonDelta(1, "0.1"), 3),)
    together = 1 - Fraction(9, 10) ** 3
    tiny = Fraction(1, 10**500)
    assert spare_sign(parts, together) == 0
    assert spare_sign(parts, together - tiny) == -1
    assert spare_sign(parts, together + tiny) == 1
    assert advanced_epsilon(parts, together).exact_lower == math.inf
    assert advanced_epsilon(parts, together + tiny).exact_upper < 100
    assert advanced_epsilon(parts, "0.3", "classical").exact_lower == math.inf
    assert advanced_epsilon(parts, "0.3001", "classical").exact_upper < math.inf
    assert advanced_epsilon(((EpsilonDelta(1, 1), 1),), "0.5").exact_lower == math.inf
    assert advanced_delta(((EpsilonDelta(1, 1), 1),), 5).exact_upper == 1


@pytest.mark.parametrize("form", ["classical", "sharp"])
def test_releases_without_loss_cost_their_delta_only(form: str) -> None:
    parts = ((EpsilonDelta(0, "0.01"), 2),)
    spent = Fraction("0.02") if form == "classical" else Fraction("0.0199")
    assert advanced_epsilon(parts, spent, form).exact_upper == 0
    assert advanced_epsilon(parts, "0.019", form).exact_lower == math.inf
    assert advanced_delta(parts, 0, form).contains(spent)
    assert optimal_epsilon(parts, "0.0199").exact_upper == 0
    assert optimal_delta(parts, 0).contains("0.0199")


_GUARANTEES = st.builds(
    EpsilonDelta,
    st.fractions(min_value=0, max_value=2, max_denominator=64),
    st.fractions(min_value=0, max_value=Fraction(1, 50), max_denominator=1000),
)
_PARTS = st.lists(st.tuples(_GUARANTEES, st.integers(1, 6)), min_size=1, max_size=3).map(tuple)


@pytest.mark.rotating(4)
@settings(max_examples=60, derandomize=True, deadline=None)
@given(_PARTS, st.fractions(min_value=0, max_value=12, max_denominator=32))
def test_no_theorem_beats_the_optimal_one_and_sharp_beats_classical(parts: Parts, epsilon: Fraction) -> None:
    best = optimal_delta(parts, epsilon).exact_lower
    sharp, classical = (advanced_delta(parts, epsilon, form).exact_upper for form in ("sharp", "classical"))
    assert best <= sharp <= classical * (1 + Fraction(1, 1 << 60))
    assert best <= basic_delta(parts, epsilon).exact_upper


@pytest.mark.rotating(4)
@settings(max_examples=60, derandomize=True, deadline=None)
@given(_PARTS, st.integers(1, 30))
def test_the_same_for_epsilon(parts: Parts, exponent: int) -> None:
    delta = Fraction(1, 2**exponent)
    best = optimal_epsilon(parts, delta).exact_lower
    sharp, classical = (advanced_epsilon(parts, delta, form).exact_upper for form in ("sharp", "classical"))
    assert best <= sharp <= classical * (1 + Fraction(1, 1 << 60))
    assert best <= basic_epsilon(parts, delta).exact_upper


@pytest.mark.parametrize(
    "call",
    [
        lambda: EpsilonDelta(-1, 0),
        lambda: EpsilonDelta(1, "1.1"),
        lambda: basic(()),
        lambda: basic(((EpsilonDelta(1), 0),)),
        lambda: advanced_epsilon(MIXED, 1),
        lambda: advanced_epsilon(MIXED, -1),
        lambda: advanced_epsilon(MIXED, "0.1", "other"),
        lambda: advanced_delta(MIXED, -1),
        lambda: optimal_delta(MIXED, -1),
        lambda: optimal_epsilon(MIXED, 2),
        lambda: optimal_epsilon(MIXED, "0.1", 0),
    ],
)
def test_refusals(call) -> None:
    with pytest.raises(InvalidValue):
        call()


def test_every_theorem_says_why_in_one_line() -> None:
    for theorem in (BASIC, ADVANCED_CLASSICAL, ADVANCED_SHARP, OPTIMAL, GROUP):
        assert 0 < len(theorem.why) < 120
        assert "\n" not in theorem.why
