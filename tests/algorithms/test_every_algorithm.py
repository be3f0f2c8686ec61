"""What holds for every algorithm, tested on the small example of each."""

import inspect
import math
import re
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
from dpbounds.algorithms import method as frame, noise, oracles, secure_noise
from dpbounds.algorithms.ledger import Ledger, PrivacyBudget
from dpbounds.algorithms.ledger_format import CONDITION
from dpbounds.algorithms.oracles import BATCH_WIDTH, choices, perturbation
from dpbounds.algorithms.oracles.watching import answered, watched_by
from dpbounds.algorithms.sampling import Batch, Poisson
from dpbounds.algorithms.verification import Verdict, bound_check
from dpbounds.algorithms.verification.catalogue import all_examples, example
from dpbounds.errors import BudgetExceeded, DpboundsError, InvalidValue, UnsupportedMechanism
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.exact import exact
from dpbounds.privacy.mechanisms import parts_of
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.registry import theorem
from tests.algorithms.shared import EVERY, SOUND, assert_independent_repetitions, minutes_unless, pretend, refused

# What is spent of ε = 1 at least, where that is less than 1 - 1e-6: choices have a range that no pair of datasets
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
    "warm-iterative-path-noise": 0.95,
    "warm-gradient-path-noise": 0.97,
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
    "warm-iterative-path-noise",
    "gradient-path-noise",
    "warm-gradient-path-noise",
}
# A descent, random samples, differences, a choice, another geometry; all other examples run in the layer `minutes`.
KINDS = ("dp-pgd", "dp-sgd-poisson", "dp-spider", "net-exponential-mechanism", "dp-pmd-l1")
# One example for each oracle and each way to draw.
ORACLES = {
    "GradientOracle": "dp-pgd",
    "BatchGradientOracle": "dp-sgd-poisson",
    "VisitGradientOracle": "dp-sgd-shuffled",
    "CorrelatedGradientOracle": "dp-ftrl",
    "GradientDifferenceOracle": "dp-spider",
    "PathGradientOracle": "path-noise",
    "HessianOracle": "dp-gd-sosp",
    "HessianProductOracle": "iterative-path-noise",
    "QuantileClippedOracle": "training-quantile",
    "a choice": "net-exponential-mechanism",
    "a mechanism of its own": "above-threshold",
    "noise in a ball": "prgd",
}
# Classes with a `run` of their own.
RUNS = ("stochastic-spider-population", "tree-spider-population", "restarted-dp-spider", "population-warm-start")
RUNS += ("projected-spider", "training", "dp-spider")


def of(names, *kept):
    """Cases by name: those that are kept in their own layer, the others in `minutes`."""
    return pytest.mark.parametrize("name", [minutes_unless(name, *kept) for name in names])


every, every_sound = of(EVERY, *KINDS), of(SOUND, *KINDS)
COSTLY = {"dp-sgd-shuffled", "iterative-path-noise", "warm-iterative-path-noise"}
every_oracle = pytest.mark.parametrize(
    "name",
    [name if name in {*ORACLES.values()} - COSTLY else pytest.param(name, marks=pytest.mark.seconds) for name in EVERY],
)


@cache
def made(name, relation=Relation.REPLACE_ONE):
    """Its algorithm and problem: neither is changed by a run."""
    return example(name).calibrated(PrivacyBudget.of(1, "1e-5", relation))


@pytest.mark.seconds_cases("*-dp-sgd-poisson")
@every_sound
@pytest.mark.parametrize(
    ("epsilon", "delta"), [("1e30", "1e-5"), ("1e5", "1e-5"), ("1e-5", "1e-100"), ("1e99", "1e-99")]
)
def test_a_huge_or_tiny_budget_is_planned_for_or_refused(name, epsilon, delta):
    with suppress(DpboundsError):
        algorithm, problem = example(name).calibrated(PrivacyBudget.of(epsilon, delta))
        if hasattr(algorithm, "bound") and name not in WITHOUT_A_BOUND:
            assert algorithm.bound(problem).upper >= 0


@every_sound
@pytest.mark.parametrize("relation", list(Relation), ids=str)
def test_the_ledger_composes_to_what_was_planned_and_keeps_the_budget(name, relation):
    if relation not in example(name).relations:
        with pytest.raises(UnsupportedMechanism, match="under add-or-remove-one"):
            made(name, relation)
        return
    algorithm, problem = made(name, relation)
    run = algorithm.run(problem, seed=3, repetitions=2)
    assert run.budget == PrivacyBudget.of(1, "1e-5", relation)
    run.ledger.check_plan(algorithm.planned)  # no more than planned
    assert run.ledger.releases
    assert SPENT.get(name, 1 - 1e-6) <= run.spent.lower <= run.spent.upper <= 1  # kept, and hardly more
    again = run.ledger.check(run.budget, run.release)
    assert (again.lower, again.upper) == (run.spent.lower, run.spent.upper)
    assert Ledger.from_json(run.ledger.to_json()) == run.ledger  # an auditor may read it


@every
def test_a_repetition_does_not_depend_on_the_others(name):
    algorithm, problem = made(name)
    # a product is padded to a width, beyond which a second one is made; projections go one by one
    most = 5 if name == "projected-spider" else BATCH_WIDTH + 5
    first = assert_independent_repetitions(algorithm, problem, (2,), most)
    other = algorithm.run(problem, seed=8, repetitions=2)
    assert not np.array_equal(first.samples[:2], other.samples) or not np.array_equal(first.output[:2], other.output)


# --- what a theorem promises, and what it is allowed to look at


@every_sound
def test_what_is_measured_stays_below_the_bound_which_says_something(name):
    algorithm, problem = made(name)
    if not hasattr(algorithm, "bound") or name in NOT_OF_THEIR_OWN:
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
    **dict.fromkeys(("NegativeCurvatureDescent", "PathNoiseDescent", "IterativePathNoise"), lambda *_: 1),
    **dict.fromkeys(("WarmStartedPathNoise", "WarmStartedIterativePathNoise"), lambda *_: 1),
    **dict.fromkeys(("GradientPathNoise", "WarmStartedGradientPathNoise"), lambda *_: 1),
}


@pytest.mark.parametrize("epsilon", ["1", "1/1000"])
@every_sound
def test_no_bound_is_more_than_what_holds_without_an_algorithm_and_such_a_bound_says_so(name, epsilon):
    try:
        algorithm, problem = example(name).calibrated(PrivacyBudget.of(epsilon, "1e-5"))
        if not hasattr(algorithm, "bound"):
            return
        bound = algorithm.bound(problem)
    except InvalidValue:  # nothing is promised
        assert name in NOT_OF_THEIR_OWN or epsilon == "1/1000"
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


@every
def test_other_records_change_no_plan_and_no_bound(name, monkeypatch):
    """Whatever is drawn is drawn anew: the same sizes and constants, and other numbers."""
    from dpbounds.algorithms.verification.studies import warm_starts

    one = example(name)
    algorithm, problem = made(name)
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
    if hasattr(algorithm, "bound") and not one.printed and ours.metric != "failure" and name not in WITHOUT_A_BOUND:
        assert algorithm.bound(problem) == other.bound(elsewhere)


@of(EVERY, "dp-pgd", *RUNS)
def test_a_seed_is_the_systems_and_a_given_one_is_a_condition_that_is_said_everywhere(name):
    algorithm, problem = made(name)
    seeds = inspect.signature(algorithm.run).parameters["seed"]
    assert seeds.default is None
    fresh, again, given = (algorithm.run(problem, repetitions=1, **seed) for seed in ({}, {}, {"seed": 2}))
    for run in (fresh, again):
        assert run.seed is None
        assert not run.ledger.seeded
        assert CONDITION not in f"{run}{run.noise_drawn}{run.ledger.to_json()}"
    drawn = [np.hstack([*(np.ravel(x) for x in run.outputs.values()), run.output[0]]) for run in (fresh, again)]
    discrete = {"net-exponential-mechanism", "above-threshold", "above-threshold-doubled"}  # may well agree
    # where the point that was drawn from a net is good enough
    discrete |= {"warm-path-noise", "warm-iterative-path-noise", "warm-gradient-path-noise"}
    assert name in discrete or not np.array_equal(*drawn)
    assert (given.seed, given.ledger.seeded) == (2, True)
    for text in (str(given), given.noise_drawn, given.ledger.to_json()):
        assert CONDITION in text
    assert Ledger.from_json(given.ledger.to_json()) == given.ledger
    assert replace(given.ledger, seeded=False) == fresh.ledger


@pytest.mark.seconds
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


@of(EVERY, "dp-pgd", *RUNS)
@pytest.mark.parametrize(("change", "named"), [({"seed": -1}, "seed"), ({"repetitions": 0}, "repetitions")])
def test_bad_seeds_and_repetitions_are_refused(name, change, named):
    algorithm, problem = made(name)
    with pytest.raises(InvalidValue, match=named):
        algorithm.run(problem, **change)


# --- planted bugs -----------------------------------------------------------------------------------------------------
#
# Whatever an algorithm learns of the records it asks of an oracle, a choice or a mechanism of its own, so that a bug is
# planted in these for all examples at once. Each test asserts that the example has reached what was planted.

# Points drawn from a density of the records: there is no noise to be smaller.
WITHOUT_NOISE = ("regularised-exponential-mechanism", "alternate-sample")
# What a mechanism of its own writes is its plan itself: less noise can only be drawn, which is tested below.
PLAN_ITSELF = (*WITHOUT_NOISE, "above-threshold", "above-threshold-doubled", "above-threshold-as-printed")
# How often a question is asked again where answers that were not needed are paid for: a run that stops early may ask.
AGAIN = dict.fromkeys(("dp-gd-sosp", "dp-gd-so", "dp-nc", "path-noise", "iterative-path-noise"), 500)
AGAIN |= dict.fromkeys(("warm-path-noise", "warm-iterative-path-noise", "warm-gradient-path-noise"), 500)
AGAIN |= {"gradient-path-noise": 500}


@pytest.mark.seconds
def test_each_oracle_is_asked_by_the_example_that_stands_for_it():
    assert {name for name in oracles.__all__ if name.endswith("Oracle")} < set(ORACLES)

    class Heard:
        def answer(self, question, answer):
            found.add(type(question.about).__name__)
            return answer()

    for kind, name in ORACLES.items():
        algorithm, problem = made(name)
        found = set()
        with watched_by(Heard()):
            algorithm.run(problem, seed=0, repetitions=2)
        spelled = {"a choice": "Scored", "a mechanism of its own": "NoneType", "noise in a ball": "BatchGradientOracle"}
        assert spelled.get(kind, kind) in found


@every_oracle
def test_one_question_more_than_planned_raises(name, monkeypatch):
    algorithm, problem = made(name)
    asked = []

    def again(question, answer):
        asked.append(question.kind)
        for _ in range(AGAIN.get(name.removesuffix("-as-printed"), 1)):
            answered(question, answer)
        return answered(question, answer)

    for module in (perturbation, choices, frame):
        monkeypatch.setattr(module, "answered", again)
    with pytest.raises((BudgetExceeded, UnsupportedMechanism)):
        algorithm.run(problem, seed=0, repetitions=2)
    assert asked


@every_oracle
def test_noise_that_is_one_percent_smaller_than_planned_raises(name, monkeypatch):
    """Less noise, truthfully written down: the plan tells."""
    algorithm, problem = made(name)
    weakened = []

    def weaker(kind):
        def init(self, *given, **named):
            bound = inspect.signature(real).bind(self, *given, **named)
            bound.arguments["noise_multiplier"] *= Fraction(99, 100)
            weakened.append(kind)
            real(*bound.args, **bound.kwargs)

        real = kind.__init__
        return init

    for kind in {getattr(oracles, each) for each in ORACLES if hasattr(oracles, each)}:
        monkeypatch.setattr(kind, "__init__", weaker(kind))
    choice = choices.choice

    def weaker_choice(epsilon, *rest):
        weakened.append(choice)
        return choice(Fraction(101, 100) * exact(epsilon, "epsilon"), *rest)

    monkeypatch.setattr(choices, "choice", weaker_choice)
    if name in PLAN_ITSELF:
        algorithm.run(problem, seed=0, repetitions=2)
        assert not weakened
        return
    with pytest.raises((BudgetExceeded, UnsupportedMechanism)):
        algorithm.run(problem, seed=0, repetitions=2)
    assert weakened


class Short:
    """A stream whose exponential variables are half as large."""

    def __init__(self, stream, counted):
        self.stream, self.counted = stream, counted

    def standard_exponential(self, shape):
        drawn = self.stream.standard_exponential(shape)
        self.counted.append(drawn.size)
        return 0.5 * drawn

    def random(self, shape):
        return self.stream.random(shape)


@every_oracle
def test_noise_that_is_drawn_half_as_large_raises(name, monkeypatch):
    """Less noise than is written down: the ledger counts what reached the answers."""
    algorithm, problem = made(name)
    counted, gumbels = [], []
    gaussian, ball, laplace = noise.standard_gaussian, noise._unit, noise.laplace

    def half_gaussian(generators, dimension):
        drawn = gaussian(generators, dimension)
        counted.append(drawn.size)
        return 0.5 * drawn

    def half_ball(kind, generators, dimension):
        drawn = ball(kind, generators, dimension)
        counted.append(drawn.size)
        return 0.5 * drawn

    def half_used(unit, scale):
        gumbels.append(unit.size)
        return 0.5 * scale * unit

    monkeypatch.setattr(noise, "standard_gaussian", half_gaussian)
    monkeypatch.setattr(noise, "_unit", half_ball)
    monkeypatch.setattr(
        noise,
        "laplace",
        lambda streams, *rest, **more: laplace([Short(each, counted) for each in streams], *rest, **more),
    )
    monkeypatch.setattr(choices, "_used", half_used)
    if name in WITHOUT_NOISE:
        algorithm.run(problem, seed=0, repetitions=2)
        assert not counted + gumbels
        return
    with pytest.raises(BudgetExceeded, match="noise"):
        algorithm.run(problem, seed=0, repetitions=64)
    assert sum(counted) >= 100 or sum(gumbels) >= 1000  # which is enough for the count


@of(SOUND, *KINDS, "dp-sgd-last-iterate", "training-quantile", "warm-spider", "warm-path-noise")
@pytest.mark.seconds_cases("dp-sgd-last-iterate", "warm-*")
def test_who_takes_a_kind_of_noise_draws_secure_noise_for_the_same_ledger_or_refuses_in_one_line(name, monkeypatch):
    algorithm, problem = made(name)
    parts = [part for part in ("start", "spider", "search") if hasattr(getattr(algorithm, part, None), "noise")]
    if name in (
        "warm-path-noise",
        "warm-iterative-path-noise",
        "warm-gradient-path-noise",
    ):  # their descent has one kind
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
        with pytest.raises(UnsupportedMechanism, match="secure noise"):
            attrs.evolve(algorithm, noise="secure").run(problem, repetitions=1)
        return
    for part in parts:  # not of one kind: refused
        with pytest.raises(InvalidValue, match="noise"):
            attrs.evolve(algorithm, **{part: attrs.evolve(getattr(algorithm, part), noise="secure")})
    changed = {part: attrs.evolve(getattr(algorithm, part), noise="secure") for part in parts}
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
    *("ProjectedGradientDescent", "NetExponentialMechanism", "PopulationStochasticSpider", "Walk"),
    *("Optimiser", "QuantileClipping | None"),
}


# Together they have every converter of `fields`.
CONVERTED = (
    "dp-pgd",
    "dp-sgd-poisson",
    "dp-spider",
    "prgd",
    "dp-pmd-l2",
    "clipped-gd",
    "training",
    "dp-ftrl",
    "dp-gld",
)
CONVERTED += ("above-threshold", "net-exponential-mechanism", "population-warm-start", "dp-fw-l1", "dp-nc", "dp-storm")


@of(SOUND, *CONVERTED, "alternate-sample")
def test_bad_parameters_are_refused_by_name(name):
    algorithm = made(name)[0]
    for field in attrs.fields(type(algorithm)):
        if field.type in OF_OTHER_RECORDS or (field.name, field.type) == ("claimed", "PrivacyBudget"):
            continue
        zero = [0] if field.type.startswith("Fraction") and field.name not in MAY_BE_ZERO else []
        for value in BAD["Literal" if field.type.removeprefix("fields.") in CHOICES else field.type] + zero:
            with pytest.raises(InvalidValue, match=rf"^{field.name}(\.shape)? "):
                attrs.evolve(algorithm, **{field.name: value})


@pytest.mark.seconds
def test_statements_of_examples_exist_and_are_checked():
    from dpbounds.algorithms.verification.suite import planned

    checked = {each.theorem for each in planned()}
    for one in all_examples():
        assert one.theorems
        assert [theorem(each).id for each in one.theorems] == list(one.theorems)
        assert one.printed or checked & set(one.theorems), one.name


PLANNED_FOR_A_SAMPLING = {"StochasticGradientDescent": "dp-sgd", "PrivateTraining": "training", "Spider": "dp-spider"}


def samplings(kind):
    """The names of the parameters of a plan that say how batches are drawn."""
    return [name for name in inspect.signature(kind.calibrated).parameters if name.endswith("sampling")]


@pytest.mark.seconds
def test_every_plan_for_a_sampling_has_an_example():
    kinds = {name: kind for name in algorithms.__all__ if hasattr(kind := getattr(algorithms, name), "calibrated")}
    assert {name for name, kind in kinds.items() if samplings(kind)} == set(PLANNED_FOR_A_SAMPLING)


@pytest.mark.parametrize("name", PLANNED_FOR_A_SAMPLING.values())
def test_a_plan_refuses_what_is_no_sampling_by_name(name):
    algorithm, problem = made(name)
    more = {"optimiser": 0.1} if name == "training" else {}
    for parameter in samplings(type(algorithm)):
        for value in (3, "poisson", [Poisson("0.1")]):
            refused(f"^{parameter} must be a Batch", type(algorithm).calibrated, problem, **{parameter: value}, **more)


@every_oracle
def test_a_run_says_where_its_ledger_is_no_list_of_the_answers_that_were_given(name):
    algorithm, problem = made(name)
    given = []

    class Heard:
        def answer(self, question, answer):
            given.append(question.kind)
            return answer()

    with watched_by(Heard()):
        run = algorithm.run(problem, seed=0, repetitions=1)
    if name in WITHOUT_NOISE or any(part.whole for part, _ in parts_of(run.ledger.mechanism())):
        return  # one entry for a draw of many steps, or for all steps with noises that depend on each other
    listed = sum(count * getattr(part, "batches", 1) for part, count in parts_of(run.ledger.mechanism()))
    if run.chosen:
        assert len(given) <= int(re.search("(?i)at most ([0-9]+)", run.chosen)[1])
    else:
        assert len(given) == listed


@pytest.mark.seconds
def test_whatever_can_be_run_has_an_example():
    """So that audits, checks and the tests above cover it: every concrete ``Method`` of the package."""
    modules = [import_module(module.name) for module in walk_packages(algorithms.__path__, "dpbounds.algorithms.")]
    kinds = {kind for module in modules for _, kind in inspect.getmembers(module, inspect.isclass)}
    methods = {kind for kind in kinds if issubclass(kind, frame.Method) and not inspect.isabstract(kind)}
    run = {kind for name in EVERY for kind in type(made(name)[0]).__mro__}  # with what they are made of
    assert len(methods) > 20
    assert methods - run == set()
    assert {one.name for one in all_examples() if one.printed} == {*EVERY} - {*SOUND}


def test_an_unknown_name_is_refused_with_what_it_may_mean():
    with pytest.raises(InvalidValue, match=r"`dpbounds run --list` lists, .*dp-sgd"):
        example("dpsgd")
