"""Basic and advanced composition against 50-digit twins, against each other, and against the optimal theorem."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath as mp
import pytest
from hypothesis import given, settings, strategies as st

from dpbounds.errors import InvalidValue
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.privacy.notions.composition_theorems import (
    ADVANCED_CLASSICAL,
    ADVANCED_SHARP,
    BASIC,
    OPTIMAL,
    EpsilonDelta,
    Parts,
    advanced_epsilon,
    basic,
    basic_epsilon,
    spare_sign,
)
from dpbounds.privacy.notions.group_privacy import GROUP
from dpbounds.privacy.notions.optimal_composition import optimal_delta, optimal_epsilon
from tests.privacy.small_laws import encloses, m

MIXED: Parts = ((EpsilonDelta("0.1", "1e-7"), 40), (EpsilonDelta("0.25", 0), 3), (EpsilonDelta("0.01", "1e-9"), 200))


@pytest.mark.parametrize("form", ["classical", "sharp"])
@pytest.mark.parametrize("parts", [MIXED, ((EpsilonDelta("0.05", "1e-8"), 300),), ((EpsilonDelta(3), 2),)])
def test_advanced_is_its_twin(form: str, parts: Parts) -> None:
    """Classical, as printed: K ε (e^ε - 1) + ε √(2 k ln(1/δ')) at k δ + δ'."""
    with mp.workdps(60):
        mean = variance = added = mp.mpf(0)
        survival = mp.mpf(1)
        for guarantee, count in parts:
            e, d, growth = m(guarantee.epsilon), m(guarantee.delta), mp.exp(m(guarantee.epsilon))
            for _ in range(count):  # one release at a time
                mean += e * (growth - 1) if form == "classical" else e * (growth - 1) / (growth + 1)
                variance += e**2
                added += d
                survival *= 1 - d
        for delta in (Fraction(1, 10**5), Fraction(1, 10), Fraction("1e-5") + Fraction("1e-30")):
            left = m(delta) - added if form == "classical" else 1 - (1 - m(delta)) / survival
            expected = mean + mp.sqrt(2 * variance * mp.log(1 / left))
            assert encloses(advanced_epsilon(parts, delta, form), expected)


def test_basic_is_exact_and_silent_beyond_its_reach() -> None:
    assert basic(MIXED) == EpsilonDelta(Fraction("6.75"), Fraction("4.2e-6"))
    assert basic_epsilon(MIXED, "4.2e-6") == Enclosure.exactly("6.75", BASIC.name)
    assert basic_epsilon(MIXED, "4.19e-6").exact_lower == math.inf
    assert basic_epsilon(MIXED, 1).exact_upper == 0
    assert basic(((EpsilonDelta(1, "0.3"), 4),)).delta == 1


def test_advanced_is_infinite_exactly_where_the_deltas_are_too_large() -> None:
    parts = ((EpsilonDelta(1, "0.1"), 3),)
    together, tiny = 1 - Fraction(9, 10) ** 3, Fraction(1, 10**500)
    assert [spare_sign(parts, together + way * tiny) for way in (-1, 0, 1)] == [-1, 0, 1]
    assert advanced_epsilon(parts, together).exact_lower == math.inf
    assert advanced_epsilon(parts, together + tiny).exact_upper < 100
    assert advanced_epsilon(parts, "0.3", "classical").exact_lower == math.inf
    assert advanced_epsilon(parts, "0.3001", "classical").exact_upper < math.inf
    assert advanced_epsilon(((EpsilonDelta(1, 1), 1),), "0.5").exact_lower == math.inf


@pytest.mark.parametrize(("form", "spent"), [("classical", "0.02"), ("sharp", "0.0199")])
def test_releases_without_loss_cost_their_delta_only(form: str, spent: str) -> None:
    parts = ((EpsilonDelta(0, "0.01"), 2),)
    assert advanced_epsilon(parts, spent, form).exact_upper == 0
    assert advanced_epsilon(parts, "0.019", form).exact_lower == math.inf
    assert optimal_epsilon(parts, "0.0199").exact_upper == 0
    assert optimal_delta(parts, 0).contains("0.0199")


_GUARANTEES = st.builds(
    EpsilonDelta,
    st.fractions(min_value=0, max_value=2, max_denominator=64),
    st.fractions(min_value=0, max_value=Fraction(1, 50), max_denominator=1000),
)
_PARTS = st.lists(st.tuples(_GUARANTEES, st.integers(1, 6)), min_size=1, max_size=3).map(tuple)


@pytest.mark.seconds
@pytest.mark.one_in(4)
@settings(max_examples=60)
@given(_PARTS, st.integers(1, 30))
def test_no_theorem_beats_the_optimal_one_and_sharp_beats_classical(parts: Parts, exponent: int) -> None:
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
