"""Ladders: from what was measured to the bound, without a gap, and a planted error is where it was planted."""

import inspect
import math
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import attrs
import numpy as np
import pytest
import sympy
from scipy import optimize, stats

import dpbounds.algorithms as public
from dpbounds.algorithms import GradientDescent, PerturbedGradientDescent, ProjectedGradientDescent, Spider, explain
from dpbounds.algorithms.estimators.clipped_descent import ClippedDescent
from dpbounds.algorithms.ledger import PrivacyBudget
from dpbounds.algorithms.problems.landscapes import landscape
from dpbounds.algorithms.verification import Verdict
from dpbounds.algorithms.verification.catalogue import all_examples, example
from dpbounds.algorithms.verification.judging import ground
from dpbounds.algorithms.verification.ladders import Due, derivations
from dpbounds.algorithms.verification.ladders.lines import Rung, constant, jackknifed, lines
from dpbounds.expressions.enclosure import Enclosure
from tests.algorithms.shared import BOWL, refused, smooth


def has_ladder(kind):
    return derivations.ladder.dispatch(kind) is not derivations.ladder.dispatch(object)


def methods():
    kinds = [ClippedDescent, *(getattr(public, name) for name in public.__all__)]
    return [kind for kind in kinds if inspect.isclass(kind) and hasattr(kind, "run") and hasattr(kind, "planned")]


def mappings(algorithm):
    """What its bound is about: of projected and mirror descent there are two."""
    return ("noisy", "exact") if "mapping" in inspect.signature(algorithm.bound).parameters else ("noisy",)


def ladders(name, repetitions):
    """An example that has a ladder: algorithm, problem, run, and each mapping with its bound."""
    algorithm, problem = example(name).calibrated(PrivacyBudget.of(1, "1e-5"))
    run = algorithm.run(problem, seed=3, repetitions=repetitions)
    for mapping in mappings(algorithm):
        bound = algorithm.bound(problem, mapping) if mapping == "exact" else algorithm.bound(problem)
        yield algorithm, problem, run, mapping, bound


# an example of every ladder, and the others
FIRST = (
    *(
        "dp-pgd",
        "dp-pmd-l1",
        "dp-gd-zhang",
        "dp-gd-wang-ye-xu",
        "dp-gd",
        "dp-gd-weighted",
        "prgd",
        "dp-sgd",
        "dp-gld",
        "dp-spider",
    ),
    *("restarted-dp-spider", "warm-spider", "dp-storm", "tree-spider-population", "dp-fw-l2", "dp-fw-l1"),
    "net-exponential-mechanism",
)
MORE = (
    *("dp-pmd-l2", "dp-pmd-simplex", "dp-gd-zhang-as-quoted", "dp-gd-wang-ye-xu-as-quoted"),
    *("prgd-as-printed", "dp-sgd-poisson", "dp-gld-as-printed", "sgd-warm-spider", "dp-fw-l2-as-printed"),
    *("dp-fw-l1-as-printed", "net-exponential-mechanism-as-printed", "net-exponential-mechanism-as-quoted"),
)
# as printed, of dependent batches and of the last iterate there is no bound
WITHOUT = ("dp-sgd-as-printed", "dp-spider-as-printed", "dp-sgd-shuffled", "dp-sgd-last-iterate")


@pytest.mark.minutes
def test_no_ladder_is_forgotten():
    budget = PrivacyBudget.of(1, "1e-5")
    found = {one.name: type(one.calibrated(budget)[0]) for one in all_examples()}
    assert {name for name, kind in found.items() if has_ladder(kind)} == {*FIRST, *MORE, *WITHOUT}
    assert {found[name] for name in FIRST} >= {found[name] for name in MORE}


def test_every_algorithm_has_a_ladder_or_a_reason():
    kinds = {kind.__name__: kind for kind in methods()}
    assert set(derivations.REASONS) <= set(kinds)
    for name, kind in kinds.items():
        assert has_ladder(kind) != (name in derivations.REASONS), name
    algorithm, problem = example("above-threshold").calibrated(PrivacyBudget.of(1, "1e-5"))
    refused("holds with a probability", explain, algorithm, problem, None)


@pytest.mark.seconds_cases("tree-spider-population")
@pytest.mark.parametrize("name", [*FIRST, *(pytest.param(name, marks=pytest.mark.minutes) for name in MORE)])
def test_it_leads_from_what_was_measured_to_the_bound_without_a_gap(name):
    for algorithm, problem, run, mapping, bound in ladders(name, 16):
        found = explain(algorithm, problem, run, mapping=mapping)
        samples = run.trace.exact.per_repetition if mapping == "exact" else run.samples
        assert found.measured + found.subtracted == pytest.approx(samples.mean(), rel=1e-12)
        assert found.lines[-1].right == bound.upper == found.bound.upper
        assert all(one.right == other.left for one, other in pairwise(found.lines))
        assert not found.broken
        # so few repetitions leave lines open, but only those with a sampling error
        assert all(line.error > 0 for line in found.lines if line.verdict is not Verdict.HOLDS)
        assert math.prod(found.factors().values()) == pytest.approx(bound.upper / found.measured, rel=1e-9)
        cut = bound.method.startswith("trivial")
        assert found.lines[-1].due is (Due.TRIVIAL if cut else Due.FORMULA)
        assert found.lines[-1].factor < 1 if cut else found.lines[-1].factor == pytest.approx(1, rel=1e-9)
        if found.curvature is not None:
            assert 0 < found.curvature[0] <= found.curvature[1]


@pytest.mark.parametrize("wrong", [Fraction(99, 100), Fraction(101, 100)], ids=float)
def test_a_wrong_constant_of_a_bound_breaks_the_last_line(wrong, monkeypatch):
    for algorithm, problem, run, mapping, right in ladders("dp-pgd", 2):
        planted = Enclosure.exactly(right.exact_upper * wrong)
        monkeypatch.setattr(ProjectedGradientDescent, "bound", lambda *_, planted=planted: planted)
        last = explain(algorithm, problem, run, mapping=mapping).lines[-1]
        monkeypatch.undo()
        assert (last.verdict, last.due) == (Verdict.FAILS, Due.FORMULA)


class Understated:
    """A problem one of whose public constants is a fraction of the truth; all else is the problem's."""

    def __init__(self, problem, name, factor):
        self._problem, self._name, self._factor = problem, name, sympy.Rational(factor)

    def __getattr__(self, name):
        value = getattr(self._problem, name)
        return value * self._factor if name == self._name else value


def broken(algorithm, problem, run):
    return {line.due for line in explain(algorithm, problem, run).broken}


def test_a_planted_error_is_where_it_was_planted():
    problem, budget = smooth(), (1, "1e-5")
    descent = GradientDescent.calibrated(problem, *budget, steps=15)
    run = descent.run(problem, seed=1, repetitions=16)
    assert broken(descent, problem, run) == set()
    # a curvature that is less than the records have: the step size stays, as a run is explained at its own
    flat = Understated(problem, "smoothness", Fraction(1, 50))
    assert broken(attrs.evolve(descent, step_size=run.step_size), flat, run) == {Due.CURVATURE}
    # a start that is said to be lower than it is
    low = Understated(problem, "initial_gap", Fraction(1, 10))
    assert broken(descent, low, run) == {Due.START}
    # noise that was not drawn as planned: half, and twice, as much
    for factor in (Fraction(1, 2), 2):
        other = attrs.evolve(descent, noise_multiplier=factor * descent.noise_multiplier, budget=None)
        assert broken(descent, problem, other.run(problem, seed=1, repetitions=16)) == {Due.NOISE}
    # gradients that are longer than they are said to be
    single = PerturbedGradientDescent(1, problem.records, problem.dimension, 40)
    steep = Understated(problem, "lipschitz", Fraction(1, 4))
    run = single.run(problem, seed=1, repetitions=16)
    assert Due.GRADIENTS in broken(attrs.evolve(single, step_size=run.step_size), steep, run)


def test_on_a_bowl_the_descent_lemma_loses_nothing_and_everything_is_known():
    problem = landscape(BOWL, 2000, [0.6, 0.3], 4)
    descent = GradientDescent.calibrated(problem, 1, "1e-5", steps=12, step_size=0.25)
    run = descent.run(problem, seed=2, repetitions=64)
    found = explain(descent, problem, run)
    by = {line.due: line for line in found.lines}
    assert by[Due.STEP].factor == pytest.approx(1, rel=1e-9)
    assert by[Due.CURVATURE].factor == pytest.approx(1, rel=1e-9)
    assert by[Due.START].factor == pytest.approx(1, rel=1e-6)
    assert found.curvature == pytest.approx((1, 1))
    # F(w₁) is 0.225; the mean of F(w_13) is known: each step shrinks by 3/4 and adds noise
    variance = 2 * float(descent.noise_stddev(problem)) ** 2
    end = 0.225 * 0.75**24 + 0.25**2 * variance / 2 * (1 - 0.75**24) / (1 - 0.75**2)
    assert run.trace.last.mean == pytest.approx(end, rel=0.5)
    lost = (0.225 / (0.25 * 12) + variance / 8) / ((0.225 - run.trace.last.mean) / (0.25 * 12) + variance / 8)
    assert by[Due.DESCENT].factor == pytest.approx(lost, rel=1e-6)
    assert found.regime == {"η h T": pytest.approx(3)}


def test_the_ground_is_that_of_other_solvers(monkeypatch):
    problem = smooth(p=6)
    points = np.random.default_rng(0).standard_normal((4, 6))

    dense = ground.ground(problem, points, ground.plain_step)
    largest = max(np.linalg.eigvalsh(problem.hessian(x[None])[0])[-1] for x in (*points, dense.minimiser))
    assert dense.curvature == pytest.approx(largest)
    monkeypatch.setattr(ground, "_DENSE", 0)
    assert ground.ground(problem, points, ground.plain_step).curvature == pytest.approx(largest, rel=1e-3)
    assert ground.ground(problem, points, ground.plain_step, ridge=2.0).curvature > 2
    assert ground._largest_eigenvalue(problem, np.zeros(6)) == pytest.approx(0, abs=1e-6)  # a sigmoid has none there
    ridge = optimize.minimize(lambda x: float(problem.objective(x[None])[0]) + x @ x / 2, np.zeros(6), tol=1e-12)
    assert ground.ground(problem, points, ground.plain_step, ridge=1.0).lowest == pytest.approx(ridge.fun, abs=1e-8)


def test_a_line_is_judged_by_the_error_of_its_means():
    samples = np.random.default_rng(1).normal(1.0, 0.1, 50)
    ladder = (
        Rung(jackknifed(samples)),
        Rung(jackknifed(samples) + 1, "more", Due.NOISE),
        Rung(constant(1.9), "x", Due.SET),
    )
    more, less = lines(ladder, 0.99)
    assert more.error == pytest.approx(0, abs=1e-12)
    assert less.error == pytest.approx(samples.std(ddof=1) / math.sqrt(50))  # as of a mean
    assert (more.verdict, less.verdict) == (Verdict.HOLDS, Verdict.FAILS)
    square = Rung(jackknifed(samples) ** 2, "square", Due.NOISE, "=")
    near, far = (lines((Rung(constant(value)), square), 0.99)[0] for value in (samples.mean() ** 2 + 0.02, 1.5))
    assert near.error == pytest.approx(2 * samples.mean() * samples.std() / math.sqrt(50), rel=0.05)
    assert (near.verdict, far.verdict) == (Verdict.HOLDS, Verdict.FAILS)


@pytest.mark.parametrize("relation", ["<=", ">="])
def test_an_inequality_holds_where_the_interval_of_the_difference_does(relation):
    samples, sign = np.random.default_rng(1).normal(1.0, 0.1, 50), 1 if relation == "<=" else -1
    half = stats.t.ppf(0.995, 49) * stats.sem(samples)

    def verdict(step):
        last = Rung(constant(samples.mean() + sign * step), "last", Due.SET, relation)
        return lines((Rung(jackknifed(samples)), last), 0.99)[0].verdict

    found = [verdict(share * half) for share in (1.01, 0.99, -0.99, -1.01)]
    assert found == [Verdict.HOLDS, Verdict.COMPATIBLE, Verdict.COMPATIBLE, Verdict.FAILS]


def test_an_equality_holds_where_the_interval_is_narrow():
    def verdict(spread):
        samples = 1 + spread * np.array([-1.0, 1.0] * 25)
        return lines((Rung(constant(1.0)), Rung(jackknifed(samples), "equal", Due.NOISE, "=")), 0.99)[0].verdict

    assert [verdict(spread) for spread in (0.1, 0.3)] == [Verdict.HOLDS, Verdict.COMPATIBLE]


def test_the_descent_lemma_breaks_where_too_little_curvature_was_seen(monkeypatch):
    """The first line rests on Hessians that were looked at, and not on what the run itself did."""
    right = ground.ground
    monkeypatch.setattr(derivations, "ground", lambda *args: replace(right(*args), curvature=0.0))
    problem = smooth(n=2000)
    for algorithm in (GradientDescent, Spider):
        method = algorithm.calibrated(problem, 8, "1e-5", steps=15)
        first = explain(method, problem, method.run(problem, seed=1, repetitions=64)).broken[0]
        assert first.due is Due.STEP


def test_a_bound_that_is_cut_at_what_holds_anyway_is_no_broken_line(monkeypatch):
    problem = smooth()
    descent = GradientDescent.calibrated(problem, 1, "1e-5", steps=15)
    run, right = descent.run(problem, seed=1, repetitions=4), descent.bound(problem).upper
    for upper, verdict in ((right / 2, Verdict.HOLDS), (2 * right, Verdict.FAILS)):
        cut = replace(Enclosure.exactly(Fraction(upper)), method="trivial: no gradient is longer than G")
        monkeypatch.setattr(GradientDescent, "bound", lambda *_, cut=cut: cut)
        last = explain(descent, problem, run).lines[-1]
        assert (last.due, last.verdict) == (Due.TRIVIAL, verdict)
        assert last.claim == "less holds without a theorem: no gradient is longer than G"


def test_a_single_repetition_proves_nothing_wrong():
    problem = smooth()
    descent = GradientDescent.calibrated(problem, 1, "1e-5", steps=15)
    other = attrs.evolve(descent, noise_multiplier=2 * descent.noise_multiplier, budget=None)
    found = explain(descent, problem, other.run(problem, seed=1, repetitions=1))
    assert not found.broken
    assert {line.verdict for line in found.lines if math.isnan(line.error)} == {Verdict.UNDECIDED}
    refused("confidence", explain, descent, problem, descent.run(problem, seed=1, repetitions=2), confidence=1)
    assert replace(found.lines[0], left=0.0).factor != found.lines[0].factor
