"""What holds for every algorithm, held against each one's small example."""

import inspect
import math
from fractions import Fraction
from functools import cache

import attrs
import numpy as np
import pytest

from dpbounds.algorithms import method as frame
from dpbounds.algorithms import noise, secure_noise
from dpbounds.algorithms.ledger import Ledger, PrivacyBudget
from dpbounds.algorithms.oracles import BATCH_WIDTH, choices
from dpbounds.algorithms.second_order.reserved import ReservedLedger
from dpbounds.algorithms.verification import Verdict, bound_check
from dpbounds.algorithms.verification.catalogue import all_examples, example
from dpbounds.algorithms.verification.studies import warm_starts
from dpbounds.algorithms.verification.suite import planned
from dpbounds.errors import BudgetExceeded, InvalidValue, UnsupportedMechanism
from dpbounds.expressions.exact import exact
from dpbounds.privacy.mechanisms import ZCDP
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.registry import theorem
from tests.algorithms.shared import assert_independent_repetitions

# What is spent of ε = 1 at least, where that is less than 1 - 1e-6: choices have a range that no pair of data sets
# attains, and δ = 1e-5 is all that a ball spends.
SPENT = {
    "prgd": 0,
    "above-threshold": 0,
    "above-threshold-doubled": 0.9999,
    "alternate-sample": 0.0099,
    "dp-sgd-selected": 0.98,
    "dp-fw-l1": 0.34,
    "warm-spider": 0.97,
    "net-exponential-mechanism": 0.7,
    "regularised-exponential-mechanism": 0.7,
}
# Their bounds are about more than an example measures: an unknown minimum, or more records and steps.
NOT_OF_THEIR_OWN = {
    "dp-gld",
    "regularised-exponential-mechanism",
    "alternate-sample",
    "dp-gd-sosp",
    "dp-gd-so",
    "dp-nc",
}
SOUND = [each for each in all_examples() if not each.printed]
every = pytest.mark.parametrize("one", all_examples(), ids=lambda one: one.name)
every_sound = pytest.mark.parametrize("one", SOUND, ids=lambda one: one.name)


@cache
def made(one, relation=Relation.REPLACE_ONE):
    """Its algorithm and problem: neither is changed by a run."""
    return one.calibrated(PrivacyBudget.of(1, "1e-5", relation))


@pytest.mark.rotating(8)
@every_sound
@pytest.mark.parametrize("relation", list(Relation), ids=str)
def test_the_ledger_composes_to_what_was_planned_and_keeps_the_budget(one, relation):
    algorithm, problem = made(one, relation)
    run = algorithm.run(problem, seed=3, repetitions=2)
    assert run.budget == PrivacyBudget.of(1, "1e-5", relation)
    run.ledger.check_plan(algorithm.planned)  # no more than planned
    assert run.ledger.releases
    assert SPENT.get(one.name, 1 - 1e-6) <= run.spent.lower <= run.spent.upper <= 1  # kept, and hardly more
    again = run.ledger.check(run.budget)
    assert (again.lower, again.upper) == (run.spent.lower, run.spent.upper)
    assert Ledger.from_json(run.ledger.to_json()) == run.ledger  # an auditor may read it


@pytest.mark.thorough_cases("warm-spider", "dp-sgd-selected-as-printed")
@pytest.mark.rotating(8)
@every
def test_a_repetition_does_not_depend_on_the_others(one):
    algorithm, problem = made(one)
    # a product is padded to a width, beyond which a second one is made; projections go one by one
    most = 5 if one.name == "projected-spider" else BATCH_WIDTH + 5
    first = assert_independent_repetitions(algorithm, problem, (2,), most)
    other = algorithm.run(problem, seed=8, repetitions=2)
    assert not np.array_equal(first.samples[:2], other.samples) or not np.array_equal(first.output[:2], other.output)


# --- what a theorem promises, and what it is allowed to look at


@pytest.mark.rotating(4)
@every_sound
def test_what_is_measured_stays_below_the_bound_which_says_something(one):
    algorithm, problem = made(one)
    if not hasattr(algorithm, "bound") or one.name in NOT_OF_THEIR_OWN:
        return
    run = algorithm.run(problem, seed=3, repetitions=16)
    checked = [(run.samples, algorithm.bound(problem))]
    if run.metric == "noisy":
        checked.append((run.trace.exact.per_repetition, algorithm.bound(problem, "exact")))
    for samples, bound in checked:
        assert bound_check("x", samples, bound).verdict is Verdict.HOLDS
        assert bound_check("x", samples + 3 * bound.upper, bound).verdict is Verdict.FAILS
        assert samples.mean() > 1e-5 * bound.upper


def planned_by_default(algorithm, problem):
    """What its class plans for a problem where steps and the like are left to it."""
    plan = type(algorithm).calibrated
    asked = inspect.signature(plan).parameters
    if "problem" not in asked or "inner" in asked:
        return algorithm
    own = {name for name, each in asked.items() if each.default is each.empty} | {"growth", "stationarity"}
    given = {name: getattr(algorithm, name) for name in asked if name in own and hasattr(algorithm, name)}
    assumed = {"radius": 1, "covering_radius": "1/5", "pl_constant": 1}
    return plan(problem, **given, **{name: value for name, value in assumed.items() if name in asked})


@pytest.mark.thorough_cases("dp-fw-l1*", "dp-sgd-selected*", "warm-spider", "dp-gd-so*")
@pytest.mark.rotating(4)
@every
def test_other_records_change_no_plan_and_no_bound(one, monkeypatch):
    """Whatever is drawn is drawn anew: the same sizes and constants, and other numbers."""
    algorithm, problem = made(one)
    real = np.random.default_rng
    warm_starts.regression.cache_clear()
    with monkeypatch.context() as patched:
        patched.setattr(np.random, "default_rng", lambda seed=None: real(None if seed is None else (seed, 7)))
        other, elsewhere = one.calibrated(PrivacyBudget.of(1, "1e-5"))
    warm_starts.regression.cache_clear()
    pairs = [(algorithm, other)]
    if not one.printed:
        pairs.append((planned_by_default(algorithm, problem), planned_by_default(algorithm, elsewhere)))
    for ours, theirs in pairs:
        for field in attrs.fields(type(ours)):
            if field.type not in {"Net", "Array", "Start", "NetExponentialMechanism"}:  # which have points
                assert getattr(ours, field.name) == getattr(theirs, field.name), field.name
    ours, theirs = algorithm.run(problem, repetitions=1), other.run(elsewhere, repetitions=1)
    assert ours.parameters == theirs.parameters
    assert ours.ledger == theirs.ledger
    if hasattr(algorithm, "bound") and not one.printed and ours.metric != "failure":
        assert algorithm.bound(problem) == other.bound(elsewhere)


@pytest.mark.rotating(4)
@every
@pytest.mark.parametrize(("change", "named"), [({"seed": -1}, "seed"), ({"repetitions": 0}, "repetitions")])
def test_bad_seeds_and_repetitions_are_refused(one, change, named):
    algorithm, problem = made(one)
    with pytest.raises(InvalidValue, match=named):
        algorithm.run(problem, **change)


@pytest.mark.rotating(4)
@every_sound
def test_noise_that_is_one_percent_smaller_than_planned_raises(one, monkeypatch):
    """Less noise, truthfully written down: the plan tells."""
    algorithm, problem = made(one)
    gaussian, ball, choice = noise.gaussian, noise.ball, choices.choice
    weakened = []

    def weaker_gaussian(generators, dimension, *, noise_stddev, **rest):
        weakened.append("gaussian")
        return gaussian(generators, dimension, noise_stddev=0.99 * noise_stddev, **rest)

    def weaker_ball(kind, generators, dimension, *, radius, **rest):
        weakened.append("ball")
        return ball(kind, generators, dimension, radius=0.99 * radius, **rest)

    def weaker_choice(epsilon, *rest):
        weakened.append("choice")
        return choice(Fraction(101, 100) * exact(epsilon, "epsilon"), *rest)

    monkeypatch.setattr(noise, "gaussian", weaker_gaussian)
    monkeypatch.setattr(noise, "ball", weaker_ball)
    monkeypatch.setattr(choices, "choice", weaker_choice)
    try:
        algorithm.run(problem, seed=0, repetitions=2)
    except (BudgetExceeded, UnsupportedMechanism):
        assert weakened
        return
    assert not weakened


@pytest.mark.rotating(4)
@every_sound
def test_noise_that_is_drawn_too_small_raises(one, monkeypatch):
    """Less noise than is written down: the ledger counts what reached the answers; 3000 numbers show 10 %."""
    algorithm, problem = made(one)
    counted = []
    whole, unit = noise.standard_gaussian, noise._unit

    def weaker(generators, dimension):
        drawn = whole(generators, dimension)
        counted.append(drawn.size)
        return 0.9 * drawn

    def smaller(kind, generators, dimension):
        drawn = unit(kind, generators, dimension)
        counted.extend([] if kind == "sphere" else [drawn.size])  # on a sphere nothing is promised
        return 0.9 * drawn

    monkeypatch.setattr(noise, "standard_gaussian", weaker)
    monkeypatch.setattr(noise, "_unit", smaller)
    try:
        algorithm.run(problem, seed=0, repetitions=64)
    except BudgetExceeded as error:
        assert "noise" in str(error)  # noqa: PT017 (it may as well not raise)
        return
    assert sum(counted) < 3000, "noise was drawn 10 % too small, and nothing happened"


@pytest.mark.rotating(4)
@every_sound
def test_secure_noise_has_an_account_of_its_own_and_one_per_cent_less_is_found(one, monkeypatch):
    algorithm, problem = made(one)
    if "WhichNoise" not in getattr(attrs.fields_dict(type(algorithm)).get("noise"), "type", ""):
        return
    rng, real = np.random.default_rng(0), secure_noise.gaussian
    # a sampler of the right law (to the eye), so that no extra is needed
    monkeypatch.setattr(
        secure_noise, "_sampler", lambda scale, p: lambda row: [v + round(scale * rng.standard_normal()) for v in row]
    )
    secure = attrs.evolve(algorithm, noise="secure", budget=None)
    run = secure.run(problem, repetitions=1)
    assert {type(release.described) for release in run.ledger.releases} == {ZCDP}
    assert "OpenDP" in str(run)
    monkeypatch.setattr(
        secure_noise,
        "gaussian",
        lambda *args, noise_stddev, **rest: real(*args, noise_stddev=0.99 * noise_stddev, **rest),
    )
    with pytest.raises(BudgetExceeded):
        secure.run(problem, repetitions=1)


# --- planted bugs: whatever an algorithm learns of the records it asks of the frame, so that one plant is for all


def planted(change, monkeypatch):
    """Let every oracle that the frame hands out be changed; returns the list of answers that were asked for since."""
    asked = []
    for name in ("GradientOracle", "BatchGradientOracle", "GradientDifferenceOracle", "HessianOracle"):
        monkeypatch.setattr(frame, name, change(getattr(frame, name), asked))
    return asked


def chatty(oracle, asked):
    class Chatty(oracle):
        def __call__(self, *points):
            asked.append(oracle)
            oracle.__call__(self, *points)
            return oracle.__call__(self, *points)

    return Chatty


def cheap(oracle, asked):
    if not hasattr(oracle, "noise_stddev"):  # differences have noise per distance
        return oracle

    class Cheap(oracle):
        @property
        def noise_stddev(self):
            asked.append(oracle)
            return 0.99 * oracle.noise_stddev.fget(self)

    return Cheap


@pytest.mark.rotating(8)
@every
@pytest.mark.parametrize("change", [chatty, cheap])
def test_one_query_more_or_less_noise_in_any_oracle_raises(one, change, monkeypatch):
    algorithm, problem = made(one)
    asked = planted(change, monkeypatch)
    real = frame.choose

    def choose_twice(*args, **options):
        asked.append(real)
        real(*args, **options)
        return real(*args, **options)

    if change is chatty:
        monkeypatch.setattr(frame, "choose", choose_twice)
    try:
        algorithm.run(problem, seed=0, repetitions=2)
    except (BudgetExceeded, UnsupportedMechanism):
        assert asked
        return
    # what was reserved is paid for: a run that stops early may ask again
    assert not asked or (change is chatty and isinstance(algorithm._ledger(), ReservedLedger))


# --- what is refused


BAD = {
    "Fraction": [-1, math.nan, "abc", None],
    "Fraction | None": [-1, math.nan, "abc"],
    "int": [0, -1, 2.5, True, None],
    "float": [0.0, -1.0, math.nan, math.inf],
    "float | None": [0.0, -1.0, math.nan, math.inf],
    "tuple[float, ...] | None": [(math.nan,), (math.inf, 0.0)],
    "PrivacyBudget | None": [(1, 1e-6)],
    "PrivacyBudget": [(1, 1e-6)],
    "Sampling": [0.1],
    "Relation": ["sideways"],
    "Array": [[], "abc", [[math.nan, 0.0]]],
    "Literal": ["other", None],
}
MAY_BE_ZERO = {"regulariser", "regularisation", "initial_gap", "failure"}
CHOICES = {"WhichNoise", "WhichShape", "WhichOutput", "WhichChoice", "WhichSampler", "Variant", "WhichVariant"}
OF_OTHER_RECORDS = {
    *("DistanceGenerator", "ConstraintSet", "QuadraticOracle | None", "Net", "bool", "Start", "Method[Any]"),
    *("Kicks | None", "Growth | None", "Schedule | None", "Spider", "tuple[Spider, ...]"),
    *("ProjectedGradientDescent", "NetExponentialMechanism", "PopulationStochasticSpider"),
}


@pytest.mark.rotating(4)
@every_sound
def test_bad_parameters_are_refused_by_name(one):
    algorithm = made(one)[0]
    for field in attrs.fields(type(algorithm)):
        if field.type in OF_OTHER_RECORDS or (field.name, field.type) == ("claimed", "PrivacyBudget"):
            continue
        zero = [0] if field.type.startswith("Fraction") and field.name not in MAY_BE_ZERO else []
        for value in BAD["Literal" if field.type.removeprefix("fields.") in CHOICES else field.type] + zero:
            with pytest.raises(InvalidValue, match=rf"^{field.name}(\.shape)? "):
                attrs.evolve(algorithm, **{field.name: value})


@every
def test_its_statements_exist_and_are_checked(one):
    assert one.theorems
    for name in one.theorems:
        assert theorem(name).id == name
    checked = {each.theorem for each in planned()}
    assert one.printed or any(name in checked for name in one.theorems), (
        f"{one.name}: no check belongs to any of {one.theorems}"
    )


def test_an_unknown_name_is_refused_with_what_it_may_mean():
    with pytest.raises(InvalidValue, match=r"`dpbounds audit all` lists, .*dp-sgd"):
        example("dpsgd")
