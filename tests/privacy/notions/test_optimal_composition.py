"""Optimal composition against brute force over all outcomes, the printed formula, and an independent accountant."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings, strategies as st

from dpbounds.errors import NotCertified
from dpbounds.expressions.enclosure import ball_end
from dpbounds.privacy.notions.composition_theorems import EpsilonDelta, Parts
from dpbounds.privacy.notions.optimal_composition import optimal_delta, optimal_epsilon
from dpbounds.privacy.notions.random_signs import RoundedSigns, Signs, SignTable, largest_sum, minus_counts, spacing
from dpbounds.privacy.proofs import Declined
from dpbounds.privacy.routes.lattice.integer_measures import Work
from tests.privacy.small_laws import encloses, hockey_stick, m, product, responses, swapped


@pytest.fixture(autouse=True)
def _sixty_digits():
    with mp.workdps(60):
        yield


def brute_force(parts: Parts, epsilon: Fraction) -> mp.mpf:
    """∫ (P - e^ε Q)_+ over all 4^k outcomes of the randomised responses, from their table of probabilities."""
    laws = [responses(mp.exp(m(each.epsilon)), m(each.delta)) for each, count in parts for _ in range(count)]
    return hockey_stick(product(laws), mp.exp(m(epsilon)))


def signs_twin(signs: Signs, epsilon: Fraction) -> mp.mpf:
    """h(ε) over all 2^k outcomes: that of randomised responses without δ."""
    return brute_force(tuple((EpsilonDelta(size), count) for size, count in signs), epsilon)


def printed_formula(epsilon: Fraction, delta: Fraction, k: int, i: int) -> tuple[Fraction, mp.mpf]:
    """Theorem 3.3 of Kairouz, Oh & Viswanath: ((k-2i)ε, 1 - (1-δ)^k (1-δ_i))."""
    e = m(epsilon)
    inner = mp.fsum(mp.binomial(k, j) * (mp.exp((k - j) * e) - mp.exp((k - 2 * i + j) * e)) for j in range(i))
    return (k - 2 * i) * epsilon, 1 - (1 - m(delta)) ** k * (1 - inner / (1 + mp.exp(e)) ** k)


def ends(ball: arb) -> tuple[mp.mpf, mp.mpf]:
    return m(ball_end(ball, "down")), m(ball_end(ball, "up"))


@pytest.mark.parametrize(
    ("epsilon", "delta", "k"), [("0.1", "1e-6", 12), ("1", 0, 7), ("2.5", "0.01", 4), ("1e-3", 0, 1)]
)
def test_printed_formula(epsilon: str, delta: str, k: int) -> None:
    guarantee = EpsilonDelta(epsilon, delta)
    for i in range(k // 2 + 1):
        target, expected = printed_formula(guarantee.epsilon, guarantee.delta, k, i)
        assert encloses(optimal_delta(((guarantee, k),), target), expected)
        if i > 0:
            back = optimal_epsilon(((guarantee, k),), Fraction(str(expected)))
            assert abs(back.exact_upper - target) < Fraction(1, 10**12)


@pytest.mark.parametrize(
    "parts",
    [
        ((EpsilonDelta("0.3", "1e-3"), 4),),
        (
            (EpsilonDelta("0.3", "1e-3"), 2),
            (EpsilonDelta("0.7", 0), 1),
            (EpsilonDelta(0, "0.01"), 1),
            (EpsilonDelta("1.1", "0.2"), 1),
        ),
        ((EpsilonDelta("1/3", 0), 1), (EpsilonDelta("1/7", "0.5"), 2), (EpsilonDelta(2, "1e-9"), 2)),
        ((EpsilonDelta("0.5", 1), 1), (EpsilonDelta(1, 0), 1)),
    ],
)
def test_all_outcomes(parts: Parts) -> None:
    for epsilon in (Fraction(0), Fraction(1, 10), Fraction(1), Fraction(9, 4), Fraction(7)):
        expected = brute_force(parts, epsilon)
        found = optimal_delta(parts, epsilon)
        assert encloses(found, expected)
        if found.exact_upper < 1:
            assert optimal_epsilon(parts, found.exact_upper).exact_lower <= epsilon
            assert optimal_epsilon(parts, found.exact_upper + Fraction(1, 10**30)).exact_upper <= max(
                epsilon, largest(parts)
            )


def largest(parts: Parts) -> Fraction:
    return sum((count * guarantee.epsilon for guarantee, count in parts), Fraction(0))


_SIGNS = st.dictionaries(st.floats(0.001, 3), st.integers(1, 2), min_size=1, max_size=4).map(
    lambda counts: tuple(sorted((Fraction(size), count) for size, count in counts.items()))
)


@settings(max_examples=15)
@given(_SIGNS, st.fractions(0, 1, max_denominator=50))
def test_tables_hold_all_outcomes_with_and_without_a_floor(signs: Signs, share: Fraction) -> None:
    epsilon = share * largest_sum(signs)
    expected = signs_twin(signs, epsilon)
    with ctx.workprec(220):
        for floor in (Fraction(0), epsilon / 2, epsilon):
            low, high = ends(SignTable(signs, floor).profile(epsilon))
            assert low - mp.mpf("1e-45") <= expected <= high + mp.mpf("1e-45")
            assert high - low < mp.mpf("1e-45")


@pytest.mark.seconds
@pytest.mark.one_in(4)
@settings(max_examples=80)
@given(_SIGNS, st.fractions(0, 1, max_denominator=50), st.floats(0, 5), st.floats(2, 400))
def test_the_lattice_encloses_the_table(signs: Signs, share: Fraction, tilt: float, cells: float) -> None:
    total = largest_sum(signs)
    epsilon, step = share * total, Fraction(float(total) / cells)
    with ctx.workprec(220):
        exact = SignTable(signs).profile(epsilon)
        low, high = RoundedSigns(signs, Fraction(tilt), step, 80, Work()).bounds(epsilon)
        assert (exact - high).lower() <= 0
        assert (exact - low).upper() >= 0


def test_what_rounding_adds_is_subtracted() -> None:
    """On a grid so coarse that the lower end would exceed the truth if the excess were not bounded."""
    signs: Signs = ((Fraction("0.3"), 2), (Fraction("0.71"), 2), (Fraction("1.13"), 1))
    epsilon, step = Fraction("1.13"), Fraction("0.17")
    with ctx.workprec(220):
        exact = SignTable(signs).profile(epsilon)
        low, high = RoundedSigns(signs, Fraction(1), step, 80, Work()).bounds(epsilon)
        assert low < exact
        assert exact < high


def test_missing_mass_is_added() -> None:
    """With few bits per mass much is lost to rounding: the ends stay on their sides."""
    signs: Signs = ((Fraction("0.25"), 30), (Fraction("0.5"), 20))
    with ctx.workprec(220):
        exact = SignTable(signs).profile(Fraction(5))
        low, high = RoundedSigns(signs, Fraction(1), spacing(signs), 28, Work()).bounds(Fraction(5))
        assert low < exact < high


def test_nothing_is_rounded_on_the_exact_lattice() -> None:
    signs: Signs = tuple((Fraction(i, 100), 8) for i in range(1, 9))
    with ctx.workprec(300):
        lattice = RoundedSigns(signs, Fraction(3), spacing(signs), 120, Work())
        low, high = lattice.bounds(Fraction(2))
        exact = SignTable(signs).profile(Fraction(2))
        assert lattice.rounded == 0
        assert low < exact < high
        assert (high - low) / exact < arb(10) ** -25


@settings(max_examples=20)
@given(_SIGNS, st.fractions(0, 1, max_denominator=20))
def test_larger_losses_cost_more(signs: Signs, share: Fraction) -> None:
    """Rounding the sizes up to a grid bounds h from above, rounding them down from below."""
    epsilon, grid = share * largest_sum(signs), Fraction(1, 8)
    up = tuple((math.ceil(size / grid) * grid, count) for size, count in signs)
    down = tuple((math.floor(size / grid) * grid, count) for size, count in signs if size >= grid)
    with ctx.workprec(220):
        exact = SignTable(signs).profile(epsilon)
        assert (SignTable(up).profile(epsilon) - exact).upper() >= 0
        assert not down or (exact - SignTable(down).profile(epsilon)).upper() >= 0


def binomial_twin(epsilon: Fraction, k: int, target: Fraction) -> mp.mpf:
    """h for k equal signs, summed in 60 digits from the printed binomial masses."""
    e, g = m(epsilon), m(target)
    mass, total = (1 + mp.exp(-e)) ** -k, mp.mpf(0)
    for minus in range(k + 1):
        beyond = (k - 2 * minus) * e - g
        if beyond <= 0:
            break
        total += mass * -mp.expm1(-beyond)
        mass *= mp.exp(-e) * (k - minus) / (minus + 1)
    return total


@pytest.mark.seconds
def test_ten_thousand_equal_releases_down_to_tiny_delta() -> None:
    parts = ((EpsilonDelta("0.01", 0), 10_000),)
    for target in (Fraction(0), Fraction(1, 2), Fraction(5), Fraction("36.99804718583316")):
        expected = binomial_twin(Fraction(1, 100), 10_000, target)
        assert encloses(optimal_delta(parts, target), expected)
    tiny = optimal_epsilon(parts, "1e-300")
    assert tiny.width < 1e-12
    above, below = (binomial_twin(Fraction(1, 100), 10_000, end) for end in (tiny.exact_lower, tiny.exact_upper))
    assert below <= mp.mpf("1e-300") <= above


def test_different_deltas_with_equal_epsilons_need_no_lattice() -> None:
    parts = ((EpsilonDelta("0.01", "1e-9"), 1000), (EpsilonDelta("0.01", "1e-8"), 1500))
    found = optimal_delta(parts, 1)
    survival = (1 - mp.mpf("1e-9")) ** 1000 * (1 - mp.mpf("1e-8")) ** 1500
    assert encloses(found, 1 - survival * (1 - binomial_twin(Fraction(1, 100), 2500, Fraction(1))))


@pytest.mark.seconds
def test_an_independent_accountant_agrees_on_different_guarantees() -> None:
    import dp_accounting
    from dp_accounting.pld import privacy_loss_distribution as pld

    draw = np.random.default_rng(7)
    parts = tuple((EpsilonDelta(draw.uniform(0.02, 0.2), 1e-8), 10) for _ in range(12))
    composed = None
    for guarantee, count in parts:
        single = pld.from_privacy_parameters(
            dp_accounting.pld.common.DifferentialPrivacyParameters(float(guarantee.epsilon), float(guarantee.delta)),
            value_discretization_interval=2e-5,
        ).self_compose(count)
        composed = single if composed is None else composed.compose(single)
    assert composed is not None
    for epsilon in (0.5, 3.0, 6.0):
        theirs = composed.get_delta_for_epsilon(epsilon)
        ours = optimal_delta(parts, epsilon)
        assert ours.method.endswith("lattice")
        assert ours.width < 1e-4 * ours.upper
        assert ours.lower <= theirs * (1 + 1e-6)
        assert theirs < ours.upper * 1.01  # theirs is rounded up
    back = optimal_epsilon(parts, ours.exact_upper)
    assert back.exact_lower <= 6
    assert abs(back.upper - 6) < 1e-3


def test_adaptive_adversaries_stay_below() -> None:
    """Two releases with three outcomes each, the second chosen after the first: never above the optimum."""
    raw = np.random.default_rng(11).random((40, 4, 2, 3)) ** 3
    for laws in (raw / raw.sum(axis=3, keepdims=True)).tolist():
        first, *later = (list(zip(*pair, strict=True)) for pair in laws)
        for growth in (1.3, 4.0):
            known = [
                EpsilonDelta(
                    math.log(growth), max(hockey_stick(law, growth) for pair in pairs for law in (pair, swapped(pair)))
                )
                for pairs in ([first], later)
            ]
            both = [(p * r, q * s) for (p, q), pair in zip(first, later, strict=True) for r, s in pair]
            for epsilon in (0.0, 0.7, 2.0):
                found = optimal_delta(tuple((each, 1) for each in known), epsilon).upper
                assert hockey_stick(both, math.exp(epsilon)) <= found + 1e-12


def test_ties_and_impossible_targets() -> None:
    parts = ((EpsilonDelta(1, "1e-6"), 3),)
    together = 1 - (1 - Fraction(1, 10**6)) ** 3
    assert optimal_epsilon(parts, together).exact_upper == 3
    assert optimal_epsilon(parts, together - Fraction(1, 10**400)).exact_lower == math.inf
    assert optimal_epsilon(parts, together + Fraction(1, 10**400)).exact_upper <= 3
    assert optimal_epsilon(parts, 1).exact_upper == 0
    assert optimal_epsilon(((EpsilonDelta("0.1"), 10),), 0).exact_upper == 1
    assert optimal_epsilon(((EpsilonDelta("0.1"), 10),), "0.9").exact_upper == 0
    assert optimal_delta(parts, 3).contains(together)
    assert optimal_delta(((EpsilonDelta("0.1"), 10),), 1).exact_upper == 0


@pytest.mark.seconds
def test_few_sums_matter_where_delta_is_tiny() -> None:
    draw = np.random.default_rng(5)
    parts = tuple((EpsilonDelta(draw.uniform(1, 9)), 1) for _ in range(30))
    found = optimal_epsilon(parts, "1e-9")
    assert found.method.endswith("table")
    assert found.width < 1e-12
    at_upper, at_lower = optimal_delta(parts, found.exact_upper), optimal_delta(parts, found.exact_lower)
    assert at_upper.exact_lower <= Fraction("1e-9") <= at_lower.exact_upper
    assert at_upper.method.endswith("table")


@pytest.mark.seconds
def test_work_limits_are_said() -> None:
    parts = ((EpsilonDelta(0.1), 10**6), (EpsilonDelta(0.2001), 10**6))
    with pytest.raises(NotCertified, match="work limit"):
        optimal_epsilon(parts, "1e-6")
    far_apart = ((EpsilonDelta("1e-200"), 1000), (EpsilonDelta("0.1"), 1000))
    for call in (lambda: optimal_epsilon(far_apart, "1e-6"), lambda: optimal_delta(far_apart, 1)):
        with pytest.raises(NotCertified, match="1e-100"):
            call()
    with pytest.raises(Declined):
        SignTable(((Fraction(0.1), 1000), (Fraction(0.3), 1000)))


def test_binomial_masses_add_up() -> None:
    with ctx.workprec(128):
        total = sum(minus_counts(Fraction("0.3"), 50, Fraction(2)), arb(0))
        assert total.overlaps(arb(1))
        assert total.rad() < arb(2) ** -110


@pytest.mark.minutes
def test_a_hundred_settings_in_ten_thousand_steps() -> None:
    draw = np.random.default_rng(1)
    parts = tuple((EpsilonDelta(draw.uniform(0.01, 0.1), 1e-10), 100) for _ in range(100))
    found = optimal_epsilon(parts, "1e-5")
    assert found.width < 1e-4 * found.upper
    finer = optimal_epsilon(parts, "1e-5", "1e-5")
    assert found.overlaps(finer)
    assert optimal_delta(parts, finer.exact_lower).exact_upper >= Fraction("1e-5")
    assert optimal_delta(parts, finer.exact_upper).exact_lower <= Fraction("1e-5")
