"""Runs of which the last iterate may be published alone: watched, and certified by their ledgers in both readings."""

import dataclasses
import json
from fractions import Fraction

import attrs
import numpy as np
import pytest

import dpbounds as dp
from dpbounds.algorithms.descents.langevin_dynamics import LangevinDynamics
from dpbounds.algorithms.descents.stochastic_gradient_descent import StochasticGradientDescent
from dpbounds.algorithms.ledger import DescribedRelease, Ledger, PlainDescent, PrivacyBudget, Release
from dpbounds.algorithms.method import Outcome
from dpbounds.algorithms.oracles import Poisson
from dpbounds.algorithms.problems import Clipped
from dpbounds.algorithms.problems.sets import L2Ball
from dpbounds.algorithms.sampling import Bins, Cyclic, Shuffle, Truncated
from dpbounds.algorithms.verification.attacks.experiments import audit_algorithm
from dpbounds.algorithms.verification.studies.stochastic import realisable
from dpbounds.errors import BudgetExceeded, InvalidValue, UnsupportedMechanism
from dpbounds.privacy.mechanisms import Gaussian, LastIterate
from tests.algorithms.shared import smooth

PROBLEM = realisable(60, 2)
SCHEMES = {"shuffled": Shuffle(10), "fixed": Cyclic(10), "secret": Cyclic(10, "secret"), "full": None}
SMALL_STEPS = {"steps": 40, "distance": "1/100"}  # η is in proportion to the distance


def same_but_for_rounded_noise(drawn, planned):
    """What a run drew has its noise rounded up to a double."""
    more = drawn.mechanism.noise_multiplier / planned.mechanism.noise_multiplier
    return 1 <= more < 1 + 1e-12 and dataclasses.replace(planned, mechanism=drawn.mechanism) == drawn


@pytest.mark.seconds_cases("replace-one-shuffled", "zero-out-one-shuffled")
@pytest.mark.parametrize("name", SCHEMES)
@pytest.mark.parametrize("relation", ["replace-one", "zero-out-one"])
def test_a_ledger_certifies_every_iterate_and_the_last_one(name, relation):
    scheme = SCHEMES[name]
    method = StochasticGradientDescent(4, sampling=scheme, output="last", **SMALL_STEPS)
    run = method.run(PROBLEM, seed=1, repetitions=2)
    eta, beta = run.step_size, PROBLEM.smoothness
    alone = run.ledger.last_iterate()
    assert same_but_for_rounded_noise(alone, method.last_iterate(PROBLEM))
    order = {"shuffled": "shuffled", "secret": "secret"}.get(name, "fixed")
    bins = 1 if scheme is None else 10
    assert (alone.batches, alone.epochs, alone.order) == (bins, 40 // bins, order)
    assert alone.smoothness_step >= Fraction(eta) * Fraction(str(beta.evalf(40)))
    assert float(alone.smoothness_step) == pytest.approx(eta * float(beta), rel=1e-12)
    assert float(alone.mechanism.noise_multiplier) == pytest.approx(4, rel=1e-12)
    last = run.ledger.spent("1e-5", relation, "last-iterate")
    assert last == dp.epsilon(alone, "1e-5", relation)
    every = dp.epsilon(dp.shuffled_epochs(4, 4 if scheme else 40), "1e-5", relation)
    if scheme is not None:
        assert last.upper < 0.75 * every.upper
        if name != "shuffled":
            assert run.ledger.spent("1e-5", relation).upper == pytest.approx(every.upper, rel=1e-9)
    again = Ledger.from_json(run.ledger.to_json())
    assert again == run.ledger
    assert again.last_iterate() == alone


@pytest.mark.seconds
def test_a_long_langevin_run_says_both():
    problem = smooth(n=1000, p=3)
    langevin = LangevinDynamics(100, 2000, inverse_temperature=20_000, regulariser=4)
    run = langevin.run(problem, seed=1, repetitions=1)
    assert same_but_for_rounded_noise(run.ledger.last_iterate(), langevin.last_iterate(problem))
    assert run.ledger.spent("1e-6", release="last-iterate").upper < run.ledger.spent("1e-6").lower / 4
    assert LangevinDynamics(100, 20, inverse_temperature=20_000, output="random").run(problem).ledger.descent is None


@pytest.mark.seconds
def test_noise_is_calibrated_for_what_is_published():
    budget = PrivacyBudget.of(1, "1e-5")
    given = {"sampling": Cyclic(10), "output": "last", **SMALL_STEPS}
    every, last = (
        StochasticGradientDescent.calibrated(PROBLEM, 1, "1e-5", release=release, **given)
        for release in ("every-iterate", "last-iterate")
    )
    assert last.noise_multiplier < 0.75 * every.noise_multiplier
    run = last.run(PROBLEM, seed=1, repetitions=2)
    assert run.spent.exact_upper <= 1
    assert run.spent.upper > 0.999
    assert "not to be published" in str(run)
    assert run.ledger.check(budget, "last-iterate") == run.spent
    with pytest.raises(BudgetExceeded):
        run.ledger.check(budget)  # all iterates together spend more
    assert "not to be published" not in str(every.run(PROBLEM, seed=1, repetitions=2))
    problem = smooth(n=1000, p=3)
    options = {"steps": 2000, "inverse_temperature": 20_000, "regulariser": 4}
    short, long = (
        LangevinDynamics.calibrated(problem, 1, "1e-6", release=release, **options)
        for release in ("every-iterate", "last-iterate")
    )
    assert long.noise_multiplier < short.noise_multiplier / 3
    assert long.run(problem, seed=1, repetitions=1).spent.exact_upper <= 1
    with pytest.raises(InvalidValue, match="steps"):
        LangevinDynamics.calibrated(problem, 1, "1e-6", release="last-iterate", inverse_temperature=20_000)


# --- planted bugs -----------------------------------------------------------------------------------------------------


def with_walk(walk):
    kind = type("Other", (StochasticGradientDescent,), {"walk": walk})
    return kind(4, sampling=Cyclic(10), output="last", **SMALL_STEPS)


def walking(bug, self, problem, run):
    ball = L2Ball(problem.dimension, self.distance)
    eta, gradient, first = (
        self.step_size_for(problem),
        run.batch_gradients(self.sampling, Fraction(4)),
        problem.initial_point,
    )
    w, mean, velocity, points = run.repeated(first), 0.0, 0.0, []
    for t in range(40):
        g = gradient(w).noisy
        velocity = 0.5 * velocity + g
        step = velocity if bug == "momentum" else g / (1 + np.abs(g).mean()) if bug == "adaptive steps" else g
        points.append(w)
        mean = mean + w / 40
        before, w = w, first + ball.project(w - eta * step - first)
        if bug == "no projection":
            w = before - 100 * eta * step
        if bug == "an extra gradient":
            gradient(before)
        if bug == "stopped early" and t == 29:
            break
    output = {"averaged": mean, "a random iterate": points[17], "the best": points[-1]}.get(bug, w)
    outputs = {"iterates": np.stack(points, axis=1)} if bug == "all iterates published" else {}
    risk = run.exact(w)[0]
    return Outcome(output, outputs=outputs, measured={"risk": risk}, metric="risk", parameters={"step_size": eta})


BUGS = [
    *("momentum", "adaptive steps", "no projection", "an extra gradient", "averaged", "a random iterate", "the best"),
    *("all iterates published", "stopped early"),
]


@pytest.mark.parametrize("bug", BUGS)
def test_what_is_no_plain_descent_is_found_in_the_run(bug):
    assert with_walk(lambda *given: walking("", *given)).run(PROBLEM, seed=1, repetitions=2).ledger.descent is not None
    refused = r"in the plan" if bug == "stopped early" else r"not plain noisy gradient descent"
    with pytest.raises((BudgetExceeded, UnsupportedMechanism), match=refused):
        with_walk(lambda *given: walking(bug, *given)).run(PROBLEM, seed=1, repetitions=2)


# --- what is refused --------------------------------------------------------------------------------------------------


PLAIN = PlainDescent(Fraction(1, 100))
EPOCHS = DescribedRelease(dp.Shuffled(Gaussian(4), 10), 3)
STEPS = Release(Fraction(4), Fraction(1), count=12)


@pytest.mark.parametrize(
    "ledger",
    [
        Ledger((EPOCHS,)),
        Ledger((EPOCHS, STEPS), descent=PLAIN),
        Ledger((EPOCHS, DescribedRelease(dp.Shuffled(Gaussian(5), 10), 3)), descent=PLAIN),
        Ledger((STEPS, Release(Fraction(5), Fraction(1))), descent=PLAIN),
        Ledger((Release(Fraction(4), Fraction(1), Fraction(1, 10), 12),), descent=PLAIN),
        Ledger((DescribedRelease(dp.Shuffled(Gaussian(4), 10, "1/100"), 3),), descent=PLAIN),
        Ledger((DescribedRelease(dp.BallsInBins(Gaussian(4), 10, 3, redraw=True)),), descent=PLAIN),
        Ledger((DescribedRelease(Cyclic(10).visited(Gaussian(4), 15)),), descent=PLAIN),
        Ledger((DescribedRelease(dp.MatrixMechanism(4, [[1], [1, 1]], "fixed-order", separation=1)),), descent=PLAIN),
        Ledger((STEPS,), adaptive=True, descent=PLAIN),
        Ledger(descent=PLAIN),
    ],
    ids=range(11),
)
def test_ledgers_without_that_reading_refuse_it(ledger):
    with pytest.raises(UnsupportedMechanism):
        ledger.last_iterate()


@pytest.mark.parametrize("order", ["fixed", "secret"])
def test_batches_that_are_not_by_position_have_no_reading_of_the_last_iterate(order):
    """A last iterate is accounted for if content does not say in which batch a record is."""
    descent = PlainDescent(Fraction(1, 100), order=order)
    by_position = Cyclic(10).visited(Gaussian(4), 20)
    assert Ledger((DescribedRelease(by_position),), descent=descent).last_iterate().order == order
    for groups in ("content", "independent"):
        other = dp.MatrixMechanism(4, by_position.matrix, "fixed-order", separation=10, groups=groups)
        ledger = Ledger.from_json(Ledger((DescribedRelease(other),), descent=descent).to_json())
        with pytest.raises(UnsupportedMechanism, match="by the records' positions"):
            ledger.spent("1e-5", release="last-iterate")


def test_both_readings_come_from_the_same_entries():
    assert Ledger((STEPS,), descent=PLAIN).last_iterate() == LastIterate(
        Gaussian(4), batches=1, epochs=12, smoothness_step="1/100"
    )
    two = Ledger((DescribedRelease(Cyclic(10).visited(Gaussian(4), 20)),), descent=attrs.evolve(PLAIN, order="secret"))
    assert (two.last_iterate().order, two.last_iterate().epochs) == ("secret", 2)
    document = json.loads(two.to_json())
    assert document["descent"] == {"smoothness_step": "1/100", "weight_decay_step": "0", "order": "secret"}
    for wrong in (
        *({**document["descent"], "momentum": "0"}, {"smoothness_step": "1/100"}, None, [], "fixed"),
        *({**document["descent"], "order": order} for order in ("shuffled", None, [])),
        *({**document["descent"], "smoothness_step": step} for step in ("0", "-1", None, [1])),
        {**document["descent"], "weight_decay_step": "2"},
    ):
        with pytest.raises(InvalidValue):
            Ledger.from_json(json.dumps({**document, "descent": wrong}))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"output": "random"}, "output must be last"),
        ({"noise": "secure"}, "noise must be gaussian"),
        ({"sampling": Poisson("1/10")}, "a Shuffle, a Cyclic or None"),
        ({"sampling": Truncated("1/10", 9, 60)}, "a Shuffle, a Cyclic or None"),
        ({"sampling": Bins(10)}, "a Shuffle, a Cyclic or None"),
        ({"steps": 41}, "whole epochs"),
    ],
)
def test_what_last_iterates_are_not_known_of_is_refused(change, said):
    given = {"noise_multiplier": 4, "sampling": Cyclic(10), "output": "last", **SMALL_STEPS, **change}
    with pytest.raises(InvalidValue, match=said):
        StochasticGradientDescent(**given).last_iterate(PROBLEM)
    with pytest.raises(InvalidValue, match=said):
        StochasticGradientDescent(**given, release="last-iterate").run(PROBLEM, seed=1, repetitions=1)


class Steep:
    """A loss with a kink, of which nothing is declared."""

    records, dimension, initial_point = 60, 2, np.zeros(2)

    def record_gradients(self, x, rows):
        return np.sign(PROBLEM.features[rows] @ x - 1)[:, None] * PROBLEM.features[rows]


def test_the_smoothness_is_that_of_the_problem_clipped_or_not():
    """Clipping is a projection: it moves no two gradients apart. Where no smoothness is declared, nothing is read."""
    method = StochasticGradientDescent(4, sampling=Cyclic(10), output="last", **SMALL_STEPS)
    half = Clipped(PROBLEM, "1/3")
    ratio = method.last_iterate(half).smoothness_step / Fraction(method.step_size_for(half))
    assert ratio == method.last_iterate(PROBLEM).smoothness_step / Fraction(method.step_size_for(PROBLEM))
    x, y = np.random.default_rng(0).normal(size=(2, 200, 2))
    rows = np.arange(200)[:, None] % 60
    apart = np.linalg.norm(half.batch_gradient(x, rows) - half.batch_gradient(y, rows), axis=1)
    assert (apart <= float(ratio) * np.linalg.norm(x - y, axis=1)).all()
    kinked = Clipped(Steep(), 1)
    with pytest.raises(InvalidValue, match="smoothness"):
        method.last_iterate(kinked)
    assert method.run(kinked, seed=1, repetitions=1).ledger.descent is None
    with pytest.raises(InvalidValue, match="smoothness"):
        attrs.evolve(method, release="last-iterate").run(kinked, seed=1, repetitions=1)


@pytest.mark.seconds
def test_an_attack_on_the_last_iterate_stays_below_what_it_spends():
    """Two participations in four steps at z = 1/2, by the canaries of audits: the attack sees the output alone."""
    given = {"sampling": Cyclic(2), "output": "last", "steps": 4, "distance": "1/100"}
    loud = StochasticGradientDescent("1/2", release="last-iterate", **given)
    found = audit_algorithm("last", loud, PROBLEM, PrivacyBudget.of(30, "1e-2"), runs=4000, seed=3)
    upper = dp.epsilon(loud.last_iterate(PROBLEM), "1e-2", "replace-one").upper
    assert found.certified == upper < dp.epsilon(dp.shuffled_epochs("1/2", 2), "1e-2", "replace-one").upper
    assert 1 < found.audit.epsilon < upper
