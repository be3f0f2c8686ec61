"""Calibration: both sides proven, tight, and right against other ways of finding the same number."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

import dpbounds.privacy.mechanisms as dp
from dpbounds.errors import InvalidValue, NotCertified
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.privacy.accountants.certified import account, delta, epsilon
from dpbounds.privacy.budgets import calibration, evidence
from dpbounds.privacy.budgets.calibration import calibrate, hidden_constant, sufficient_noise
from dpbounds.privacy.budgets.crossing import Crossing, boundary
from dpbounds.privacy.budgets.evidence import OfProducts
from dpbounds.privacy.pairs.pairs import Product
from dpbounds.privacy.proofs import Proof
from dpbounds.privacy.publishing.interoperability import get_noise_multiplier, noise_multiplier, steps_for_epochs
from dpbounds.privacy.relations import Relation
from dpbounds.privacy.renyi.accountant import renyi_epsilon
from dpbounds.privacy.values import Budget
from tests.privacy.products import products_of

ADDED = Relation.ADD_OR_REMOVE_ONE


def sampled(q: object, steps: int):
    return lambda z: dp.PoissonSampled(dp.Gaussian(z), q) ** steps


@pytest.mark.one_in(4)
@pytest.mark.parametrize("relation", ["add-or-remove-one", "replace-one"])
@pytest.mark.parametrize(
    ("factory", "target_epsilon", "target_delta"),
    [
        (sampled("0.01", 10_000), "1", "1e-6"),
        pytest.param(sampled("0.1", 1000), "0.1", "1e-9", marks=pytest.mark.seconds),
        pytest.param(sampled("0.001", 100_000), "8", "1e-12", marks=pytest.mark.seconds),
        (lambda z: dp.Gaussian(z) ** 300, "2", "1e-5"),
        (lambda z: dp.Gaussian(z), "0.5", "1e-100"),
        (lambda z: dp.PoissonSampled(dp.Gaussian(z), "0.1"), "1", "1e-5"),
        (lambda z: dp.PoissonSampled(dp.Gaussian(z), "0.02") ** 2000 @ dp.Gaussian(10 * z) ** 20, "3", "1e-6"),
    ],
)
def test_noise_is_proven_on_both_sides(factory, target_epsilon: str, target_delta: str, relation: str) -> None:
    found = calibrate(factory, target_epsilon, target_delta, relation)
    assert epsilon(factory(found.value), target_delta, relation).exact_upper <= Fraction(target_epsilon)
    assert delta(factory(found.fails_at), target_epsilon, relation).exact_lower > Fraction(target_delta)
    assert found.fails_at < found.value < found.fails_at * (1 + Fraction(1, 10**8))
    assert found.epsilon.exact_upper <= Fraction(target_epsilon)
    assert float(found.value) == found.value  # a double, exactly


def test_reference_value() -> None:
    found = calibrate(sampled("0.01", 10_000), 1, "1e-6")
    assert Fraction("4.302106465") < found.fails_at < found.value < Fraction("4.302106466")


@pytest.mark.seconds
@pytest.mark.parametrize(("rate", "steps"), [("0.01", 1000), ("0.000003", 10**7)])
def test_noise_that_suffices_leaves_little(rate: str, steps: int) -> None:
    budget = Budget.of(1, "1e-6", ADDED)
    enough = sufficient_noise(sampled(rate, steps), budget)  # at the second rate the estimate is 19 % off
    spent = epsilon(sampled(rate, steps)(enough), budget.delta, ADDED)
    assert Fraction("0.9998") < spent.exact_lower < spent.exact_upper <= 1
    assert enough >= calibrate(sampled(rate, steps), 1, "1e-6", ADDED).fails_at


def test_noise_that_suffices_where_pairs_are_not_attained() -> None:
    """There a whole calibration has further proofs."""

    def last(noise: Fraction) -> dp.Mechanism:
        return dp.LastIterate(dp.Gaussian(noise), batches=4, epochs=2, smoothness_step="0.1", order="fixed")

    budget = Budget.of(2, "1e-6", Relation.REPLACE_ONE)
    assert sufficient_noise(last, budget) == calibrate(last, 2, "1e-6", "replace-one").value


@pytest.mark.seconds
@pytest.mark.one_in(4)
@pytest.mark.parametrize("relation", ["add-or-remove-one", "replace-one"])
def test_steps_are_the_last_that_suffice(relation: str) -> None:
    def factory(steps: Fraction) -> dp.Mechanism:
        return dp.PoissonSampled(dp.Gaussian("2"), "0.01") ** int(steps)

    found = calibrate(factory, 1, "1e-6", relation, solve="steps")
    assert found.fails_at == found.value + 1
    assert epsilon(factory(found.value), "1e-6", relation).at_most(1)
    assert epsilon(factory(found.fails_at), "1e-6", relation).at_most(1) is False


def test_steps_of_a_full_batch_follow_the_closed_form() -> None:
    found = calibrate(lambda steps: dp.Gaussian(100) ** int(steps), 1, "1e-6", solve="steps")
    assert found.fails_at == found.value + 1
    assert not isinstance(found.mechanism, dp.Gaussian)


@pytest.mark.seconds
def test_sample_rate_is_proven_on_both_sides() -> None:
    def factory(rate: Fraction) -> dp.Mechanism:
        return dp.PoissonSampled(dp.Gaussian(1), rate) ** 1000

    found = calibrate(factory, 1, "1e-6", solve="sample-rate")
    assert found.value < found.fails_at < found.value * Fraction("1.0001")
    assert epsilon(factory(found.value), "1e-6").at_most(1)
    assert epsilon(factory(found.fails_at), "1e-6").at_most(1) is False


def test_a_rate_of_one_may_suffice() -> None:
    found = calibrate(lambda q: dp.PoissonSampled(dp.Gaussian(100), q) ** 10, 1, "1e-6", solve="sample-rate")
    assert (found.value, found.fails_at, found.failing) == (1, None, None)


def test_an_impossible_budget_says_so() -> None:
    with pytest.raises(InvalidValue, match="one step already spends more"):
        calibrate(lambda steps: dp.Gaussian("0.1") ** int(steps), "0.1", "1e-6", solve="steps")


def test_epsilon_zero_can_be_asked_for() -> None:
    found = calibrate(lambda z: dp.Gaussian(z), 0, "1e-2")
    # δ(0) = 2Φ(1/2z) - 1 = 0.01
    assert abs(float(found.value) - 1 / (2 * 0.012533469508069276)) < 1e-6


def test_opacus_names() -> None:
    steps = steps_for_epochs(100, 0.01)
    found = get_noise_multiplier(target_epsilon=1, target_delta=1e-6, sample_rate=0.01, epochs=100)
    assert isinstance(found, float)
    assert found == get_noise_multiplier(target_epsilon=1, target_delta=1e-6, sample_rate=0.01, steps=steps)
    assert abs(found - 4.3021) < 1e-3
    assert epsilon(dp.PoissonSampled(dp.Gaussian(found), 0.01) ** steps, 1e-6).at_most(1)
    assert [steps_for_epochs(3, "0.1"), steps_for_epochs(1, "0.3")] == [30, 4]
    assert steps_for_epochs(1, 0.1) == 10  # the double lies above one tenth


@pytest.mark.parametrize(
    "bad",
    [
        {"steps": 5, "epochs": 1},
        {},
        {"steps": 0},
        {"steps": 1.5},
        {"epochs": 0},
        {"steps": 5, "accountant": "prv"},
        {"steps": 5, "sample_rate": 0},
        {"steps": 5, "sample_rate": 1.5},
        {"steps": 5, "target_delta": 0},
        {"steps": 5, "target_epsilon": -1},
        {"steps": 5, "epsilon_tolerance": 0},
    ],
)
def test_opacus_names_refuse_bad_input(bad: dict[str, object]) -> None:
    arguments: dict[str, object] = {"target_epsilon": 1, "target_delta": 1e-6, "sample_rate": 0.01, **bad}
    with pytest.raises(InvalidValue):
        get_noise_multiplier(**arguments)  # type: ignore[arg-type]


def test_a_float_is_never_far_from_the_smallest_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    """A calibration says how far its value may be from the least; one number cannot, and is refused."""

    def wide(*arguments: Any) -> calibration.Calibration:
        found = calibrate(*arguments)
        return replace(found, fails_at=found.value / 2)

    monkeypatch.setattr(noise_multiplier, "calibrate", wide)
    with pytest.raises(NotCertified, match=r"noise .* suffices .* not within tolerance: up to 50 % less may suffice"):
        get_noise_multiplier(target_epsilon=1, target_delta=1e-5, sample_rate="0.01", steps=100)


def test_the_hidden_constant() -> None:
    """c2 of the moments accountant: z* ε / (q sqrt(T log 1/δ)) with z* the smallest noise that suffices."""
    found = hidden_constant("0.01", 10_000, 1, "1e-6")
    unit = 1 / (0.01 * math.sqrt(10_000 * math.log(1e6)))
    assert abs(found.lower - 4.302106465 * unit) < 1e-8
    assert found.width < 1e-8
    # full batch, large noise: μ² = T/z² and ε is close to μ sqrt(2 log 1/δ), so c2 is close to sqrt(2) or below
    assert hidden_constant(1, 100, "0.01", "1e-6").upper < math.sqrt(2) * 1.1
    with pytest.raises(InvalidValue, match="divides by it"):
        hidden_constant("0.01", 10_000, 0, "1e-6")


def test_solve_is_checked() -> None:
    with pytest.raises(InvalidValue, match="solve"):
        calibrate(lambda z: dp.Gaussian(z), 1, "1e-6", solve="temperature")  # type: ignore[arg-type]


def test_the_search_is_short() -> None:
    calls: list[Fraction] = []
    found = calibrate(lambda z: calls.append(z) or dp.Gaussian(z * z), 1, "1e-6")
    assert abs(float(found.value) ** 2 - float(calibrate(dp.Gaussian, 1, "1e-6").value)) < 1e-8
    assert len(calls) < 60


# --- batches of a fixed size: by proofs of δ alone -------------------------------------------------------------------


def batches(kind: type[dp.Mechanism]):
    return lambda noise: kind(dp.Gaussian(noise), batch_size=4, dataset_size=40) ** 5


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("kind", "relation"),
    [
        (dp.SampledWithoutReplacement, "add-or-remove-one"),
        (dp.SampledWithoutReplacement, "replace-one"),
        (dp.SampledWithReplacement, "add-or-remove-one"),
        pytest.param(dp.SampledWithReplacement, "replace-one", marks=pytest.mark.minutes),
    ],
)
def test_noise_for_batches_of_a_fixed_size(kind: type[dp.Mechanism], relation: str) -> None:
    factory = batches(kind)
    found = calibrate(factory, 2, "1e-5", relation)
    assert delta(factory(found.value), 2, relation).exact_upper <= Fraction("1e-5")
    slightly_less = delta(factory(found.value * Fraction(998, 1000)), 2, relation)
    assert slightly_less.exact_upper > Fraction("1e-5")  # nothing closer could have been proven to suffice
    if found.fails_at is not None:
        failing = account(factory(found.fails_at), epsilon=2, relation=relation)
        assert failing.enclosure.exact_lower > Fraction("1e-5")
        assert not failing.tight or found.value <= found.fails_at * Fraction(1001, 1000)


@pytest.mark.seconds
def test_sides_are_only_ever_what_was_proven(monkeypatch: pytest.MonkeyPatch) -> None:
    """Estimates that mislead cost time: what is returned has been proven on both sides."""
    factory = batches(dp.SampledWithoutReplacement)
    honest, estimate = calibrate(factory, 2, "1e-5"), evidence.expected
    for wrong_by in (-3.0, 3.0):
        monkeypatch.setattr(evidence, "expected", lambda p, e, by=wrong_by: estimate(p, e) + by)
        found = calibrate(factory, 2, "1e-5")
        assert delta(factory(found.value), 2).exact_upper <= Fraction("1e-5")
        assert found.value == pytest.approx(float(honest.value), rel=2e-3)


@pytest.mark.seconds
def test_the_products_of_several_classes_count_all() -> None:
    """A value suffices only where no product overspends, also where one alone decides that it fails."""
    products = [lambda v, q=q: dp.PoissonSampled(dp.Gaussian(v), q) ** 4 for q in ("0.1", "0.2")]

    def pairs(value: Fraction) -> tuple[Product, ...]:
        return tuple(pair for mechanism in products for pair in products_of(mechanism(value), ADDED))

    safe, unsafe = Crossing(OfProducts(pairs, Budget.of(1, "1e-5", ADDED)), "noise").search()
    assert all(delta(mechanism(safe), 1).exact_upper <= Fraction("1e-5") for mechanism in products)
    assert any(delta(mechanism(unsafe), 1).exact_lower > Fraction("1e-5") for mechanism in products)
    assert safe <= unsafe * Fraction(1001, 1000)


@pytest.mark.seconds
def test_a_jump_is_closed_in_on() -> None:
    """Near the largest loss δ falls off a cliff: the loose proofs there must not go round in circles."""
    found = calibrate(lambda noise: dp.PoissonSampled(dp.Laplace(noise), "0.2") ** 3, 2, "1e-4")
    assert found.value <= found.fails_at * Fraction(1001, 1000)


# --- where pairs are not attained, Rényi divergences may prove more ---------------------------------------------------


def choices(steps: int, relation: str):
    return lambda z: dp.ExponentialMechanism(1 / z, relation=relation) ** steps


@pytest.mark.seconds
@pytest.mark.parametrize("relation", ["replace-one", "add-or-remove-one"])
def test_noise_that_only_divergences_allow(relation: str) -> None:
    """T = 50 choices: the pairs alone ask for 16.952, adding up divergences for 15.816."""
    factory = choices(50, relation)
    found = calibrate(factory, 1, "1e-6", relation)
    assert Fraction("15.8155") < found.value < Fraction("15.8156")
    at_value = account(factory(found.value), delta="1e-6", relation=relation)
    assert at_value.enclosure.exact_upper <= 1
    assert found.epsilon == at_value.enclosure
    # nothing closer would have been proven, by either way
    assert account(factory(found.value * Fraction(9999, 10_000)), delta="1e-6", relation=relation).enclosure.upper > 1
    assert found.fails_at < found.value
    assert delta(factory(found.fails_at), 1, relation).exact_lower > Fraction("1e-6")


@pytest.mark.seconds
def test_steps_that_only_divergences_allow() -> None:
    """As many choices as the divergences promise to stay within the budget, and one more than they promise.

    Of more choices (73 at ε = 2, where divergences allow 71) Gaussian noise of their sizes promises more.
    """
    step = dp.ExponentialMechanism("0.1", relation="replace-one")
    found = calibrate(lambda count: step ** int(count), 1, "1e-6", "replace-one", solve="steps")
    steps = int(found.value)
    assert renyi_epsilon(step**steps, "1e-6", "replace-one").enclosure.exact_upper <= 1
    assert renyi_epsilon(step ** (steps + 1), "1e-6", "replace-one").enclosure.exact_upper > 1
    assert found.epsilon.exact_upper <= 1
    assert epsilon(step ** int(found.fails_at), "1e-6", "replace-one").exact_lower > 1


@pytest.mark.seconds
def test_a_single_choice_stays_with_its_pairs() -> None:
    """There the pair spends less than its divergences promise."""
    found = calibrate(choices(1, "replace-one"), 1, "1e-6", "replace-one")
    assert renyi_epsilon(found.mechanism, "1e-6", "replace-one").enclosure.exact_upper >= found.epsilon.exact_upper
    assert found.value == pytest.approx(0.998411039943, rel=1e-4)


@pytest.mark.parametrize(
    "factory",
    [
        lambda z: dp.Gaussian(z) ** 100,
        lambda z: dp.PoissonSampled(dp.Gaussian(z), "0.1") ** 50,
        pytest.param(lambda z: dp.Laplace(z) ** 20, marks=pytest.mark.seconds),
    ],
)
def test_what_is_tight_never_asks_the_divergences(factory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pairs that are attained cannot be improved on: the same value as ever, and no search for another."""

    def asked(*_: object) -> Fraction:
        raise AssertionError("there is nothing to be gained")

    monkeypatch.setattr(calibration, "least_by_moments", asked)
    found = calibrate(factory, 1, "1e-6")
    assert found.fails_at < found.value < found.fails_at * Fraction(1001, 1000)


@pytest.mark.seconds
def test_wide_answers_do_not_lead_the_search_away() -> None:
    """Where ε is known to a factor only, the slope between two trials means nothing; many steps have one constant."""
    many, more = (
        hidden_constant(sample_rate=Fraction(1, 10), steps=steps, target_epsilon=2, target_delta="1e-5")
        for steps in (10**8, 10**18)
    )
    assert more.exact_lower <= many.exact_lower <= many.exact_upper <= more.exact_upper


@pytest.mark.seconds_cases("noise", "steps")
@pytest.mark.parametrize("solve", ["noise", "steps"])
def test_wide_proofs_decide_by_the_right_end(solve, monkeypatch: pytest.MonkeyPatch) -> None:
    """What suffices does so by the upper end of its proof, what fails by the lower one: here these are 4 % apart."""

    def mechanism(x):
        z, steps = (x, 50) if solve == "noise" else (30, int(x))
        return dp.PoissonSampled(dp.Gaussian(z), "0.1") ** steps

    def wide(found):
        low, high = (Fraction(end) for end in (found.enclosure.exact_lower, found.enclosure.exact_upper))
        ends = replace(found.enclosure, exact_lower=low * Fraction(49, 50), exact_upper=high * Fraction(51, 50))
        return replace(found, enclosure=ends)

    proven = evidence.prove_delta
    monkeypatch.setattr(evidence, "prove_delta", lambda *given: wide(proven(*given)))
    found = calibrate(mechanism, Fraction(1, 4), "1e-5", solve=solve)
    kept, broken = (delta(mechanism(x), Fraction(1, 4)) for x in (found.value, found.fails_at))
    assert kept.exact_upper * Fraction(51, 50) <= Fraction("1e-5") * Fraction(501, 500)
    assert broken.exact_lower * Fraction(49, 50) > Fraction("1e-5") * Fraction(499, 500)


@pytest.mark.parametrize(("low", "high", "side"), [(8, 10, "safe"), (9, 11, None), (10, 11, None), (11, 12, "unsafe")])
def test_a_proof_on_both_sides_of_the_target_decides_nothing(low, high, side, monkeypatch: pytest.MonkeyPatch) -> None:
    budget = Budget.of(1, "1e-5", "replace-one")
    ends = Enclosure(low * budget.delta / 10, high * budget.delta / 10, "planted")
    monkeypatch.setattr(evidence, "prove_delta", lambda *_: Proof(ends, "planted"))
    search = Crossing(OfProducts(lambda _: ((),), budget), "noise")
    search._look(Fraction(3), 1e-3)
    assert (search.safe, search.unsafe) == (Fraction(3) if side == "safe" else None, 3 if side == "unsafe" else None)


@pytest.mark.minutes
def test_noise_of_a_few_steps_of_many_is_found() -> None:
    """The attack is known from below alone: its lower end leads the search for what fails."""
    found = calibrate(lambda z: dp.RandomlyAllocated(dp.Gaussian(z), 4, 2), 2, "1e-3")
    assert found.fails_at is not None
    assert found.epsilon.upper <= 2
    assert 0.7 * found.value < found.fails_at < found.value
    assert epsilon(dp.RandomlyAllocated(dp.Gaussian(found.fails_at), 4, 2), "1e-3").upper > 2


@pytest.mark.seconds
@pytest.mark.parametrize("relation", ["add-or-remove-one", "replace-one"])
def test_targets_that_need_next_to_no_noise_have_answers(relation: str) -> None:
    """No grid holds these losses: what suffices is that of one step in public, what fails that of one of four."""
    found = calibrate(lambda z: dp.RandomlyAllocated(dp.Gaussian(z), 4), 1000, "1e-5", relation)
    apart = 1.0 if relation == "add-or-remove-one" else math.sqrt(2)
    in_public = float(calibrate(dp.Gaussian, 1000, "1e-5").value)
    assert in_public * 0.95 <= float(found.value) <= apart * in_public * 1.001
    assert found.fails_at is not None
    assert found.fails_at < found.value


def test_steps_between_which_no_logarithm_lies() -> None:
    """Near 1e16, neighbours have the same logarithm in doubles: the search ends, and both sides are proven."""

    def released(steps: Fraction) -> dp.Mechanism:
        return dp.Gaussian(10**8) ** int(steps)

    found = calibrate(released, 5, "1e-6", solve="steps")
    assert found.value > 10**16
    assert found.gap <= Fraction(1, 10**13)
    assert (
        delta(released(found.value), 5).exact_upper <= Fraction("1e-6") < delta(released(found.fails_at), 5).exact_lower
    )


def test_the_last_of_many_steps_where_estimates_mislead(monkeypatch: pytest.MonkeyPatch) -> None:
    """However close the two sides are in their logarithms, the search goes on to neighbours."""
    for name in ("expected", "_precise"):
        estimate = getattr(evidence, name)
        monkeypatch.setattr(evidence, name, lambda p, e, estimate=estimate: estimate(p, e) + 1e-6)
    found = calibrate(lambda n: dp.Gaussian(10**4) ** int(n), 5, "1e-6", solve="steps")
    assert (found.value, found.fails_at) == (104112870, 104112871)


@pytest.mark.seconds
def test_wide_proofs_of_many_steps_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where proofs leave hundreds of steps undecided, a few more decide nearly all that can be."""
    asked, proven = set(), evidence.prove_delta

    def wide(*given: object) -> Proof:
        found = proven(*given)
        asked.add(given[0])
        low, high = found.enclosure.exact_lower, found.enclosure.exact_upper
        ends = replace(found.enclosure, exact_lower=low * Fraction(999, 1000), exact_upper=high * Fraction(1001, 1000))
        return replace(found, enclosure=ends)

    monkeypatch.setattr(evidence, "prove_delta", wide)
    found = calibrate(lambda n: dp.Gaussian(1000) ** int(n), 5, "1e-6", solve="steps")
    assert found.value < 1041128 < found.fails_at
    assert found.gap < Fraction(3, 10**4)  # 2e-3 of δ are 1.6e-4 of the steps
    assert len(asked) <= 20


def test_the_last_place_is_looked_at() -> None:
    """What suffices for one record may suffice for a group: only a proof says that it does not."""
    inside, outside = boundary(lambda _: True, "steps", start=0.7, step=0.35, close=1e-3, last=0.0)
    assert inside == 1
    assert outside is None
