"""Clipped gradients: no record moves a mean by more than the public bound allows, whatever its gradient is."""

import copy
import math
from fractions import Fraction

import numpy as np
import pytest
import sympy

from dpbounds.algorithms import StochasticGradientDescent, problems
from dpbounds.algorithms.ledger import DescribedRelease, OpenLedger, PrivacyBudget
from dpbounds.algorithms.noise import streams
from dpbounds.algorithms.oracles import (
    BatchGradientOracle,
    CorrelatedGradientOracle,
    GradientOracle,
    VisitGradientOracle,
)
from dpbounds.algorithms.problems import Clipped
from dpbounds.algorithms.problems.finite_sum import record_gradients
from dpbounds.algorithms.sampling import Batch, Correlated, Poisson, Shuffle
from dpbounds.algorithms.second_order.gradient_descent import GradientDescent
from dpbounds.algorithms.verification.catalogue import example
from dpbounds.errors import InvalidValue, NotCertified, UnsupportedMechanism
from dpbounds.privacy.mechanisms.schemes.encoders import Toeplitz
from tests.algorithms.problems.test_every_problem import PROBLEMS, P, in_ball
from tests.algorithms.shared import SOUND, minutes_unless

RNG = np.random.default_rng(0)
EVERY = np.arange(40)


class Own:
    """As little as a problem of one's own may be: f(x, z) = ‖x - z‖^3, steeper than any constant."""

    dimension = 3

    def __init__(self, z):
        self.z = np.asarray(z)
        self.records = len(self.z)
        self.initial_point = np.zeros(3)

    def record_gradients(self, x, rows):
        away = x - self.z[rows]
        return 3 * np.linalg.norm(away, axis=1, keepdims=True) * away


def less_their_mean(found, rows):
    """What batch normalisation does."""
    return found - found.mean(axis=0)


def over_the_largest(found, rows):
    return found / np.abs(found).max()


def of_the_first_place(found, rows):
    """Class weights, say, that only one record of a batch has."""
    return np.where(np.arange(len(rows))[:, None] > 0, found, 2 * found)


def not_a_number_beside_others(found, rows):
    return np.where(len(rows) > 1, np.nan, found)


def zero_beside_others(found, rows):
    return found * (len(rows) == 1)


class Dependent(Own):
    """Gradients that depend on who else is in the batch."""

    def __init__(self, z, how, sound_questions=0):
        super().__init__(z)
        self.how, self.left = how, sound_questions

    def record_gradients(self, x, rows):
        found = super().record_gradients(x, rows)
        self.left -= len(rows) > 1
        return found if self.left >= 0 else self.how(found, rows)


def exact_square(row):
    return sum(Fraction(float(entry)) ** 2 for entry in row)


def test_every_record_of_every_problem_has_a_gradient_within_the_bound_exactly():
    clip = Fraction(1, 7)
    for name, make in PROBLEMS.items():
        problem = make()
        cut = Clipped(problem, clip)
        for x in in_ball(3):
            raw, clipped = record_gradients(problem, x, EVERY), cut.record_gradients(x, EVERY)
            assert max(map(exact_square, clipped)) <= clip**2
            lengths = np.linalg.norm(raw, axis=1, keepdims=True)
            assert clipped == pytest.approx(raw * np.minimum(1, float(clip) / np.maximum(lengths, 1e-300)), abs=1e-14)
            assert raw.mean(axis=0) == pytest.approx(problem.gradient(x[None])[0], abs=1e-13), name
            assert cut.gradient(x[None])[0] == pytest.approx(clipped.mean(axis=0), abs=1e-14)
            assert cut.batch_gradient(x[None], [[3, 3, 5]])[0] == pytest.approx(
                clipped[[3, 3, 5]].mean(axis=0), abs=1e-14
            )


def test_gradients_of_records_are_batches_of_one():
    for name, make in PROBLEMS.items():
        problem, x = make(), in_ball(1)[0]
        batched = problem.batch_gradient(np.tile(x, (40, 1)), EVERY[:, None])
        assert record_gradients(problem, x, EVERY) == pytest.approx(batched, abs=1e-15), name


def test_one_record_moves_a_mean_by_no_more_than_twice_the_bound():
    z = RNG.standard_normal((50, 3))
    for wild in (
        np.full(3, 1e150),
        np.array([np.nan, 0, 0]),
        np.array([np.inf, -np.inf, 0]),
        -z[0],
        np.full(3, 1e-200),
    ):
        other = z.copy()
        other[0] = wild
        for x in (np.zeros(3), np.array([1e120, -3.0, 2.0])):
            with np.errstate(all="ignore"):
                first, second = (Clipped(Own(each), "1/4").gradient(x[None])[0] for each in (z, other))
            assert np.isfinite(first).all()
            assert np.isfinite(second).all()
            assert np.linalg.norm(first - second) <= 2 * 0.25 / 50 * (1 + 1e-12)


@pytest.mark.parametrize(
    "how", [less_their_mean, over_the_largest, of_the_first_place, not_a_number_beside_others, zero_beside_others]
)
def test_a_gradient_that_depends_on_other_records_stops_the_run(how):
    z = RNG.standard_normal((50, 3))
    with pytest.raises(InvalidValue, match=r"for record \d+ alone and among \d+ records"):
        StochasticGradientDescent(1, 5, 0.1, Poisson("1/5")).run(Clipped(Dependent(z, how), 1), seed=0)


@pytest.mark.parametrize("how", [less_their_mean, zero_beside_others])
def test_a_gradient_that_depends_on_other_records_later_on_is_seen(how):
    dependent = Dependent(RNG.standard_normal((50, 3)), how, sound_questions=10)
    with pytest.raises(InvalidValue, match="alone and among"):
        GradientDescent(10, 100, step_size=0.1).run(Clipped(dependent, 1), seed=0)
    assert dependent.left >= -42  # no later than at question 51


def test_a_clipped_problem_is_copied_with_its_count_of_calls():
    cut = Clipped(Own(RNG.standard_normal((5, 3))), 1)
    cut.record_gradients(np.zeros(3), np.arange(5))
    again = copy.deepcopy(cut)
    assert (again.gradient(np.ones((1, 3))) == cut.gradient(np.ones((1, 3)))).all()


def test_rounding_that_differs_from_batch_to_batch_is_no_dependence():
    """Sums in single precision, in another order for another number of records, where most of the terms cancel."""
    wide = RNG.standard_normal((50, 4000)).astype(np.float32)
    wide -= wide.mean(axis=1, keepdims=True)

    class Rounded(Own):
        def record_gradients(self, x, rows):
            ones = np.ones((4000, 3), np.float32)
            return wide[rows] @ ones + np.float32(super().record_gradients(x, rows)) / 100

    cut = Clipped(Rounded(RNG.standard_normal((50, 3))), 1)
    for x in RNG.standard_normal((120, 3)):
        cut.record_gradients(x, np.arange(50))


def test_a_bound_that_is_never_reached_changes_nothing():
    problem = PROBLEMS["Cauchy"]()
    X = in_ball(5)
    assert Clipped(problem, 100).gradient(X) == pytest.approx(problem.gradient(X), abs=1e-15)
    assert np.isnan(Clipped(problem, 100).objective_and_gradient(X)[0]).all()


def test_a_problem_that_says_too_little_of_itself_keeps_its_budget_when_clipped():
    """The same records and a wrong constant: what is drawn is made for the bound that is enforced."""
    problem = problems.sigmoid_loss(RNG.standard_normal((200, P)), np.ones(200), l1=0)

    class Wrong:
        records, dimension, initial_point = 200, P, np.zeros(P)
        lipschitz = sympy.Rational(1, 1000)  # in truth 1/4
        record_gradients = staticmethod(problem.record_gradients)

    cut = Clipped(Wrong(), "1/8")
    for method in (
        StochasticGradientDescent.calibrated(cut, 1, "1e-5", distance=2, steps=20),
        GradientDescent(10, 20, step_size=0.5),
    ):
        run = method.run(cut, seed=1, repetitions=3)
        (release,) = run.ledger.releases
        assert release.per_record_bound == Fraction(1, 8 * 200)
        assert run.spent is None or run.spent.upper <= 1
        assert np.abs(run.output).max() > 0


# One of each oracle that takes clipped gradients: all records, a batch, a Poisson sample, shuffled batches, correlated
# noise; and one algorithm whose oracle refuses them.
CLIPPED = ("dp-gld", "dp-sgd", "dp-sgd-poisson", "dp-sgd-shuffled", "dp-ftrl")


@pytest.mark.seconds_cases("dp-sgd-shuffled")
@pytest.mark.parametrize("name", [minutes_unless(name, *CLIPPED, "dp-spider") for name in SOUND])
def test_clipped_gradients_keep_the_budget_or_are_refused(name):
    """A run keeps its plan and its budget, with noise for the bound that is enforced, and promises no utility."""
    one = example(name)
    algorithm, problem = one.calibrated(PrivacyBudget.of(1, "1e-5"))
    cut = Clipped(problem, "1/20")
    try:
        run = algorithm.run(cut, seed=1, repetitions=2)
    except (InvalidValue, UnsupportedMechanism, NotCertified):  # the last: steps are longer, which a last iterate pays
        assert name not in CLIPPED
    else:
        run.ledger.check_plan(algorithm.planned)
        assert run.spent.upper <= 1
        for release in run.ledger.releases:
            if isinstance(release, DescribedRelease):  # the entry has noise per unit of the bound
                assert name.startswith(("dp-ftrl", "dp-sgd-shuffled"))
            else:
                bound = release.per_record_bound * problem.records * (release.sample_rate or 1)
                assert bound == Fraction(1, 20) or (name == "training-quantile" and bound > Fraction(1, 20))  # its own
    if hasattr(algorithm, "bound"):
        with pytest.raises(InvalidValue):
            algorithm.bound(cut)


@pytest.mark.parametrize(
    ("ask", "divisor"),
    [
        (lambda *rest: GradientOracle(*rest), 50),
        (lambda problem, *rest: BatchGradientOracle(problem, Batch(7, 50, False), *rest), 7),
        (lambda problem, *rest: BatchGradientOracle(problem, Poisson("1/5"), *rest), 10),
        (lambda problem, *rest: VisitGradientOracle(problem, Shuffle(5), *rest), 10),
        (lambda problem, *rest: CorrelatedGradientOracle(problem, Correlated(Toeplitz([1], 5), bins=5), *rest), 10),
    ],
    ids=["all", "batch", "poisson", "shuffled", "correlated"],
)
def test_noise_is_made_for_the_clipping_bound(ask, divisor):
    cut = Clipped(Own(RNG.standard_normal((50, 3))), "1/4")
    oracle = ask(cut, Fraction(3), streams(0, 1), OpenLedger())
    assert oracle.noise_stddev == pytest.approx(3 * 0.25 / divisor * (1 + 2.0**-50), rel=1e-9)


def test_bounds_with_given_constants_are_refused_too():
    cut = Clipped(Own(RNG.standard_normal((50, 3))), 1)
    with pytest.raises(InvalidValue, match="clipped"):
        StochasticGradientDescent(10, 20, 1).bound(cut, quasar_convexity=1)


@pytest.mark.parametrize("clip", [0, -1, math.nan, None, "much"])
def test_bounds_that_are_none_are_refused(clip):
    with pytest.raises(InvalidValue, match="clip must be"):
        Clipped(PROBLEMS["Cauchy"](), clip)


def test_gradients_of_another_shape_are_refused():
    own = Own(RNG.standard_normal((5, 3)))
    own.record_gradients = lambda x, rows: np.zeros(3)
    with pytest.raises(InvalidValue, match=r"record_gradients\.shape"):
        Clipped(own, 1).gradient(np.zeros((1, 3)))
