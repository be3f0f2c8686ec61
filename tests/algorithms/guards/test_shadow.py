"""The shadow: walks that leak, each in a way of its own, and honest ones."""

from functools import partial

import attrs
import numpy as np
import pytest

from dpbounds.algorithms import ProjectedGradientDescent, method as frame
from dpbounds.algorithms.guards.blinded import MadeUp, blinded
from dpbounds.algorithms.guards.guarded import guarded
from dpbounds.algorithms.guards.shadow import DataLeaked, shadowed
from dpbounds.algorithms.ledger import PrivacyBudget
from dpbounds.algorithms.oracles import GradientOracle
from dpbounds.algorithms.selection.net_exponential_mechanism import NetExponentialMechanism
from dpbounds.algorithms.unreleased import opened
from dpbounds.algorithms.verification.catalogue import example
from dpbounds.errors import BudgetExceeded, InvalidValue
from tests.algorithms.shared import EVERY, minutes_unless, smooth

PROBLEM = smooth(60, 3)


@attrs.frozen
class Walk(ProjectedGradientDescent):
    """A descent that may do something else with what it learns at one of its steps."""

    leak: object = None

    def walk(self, problem, run):
        """Plain noisy gradient descent, by hand."""
        gradient, x = run.gradients(self.noise_multiplier), run.repeated(problem.initial_point)
        for k in run.steps(self.steps):
            g = gradient(x)
            move = -0.1 * g.noisy
            if k == 3 and self.leak is not None:
                move = self.leak(problem, run, x, g, move)
            run.measure(noisy=((g.noisy - g.exact) ** 2).sum(axis=1))
            x = x + move
        return frame.Outcome(x, parameters={"step_size": 0.1})


def walked(leak=None, repetitions=2, **options):
    return shadowed(partial(Walk(2, 5, leak=leak).run, seed=1, repetitions=repetitions, **options), PROBLEM)


@pytest.mark.parametrize("seed", [1, None])
def test_an_honest_walk_is_the_same_with_a_shadow(seed):
    method = Walk(2, 5)
    made = method.run(PROBLEM, seed=seed, repetitions=2, guarded=True)
    assert made.seed == seed
    if seed is not None:
        plain = method.run(PROBLEM, seed=seed, repetitions=2)
        assert np.array_equal(made.output, plain.output)
        assert np.array_equal(made.trace.noisy.per_step, plain.trace.noisy.per_step)
    assert made.ledger.releases


LEAKS = {
    "by the records": lambda problem, run, x, g, move: move * (1 + np.abs(problem.signed_features).max()),
    "by one bit of them": lambda problem, run, x, g, move: move * (1 + (problem.signed_features[:, 0] > 0.2).sum()),
    "by the problem's gradient": lambda problem, run, x, g, move: -0.1 * problem.gradient(x),
    "by its objective": lambda problem, run, x, g, move: move if problem.objective(x)[0] > 0.45 else 2 * move,
    "by its Hessian": lambda problem, run, x, g, move: move * np.linalg.norm(problem.hessian(x)),
    "by an open one, tiny": lambda problem, run, x, g, move: np.nextafter(move, opened(g.exact)),
    "by a batch": lambda problem, run, x, g, move: move - problem.batch_gradient(x, np.zeros((2, 1), dtype=int)),
    "by a copy with other records": lambda problem, run, x, g, move: (
        move * attrs.evolve(Walk(2, 1), step_size=float(np.abs(problem.signed_features).mean())).step_size
    ),
    "by more random numbers": lambda problem, run, x, g, move: (
        move + run.generators[0].standard_normal(int(1000 * abs(problem.signed_features[0, 0]))).sum()
    ),
    "by an error": lambda problem, run, x, g, move: (
        move if np.allclose(problem.gradient(x), opened(g.exact)) else 1 / 0
    ),
}


@pytest.mark.parametrize("leak", LEAKS.values(), ids=list(LEAKS))
def test_a_leak_shows_at_the_next_question(leak):
    with pytest.raises(DataLeaked, match=r"leaked past the ledger, at step 4: the shadow"):
        walked(leak)


def test_leaks_in_the_last_step_show_in_what_is_returned():
    def last(problem, run, x, g, move):
        return move * (1 + problem.signed_features[0, 0])

    with pytest.raises(DataLeaked, match=r"in what was returned, after step 3: output differs"):
        shadowed(partial(Walk(2, 3, leak=last).run, seed=1, repetitions=2), PROBLEM)


def test_one_question_more_or_less_shows():
    def more(problem, run, x, g, move):
        if problem.signed_features[0, 0] == PROBLEM.signed_features[0, 0]:
            run.gradients(2)(x)
        return move

    def less(problem, run, x, g, move):
        if problem.signed_features[0, 0] != PROBLEM.signed_features[0, 0]:
            run.gradients(2)(x)
        return move

    def other(problem, run, x, g, move):
        same = problem.signed_features[0, 0] == PROBLEM.signed_features[0, 0]
        run.gradients(2 if same else 3)(x)
        return move

    for leak in (more, less, other):
        with pytest.raises(DataLeaked, match=r"at step [45]: the shadow"):
            shadowed(partial(Walk(2, 3, leak=leak).run, seed=1, repetitions=1), PROBLEM)


def test_an_exact_value_stops_the_run_itself():
    for leak in (
        lambda problem, run, x, g, move: -0.1 * g.exact,
        lambda problem, run, x, g, move: move + run.exact(x)[1],
        lambda problem, run, x, g, move: move if g.objective[0] < 1 else 0 * move,
    ):
        with pytest.raises(BudgetExceeded, match="an exact value of the records was"):
            Walk(2, 5, leak=leak).run(PROBLEM)


def test_an_oracle_of_ones_own_is_heard_too():
    def hidden(problem, run, x, g, move):
        spare = GradientOracle(problem, 2, run.generators, type(run.ledger)())(x)
        return move - 0.1 * spare.noisy

    with pytest.raises(BudgetExceeded, match="another ledger than the run's"):
        Walk(2, 5, leak=hidden).run(PROBLEM)


def test_the_runs_own_error_is_the_one_that_is_raised():
    def broken(problem, run, x, g, move):
        raise InvalidValue("x", 1, "another")

    with pytest.raises(InvalidValue, match="another"):
        walked(broken)


def test_a_blinded_problem_keeps_what_is_public_and_nothing_else():
    blind = blinded(PROBLEM, MadeUp())
    assert isinstance(blind, type(PROBLEM))
    for name in ("records", "dimension", "lipschitz", "smoothness", "initial_gap", "loss_range", "feature_bound"):
        assert getattr(blind, name) == getattr(PROBLEM, name), name
    assert np.array_equal(blind.initial_point, PROBLEM.initial_point)
    ours, theirs = PROBLEM.signed_features, blind.signed_features
    assert ours.shape == theirs.shape
    assert not np.isin(ours, theirs).any()
    assert np.linalg.norm(theirs, axis=1).max() <= float(PROBLEM.feature_bound)
    again = attrs.evolve(blind) if attrs.has(type(blind)) else blind
    assert not np.array_equal(again.gradient(np.zeros((1, 3))), PROBLEM.gradient(np.zeros((1, 3))))


@pytest.mark.seconds
def test_a_walk_that_waits_for_the_records_ends():
    def waits(problem, run, x, g, move):
        while problem.objective(x)[0] > 0.9:  # made-up numbers are below
            pass
        while problem.objective(x)[0] < 0.46:
            x = x + 1
        while problem.signed_features[0, 0] != PROBLEM.signed_features[0, 0]:
            problem.objective(x)
        return move

    with pytest.raises(DataLeaked, match="questions about the records"):
        walked(waits)


# One of each kind of oracle and choice; `dp-sgd-shuffled` and `iterative-path-noise` take long.
GUARDED = ("dp-pgd", "dp-sgd-poisson", "dp-spider", "dp-ftrl", "path-noise", "dp-gd-sosp", "training-quantile")
GUARDED += ("net-exponential-mechanism", "above-threshold", "prgd")


@pytest.mark.parametrize("name", [minutes_unless(name, *GUARDED) for name in EVERY])
def test_every_example_passes_all_guards_and_is_the_same_run(name):
    algorithm, problem = example(name).calibrated(PrivacyBudget.of(1, "1e-5"))
    plain = algorithm.run(problem, seed=3, repetitions=4)
    watched = algorithm.run(problem, seed=3, repetitions=4, guarded=True)
    assert np.array_equal(plain.output, watched.output, equal_nan=True)
    assert plain.ledger == watched.ledger
    assert {name: series.mean for name, series in plain.trace.items()} == {
        name: series.mean for name, series in watched.trace.items()
    }


def test_any_algorithm_with_a_run_can_be_guarded():
    class Foreign:
        """Not a ``Method``: nothing but an oracle and a loop."""

        def run(self, problem, seed, repetitions):
            return Walk(2, 3).run(problem, seed, repetitions)

    assert guarded(partial(Foreign().run, seed=1, repetitions=2), PROBLEM).repetitions == 2


def test_a_leak_between_two_runs_of_a_composed_algorithm_shows(monkeypatch):
    algorithm, problem = example("population-warm-start").calibrated(PrivacyBudget.of(1, "1e-5"))
    real = NetExponentialMechanism.starts

    def leaky(self, problem, generators, ledger):
        return real(self, problem, generators, ledger) + 1e-9 * problem.features[0, 0]

    monkeypatch.setattr(NetExponentialMechanism, "starts", leaky)
    algorithm.run(problem, seed=3, repetitions=2)  # alone, it goes unnoticed
    with pytest.raises(DataLeaked, match="at step 2"):
        algorithm.run(problem, seed=3, repetitions=2, guarded=True)
