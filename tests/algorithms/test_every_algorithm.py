"""What holds for every algorithm, held against each one's small example."""

import inspect
import math
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import cache
from importlib import import_module
from pkgutil import walk_packages

import attrs
import numpy as np
import pytest

from dpbounds import algorithms
from dpbounds.algorithms import method as frame, noise, secure_noise
from dpbounds.algorithms.ledger import Ledger, PrivacyBudget
from dpbounds.algorithms.ledger_format import CONDITION
from dpbounds.algorithms.oracles import BATCH_WIDTH, choices
from dpbounds.algorithms.sampling import Batch
from dpbounds.algorithms.second_order.reserved import ReservedLedger
from dpbounds.algorithms.verification import Verdict, bound_check
from dpbounds.algorithms.verification.catalogue import all_examples, example
from dpbounds.algorithms.verification.studies import warm_starts
from dpbounds.algorithms.verification.suite import planned
from dpbounds.algorithms.warm_starts.warm_started_path_noise import WarmStartedPathNoise
from dpbounds.errors import BudgetExceeded, DpboundsError, InvalidValue, UnsupportedMechanism
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.exact import exact
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.registry import theorem
from tests.algorithms.shared import assert_independent_repetitions, pretend

# What is spent of ε = 1 at least, where that is less than 1 - 1e-6: choices have a range that no pair of data sets
# attains, and δ = 1e-5 is all that a ball spends.
SPENT = {
    "prgd": 0,
    "above-threshold": 0,
    "above-threshold-doubled": 0.9999,
    "alternate-sample": 0.0099,
    "dp-sgd-selected": 0.98,
    "dp-fw-l1": 0.34,
    "dp-sgd-shuffled": 0.27,  # their enclosures are wide
    "dp-sgd-last-iterate": 0.75,
    "warm-spider": 0.97,
    "warm-path-noise": 0.97,
    "iterative-path-noise": 0.91,  # of whose choices only their zCDP is told
    "net-exponential-mechanism": 0.7,
    "regularised-exponential-mechanism": 0.7,
}
# Batches that depend on each other, of which the last iterate is returned: no bound is known.
WITHOUT_A_BOUND = {"dp-sgd-shuffled", "dp-sgd-last-iterate"}
# Their bounds are about more than an example measures: an unknown minimum, or more records and steps.
NOT_OF_THEIR_OWN = {
    *WITHOUT_A_BOUND,
    "dp-gld",
    "regularised-exponential-mechanism",
    "alternate-sample",
    "dp-gd-sosp",
    "dp-gd-so",
    "dp-nc",
    "path-noise",
    "iterative-path-noise",
    "warm-path-noise",
}
SOUND = [each for each in all_examples() if not each.printed]
every = pytest.mark.parametrize("one", all_examples(), ids=lambda one: one.name)
every_sound = pytest.mark.parametrize("one", SOUND, ids=lambda one: one.name)


@cache
def made(one, relation=Relation.REPLACE_ONE):
    """Its algorithm and problem: neither is changed by a run."""
    return one.calibrated(PrivacyBudget.of(1, "1e-5", relation))


@pytest.mark.one_in(8)
@pytest.mark.seconds_cases("1e-5-1e-100-dp-sgd-selected")
@every_sound
@pytest.mark.parametrize(
    ("epsilon", "delta"), [("1e30", "1e-5"), ("1e5", "1e-5"), ("1e-5", "1e-100"), ("1e99", "1e-99")]
)
def test_a_huge_or_tiny_budget_is_planned_for_or_refused(one, epsilon, delta):
    with suppress(DpboundsError):
        algorithm, problem = one.calibrated(PrivacyBudget.of(epsilon, delta))
        if hasattr(algorithm, "bound") and one.name not in WITHOUT_A_BOUND:
            assert algorithm.bound(problem).upper >= 0


@pytest.mark.one_in(8)
@every_sound
@pytest.mark.parametrize("relation", list(Relation), ids=str)
def test_the_ledger_composes_to_what_was_planned_and_keeps_the_budget(one, relation):
    if relation not in one.relations:
        with pytest.raises(UnsupportedMechanism, match="under add-or-remove-one"):
            made(one, relation)
        return
    algorithm, problem = made(one, relation)
    run = algorithm.run(problem, seed=3, repetitions=2)
    assert run.budget == PrivacyBudget.of(1, "1e-5", relation)
    run.ledger.check_plan(algorithm.planned)  # no more than planned
    assert run.ledger.releases
    assert SPENT.get(one.name, 1 - 1e-6) <= run.spent.lower <= run.spent.upper <= 1  # kept, and hardly more
    again = run.ledger.check(run.budget, run.release)
    assert (again.lower, again.upper) == (run.spent.lower, run.spent.upper)
    assert Ledger.from_json(run.ledger.to_json()) == run.ledger  # an auditor may read it


@pytest.mark.seconds_cases("warm-spider", "dp-sgd-selected-as-printed")
@pytest.mark.one_in(8)
@every
def test_a_repetition_does_not_depend_on_the_others(one):
    algorithm, problem = made(one)
    # a product is padded to a width, beyond which a second one is made; projections go one by one
    most = 5 if one.name == "projected-spider" else BATCH_WIDTH + 5
    first = assert_independent_repetitions(algorithm, problem, (2,), most)
    other = algorithm.run(problem, seed=8, repetitions=2)
    assert not np.array_equal(first.samples[:2], other.samples) or not np.array_equal(first.output[:2], other.output)


# --- what a theorem promises, and what it is allowed to look at


@pytest.mark.one_in(4)
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


def _slope(algorithm, problem):
    return float(problem.lipschitz)


def _square(algorithm, problem):
    return float(problem.lipschitz) ** 2


def _range(algorithm, problem):
    return min(float(problem.loss_range), 2 * float(algorithm.distance) * float(problem.lipschitz))


def _ball(algorithm, problem):
    radius = algorithm.net.radius if hasattr(algorithm, "net") else problem.radius
    return min(float(problem.loss_range), 2 * float(radius) * float(problem.lipschitz))


def _step(algorithm, problem):
    pull, stddev = float(problem.l1) * problem.dimension**0.5, float(algorithm.noise_stddev(problem))
    return (float(problem.lipschitz) + pull + stddev * problem.dimension**0.5) ** 2


def _mirrored(algorithm, problem):
    size, moment = float(algorithm.mirror.euclidean_square) ** 0.5, algorithm.mirror.dual_second_moment
    moment = moment.upper if isinstance(moment, Enclosure) else float(moment)
    return (size * float(problem.lipschitz) + float(algorithm.noise_stddev(problem)) * moment**0.5) ** 2


# What holds of the metric at any point that could be returned: by class, so that a new one with a bound has to say it.
WITHOUT_ANY_ALGORITHM = {
    "ProjectedGradientDescent": _step,
    "ZhangEtAl2017": lambda quoted, problem: _step(quoted.descent, problem),
    "WangYeXu2017": lambda quoted, problem: _step(quoted.descent, problem),
    "MirrorDescent": _mirrored,
    "LangevinDynamics": lambda algorithm, problem: math.inf,  # F + λ‖w‖²/2 has no range
    "PerturbedGradientDescent": _square,
    "GradientDescent": _square,
    "WeightedDescent": _square,
    "BatchDescent": _square,
    "StochasticGradientDescent": _range,
    "SelectedStochasticGradientDescent": _range,
    "GaussianFrankWolfe": lambda algorithm, problem: float(algorithm.constraint.diameter * problem.lipschitz),
    "VertexFrankWolfe": lambda algorithm, problem: float(algorithm.constraint.diameter * problem.lipschitz),
    **dict.fromkeys(("Spider", "RestartedSpider", "WarmStartedSpider", "PopulationWarmStart"), _slope),
    **dict.fromkeys(("StochasticSpider", "PopulationStochasticSpider", "AboveThresholdSelection"), _slope),
    "Storm": _square,
    "BatchStorm": _square,
    "PopulationTreeSpider": _slope,
    "NetExponentialMechanism": _ball,
    "RegularisedExponentialMechanism": _ball,
    **dict.fromkeys(("StationaryPointSelection", "ConstrainedSecondOrder"), lambda *_: 1),
    **dict.fromkeys(
        ("NegativeCurvatureDescent", "PathNoiseDescent", "IterativePathNoise", "WarmStartedPathNoise"), lambda *_: 1
    ),
}


@pytest.mark.seconds_cases("warm-spider*")
@pytest.mark.one_in(4)
@pytest.mark.parametrize("epsilon", ["1", "1/1000"])
@every_sound
def test_no_bound_is_more_than_what_holds_without_an_algorithm_and_such_a_bound_says_so(one, epsilon):
    try:
        algorithm, problem = one.calibrated(PrivacyBudget.of(epsilon, "1e-5"))
        if not hasattr(algorithm, "bound"):
            return
        bound = algorithm.bound(problem)
    except InvalidValue:  # nothing is promised
        assert one.name in NOT_OF_THEIR_OWN or epsilon == "1/1000"
        return
    limit = WITHOUT_ANY_ALGORITHM[type(algorithm).__name__](algorithm, problem)
    assert bound.upper <= limit * (1 + 1e-9)
    assert bound.method.startswith("trivial: ") == (bound.upper >= limit * (1 - 1e-9))


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


@pytest.mark.seconds_cases("dp-fw-l1*", "dp-sgd-selected*", "warm-spider", "dp-gd-so*")
@pytest.mark.one_in(4)
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
    if hasattr(algorithm, "bound") and not one.printed and ours.metric != "failure" and one.name not in WITHOUT_A_BOUND:
        assert algorithm.bound(problem) == other.bound(elsewhere)


@pytest.mark.one_in(4)
@every
def test_a_seed_is_the_systems_and_a_given_one_is_a_condition_that_is_said_everywhere(one):
    algorithm, problem = made(one)
    seeds = inspect.signature(algorithm.run).parameters["seed"]
    assert seeds.default is None
    fresh, again, given = (algorithm.run(problem, repetitions=1, **seed) for seed in ({}, {}, {"seed": 2}))
    for run in (fresh, again):
        assert run.seed is None
        assert not run.ledger.seeded
        assert CONDITION not in f"{run}{run.noise_drawn}{run.ledger.to_json()}"
    drawn = [np.hstack([*(np.ravel(x) for x in run.outputs.values()), run.output[0]]) for run in (fresh, again)]
    discrete = {"net-exponential-mechanism", "above-threshold", "above-threshold-doubled"}  # may well agree
    discrete |= {"warm-path-noise"}  # where the point that was drawn from a net is good enough
    assert one.name in discrete or not np.array_equal(*drawn)
    assert (given.seed, given.ledger.seeded) == (2, True)
    for text in (str(given), given.noise_drawn, given.ledger.to_json()):
        assert CONDITION in text
    assert Ledger.from_json(given.ledger.to_json()) == given.ledger
    assert replace(given.ledger, seeded=False) == fresh.ledger


def test_whatever_runs_takes_its_seed_from_the_system_unless_one_is_given():
    """Every function of a class of the package that is called run and takes a seed; examples above run them."""
    found, seeded = {}, set()
    for module in walk_packages(algorithms.__path__, "dpbounds.algorithms."):
        for name, kind in inspect.getmembers(import_module(module.name), inspect.isclass):
            if "random_state" in inspect.signature(kind.__init__).parameters and kind.__module__.startswith("dpbounds"):
                seeded.add(kind)
            run = None if getattr(kind, "_is_protocol", False) else vars(kind).get("run")
            if inspect.isfunction(run) and "seed" in inspect.signature(run).parameters:
                found[f"{kind.__module__}.{name}"] = inspect.signature(run).parameters["seed"].default
    assert len(found) > 6
    attacks = {name for name in found if ".attacks." in name}  # experiments: whoever calls gives the seed
    assert {found.pop(name) for name in attacks} <= {inspect.Parameter.empty}
    assert set(found.values()) == {None}
    assert {estimator.__name__ for estimator in seeded} >= {"PrivateLinearClassifier"}
    assert {inspect.signature(estimator).parameters["random_state"].default for estimator in seeded} == {None}


@pytest.mark.one_in(4)
@every
@pytest.mark.parametrize(("change", "named"), [({"seed": -1}, "seed"), ({"repetitions": 0}, "repetitions")])
def test_bad_seeds_and_repetitions_are_refused(one, change, named):
    algorithm, problem = made(one)
    with pytest.raises(InvalidValue, match=named):
        algorithm.run(problem, **change)


@pytest.mark.one_in(4)
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


@pytest.mark.one_in(8)
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


@pytest.mark.one_in(4)
@every_sound
def test_who_takes_a_kind_of_noise_draws_secure_noise_for_the_same_ledger_or_refuses_in_one_line(one, monkeypatch):
    algorithm, problem = made(one)
    parts = [name for name in ("start", "spider", "search") if hasattr(getattr(algorithm, name, None), "noise")]
    if isinstance(algorithm, WarmStartedPathNoise):  # its descent has one kind
        with pytest.raises(InvalidValue, match=r"^start\.noise must be 'gaussian'"):
            attrs.evolve(algorithm, start=attrs.evolve(algorithm.start, noise="secure"))
        parts = []
    if "noise" not in attrs.fields_dict(type(algorithm)) and not parts:
        assert "noise" not in inspect.signature(type(algorithm).calibrated).parameters
        return
    if not parts and "WhichNoise" not in attrs.fields_dict(type(algorithm))["noise"].type:
        with pytest.raises(DpboundsError) as refused:
            attrs.evolve(algorithm, noise="secure").run(problem, repetitions=1)
        assert "\n" not in str(refused.value)
        return
    if getattr(algorithm, "release", "") == "last-iterate":
        with pytest.raises(InvalidValue, match=r"^noise must be gaussian"):
            attrs.evolve(algorithm, noise="secure").run(problem, repetitions=1)
        return
    asked = pretend(monkeypatch)
    if getattr(algorithm, "clipping", None) is not None:  # nor does a norm that adapts know of whole numbers
        with pytest.raises(UnsupportedMechanism, match="no secure noise"):
            attrs.evolve(algorithm, noise="secure").run(problem, repetitions=1)
        return
    for name in parts:  # not of one kind: refused
        with pytest.raises(InvalidValue, match="noise"):
            attrs.evolve(algorithm, **{name: attrs.evolve(getattr(algorithm, name), noise="secure")})
    changed = {name: attrs.evolve(getattr(algorithm, name), noise="secure") for name in parts}
    secure = attrs.evolve(algorithm, **changed or {"noise": "secure"})
    run = secure.run(problem, seed=1, repetitions=2)
    assert asked
    assert secure.planned == algorithm.planned
    run.ledger.check_plan(secure.planned)
    assert run.spent.upper <= 1
    assert CONDITION not in f"{run}{run.ledger.to_json()}"  # the seed decides nothing that privacy rests on
    assert "OpenDP" in str(run)
    if asked[0][1] is None:  # of a choice there is no noise to be seen
        return
    monkeypatch.setattr(secure_noise, "scale_of", lambda *args: 1)
    with pytest.raises(BudgetExceeded, match="less noise"):
        secure.run(problem, repetitions=8)


# --- planted bugs: whatever an algorithm learns of the records it asks of the frame, so that one plant is for all


def planted(change, monkeypatch):
    """Let every oracle that the frame hands out be changed; returns the list of answers that were asked for since."""
    asked = []
    gradients = ("GradientOracle", "BatchGradientOracle", "VisitGradientOracle")
    for name in (*gradients, "GradientDifferenceOracle", "HessianOracle"):
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


@pytest.mark.one_in(8)
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
    "int | None": [0, -1, 2.5],
    "float | None": [0.0, -1.0, math.nan, math.inf],
    "tuple[float, ...] | None": [(math.nan,), (math.inf, 0.0)],
    "PrivacyBudget | None": [(1, 1e-6)],
    "PrivacyBudget": [(1, 1e-6)],
    "Sampling": [0.1],
    "Scheme": [0.1],
    "Draws": [0.1],
    "Correlated": [0.1, Batch(5, 50, False)],
    "Poisson | None": [0.1, Batch(5, 50, False)],
    "Relation": ["sideways"],
    "Array": [[], "abc", [[math.nan, 0.0]]],
    "Literal": ["other", None],
}
MAY_BE_ZERO = {"regulariser", "regularisation", "initial_gap", "failure", "outside"}
CHOICES = {
    "WhichNoise",
    "WhichRelease",
    "WhichShape",
    "WhichOutput",
    "WhichChoice",
    "WhichSampler",
    "Variant",
    "WhichVariant",
}
OF_OTHER_RECORDS = {
    *("DistanceGenerator", "ConstraintSet", "QuadraticOracle | None", "Net", "bool", "Start", "Method[Any]"),
    *("ScaleChoice | RangesChoice | None", "Callable[[int], None] | None"),
    *("Kicks | None", "Growth | None", "Schedule | None", "Spider", "tuple[Spider, ...]"),
    *("ProjectedGradientDescent", "NetExponentialMechanism", "PopulationStochasticSpider", "PathNoiseDescent"),
    *("Optimiser", "QuantileClipping | None"),
}


@pytest.mark.one_in(4)
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


@pytest.mark.seconds
def test_whatever_can_be_run_has_an_example():
    """So that audits, checks and the tests above cover it: every concrete ``Method`` of the package."""
    modules = [import_module(module.name) for module in walk_packages(algorithms.__path__, "dpbounds.algorithms.")]
    kinds = {kind for module in modules for _, kind in inspect.getmembers(module, inspect.isclass)}
    methods = {kind for kind in kinds if issubclass(kind, frame.Method) and not inspect.isabstract(kind)}
    run = {kind for one in all_examples() for kind in type(made(one)[0]).__mro__}  # with what they are made of
    assert len(methods) > 20
    assert methods - run == set()


def test_an_unknown_name_is_refused_with_what_it_may_mean():
    with pytest.raises(InvalidValue, match=r"`dpbounds audit all` lists, .*dp-sgd"):
        example("dpsgd")
