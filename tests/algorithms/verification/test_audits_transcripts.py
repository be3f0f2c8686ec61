"""Worst pairs and transcripts: as far apart as the constants allow; likelihoods by enumeration of all batches."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from dpbounds.algorithms import problems
from dpbounds.algorithms.descents.projected_gradient_descent import ProjectedGradientDescent
from dpbounds.algorithms.ledger import Batch, OpenLedger
from dpbounds.algorithms.noise import streams
from dpbounds.algorithms.oracles import (
    BatchGradientOracle,
    GradientDifferenceOracle,
    GradientOracle,
    HessianOracle,
    Poisson,
)
from dpbounds.algorithms.verification.attacks.neighbours import worst_pair
from dpbounds.algorithms.verification.attacks.transcripts import Witness, listening
from dpbounds.errors import InvalidValue

REPLACED, REMOVED = "replace-one", "add-or-remove-one"


def sigmoid(records=6, dimension=2):
    data = problems.wang_xu_design(records, dimension, seed=1, feature_bound=3)
    return problems.sigmoid_loss(data.features, data.labels, feature_bound=3)


def regression():
    data = problems.wang_xu_design(5, 3, seed=1, feature_bound=2)
    return problems.geman_mcclure(data.features, data.labels, feature_bound=2, target_bound=1)


def landscape():
    return problems.landscape(problems.WAVY, 6, [0.0, 0.0], radius=2, shift_bound="1/2")


# --- Pairs


@pytest.mark.parametrize(("problem", "part"), [(sigmoid(), 1), (regression(), 1), (landscape(), 0.7)])
@pytest.mark.parametrize(("relation", "factor"), [(REPLACED, 2), (REMOVED, 1)])
def test_gradients_are_as_far_apart_as_the_constants_allow(problem, part, relation, factor):
    pair = worst_pair(problem, relation)
    start = problem.initial_point[None]
    apart = np.linalg.norm(pair.second.gradient(start) - pair.first.gradient(start))
    allowed = factor * float(problem.lipschitz) / problem.records
    assert 0.999 * part * allowed < apart <= part * allowed * (1 + 1e-8)
    for public in ("records", "dimension", "lipschitz", "smoothness", "loss_range", "initial_gap"):
        assert getattr(pair.first, public) == getattr(pair.second, public) == getattr(problem, public)


@pytest.mark.parametrize("problem", [sigmoid(), regression(), landscape()])
def test_only_record_0_differs_and_the_others_are_alike(problem):
    pair = worst_pair(problem)
    x = np.random.default_rng(0).uniform(-0.5, 0.5, (4, problem.dimension))

    def gradients(side):
        return [side.batch_gradient(x, np.full((4, 1), record)) for record in range(problem.records)]

    first, second = gradients(pair.first), gradients(pair.second)
    assert not np.allclose(first[0], second[0])
    for one, other in zip(first[1:], second[1:], strict=True):
        assert np.array_equal(one, other)
        assert np.allclose(one, first[1], rtol=0, atol=1e-15)
    for each, side in ((first, pair.first), (second, pair.second)):
        assert np.allclose(np.mean(each, axis=0), side.gradient(x), atol=1e-14)
        assert max(np.linalg.norm(one, axis=1).max() for one in each) <= float(problem.lipschitz) * (1 + 1e-12)


@pytest.mark.parametrize("x", [[[0.02, -0.03]], [[0.3, -0.9]], [[-1.2, 0.8]]])
def test_a_pulled_landscape_has_the_derivatives_of_its_objective(x):
    side, x, h = worst_pair(landscape()).second, np.array(x), 1e-6
    slopes = [(side.objective(x + h * e) - side.objective(x - h * e))[0] / (2 * h) for e in np.eye(2)]
    assert np.allclose(side.gradient(x)[0], slopes, atol=1e-7)
    bends = [(side.gradient(x + h * e) - side.gradient(x - h * e))[0] / (2 * h) for e in np.eye(2)]
    assert np.allclose(side.hessian(x)[0], bends, atol=1e-6)
    own = side.records * (side.hessian(x) - worst_pair(landscape(), REMOVED).second.hessian(x))[0]
    assert np.abs(np.linalg.eigvalsh(own)).max() <= float(side.smoothness) * (1 + 1e-9)


def test_a_pulled_landscape_moves_differences_and_hessians_as_much_as_one_record_may():
    pair = worst_pair(landscape())
    x, y = np.array([[0.1, 0.2]]), np.array([[0.0, -0.1]])
    n, L = pair.first.records, float(pair.first.smoothness)
    moves = [side.gradient(x) - side.gradient(y) for side in (pair.first, pair.second)]
    assert np.linalg.norm(moves[0] - moves[1]) == pytest.approx(2 * L / n * np.linalg.norm(x - y))
    assert np.linalg.norm(pair.first.hessian(x) - pair.second.hessian(x)) == pytest.approx(2 * L / n * math.sqrt(2))


def test_pairs_that_are_not_known():
    with pytest.raises(InvalidValue, match="a Problem, a LinearModel or a Landscape"):
        worst_pair(object())


# --- Transcripts


def test_listening_changes_nothing_and_ends():
    algorithm, problem = ProjectedGradientDescent(3, 4), sigmoid()
    before = GradientOracle.__call__
    alone = algorithm.run(problem, seed=3, repetitions=5)
    heard = []
    with listening(heard.append):
        listened = algorithm.run(problem, seed=3, repetitions=5)
    assert np.array_equal(alone.output, listened.output)
    assert listened.ledger == alone.ledger
    assert len(heard) == 4
    assert np.array_equal(heard[0].exact(problem)[0], problem.gradient(problem.initial_point[None])[0])
    with pytest.raises(ZeroDivisionError), listening(heard.append):
        raise ZeroDivisionError
    assert GradientOracle.__call__ is before


def ratio_of(pair, oracle_of, *points, repetitions=3, seed=0):
    """The witness's ratio of one answer, and the answer."""
    witness, heard = Witness(pair), []

    def both(answer):
        heard.append(answer)
        witness.hear(answer)

    oracle = oracle_of(pair.first, streams(seed, repetitions), OpenLedger())
    with listening(both):
        oracle(*points)
    return witness.scores(repetitions)["likelihood ratio"], heard[0]


def gaussian_log(noisy, mean, stddev):
    return stats.norm.logpdf(noisy, mean, stddev).sum(axis=-1)


X = np.array([[0.0, 0.0], [0.2, -0.1], [-0.3, 0.4]])
Y = np.array([[0.1, 0.0], [0.2, -0.1], [0.0, 0.0]])


def test_the_ratio_of_a_full_batch_answer_and_of_a_hessian():
    pair = worst_pair(sigmoid())
    for oracle, exact in (
        (GradientOracle, lambda side: side.gradient(X)),
        (HessianOracle, lambda side: side.hessian(X)[:, [0, 0, 1], [0, 1, 1]]),
    ):
        ratio, answer = ratio_of(pair, lambda side, *rest, oracle=oracle: oracle(side, Fraction(2), *rest), X)
        sides = [gaussian_log(answer.noisy, exact(side), answer.amount[0]) for side in (pair.first, pair.second)]
        assert np.allclose(ratio, sides[1] - sides[0])
        if oracle is GradientOracle:
            assert answer.amount[0] == pytest.approx(2 * float(pair.first.lipschitz) / 6)


def test_the_ratio_of_a_difference_has_its_own_noise_per_repetition():
    pair = worst_pair(sigmoid())
    ratio, answer = ratio_of(pair, lambda *rest: GradientDifferenceOracle(rest[0], Fraction(2), *rest[1:]), X, Y)
    assert answer.amount[1] == 0  # the point did not move: nothing was said
    assert ratio[1] == 0
    for row in (0, 2):
        means = [side.gradient(X)[row] - side.gradient(Y)[row] for side in (pair.first, pair.second)]
        sides = [gaussian_log(answer.noisy[row], mean, answer.amount[row]) for mean in means]
        assert ratio[row] == pytest.approx(sides[1] - sides[0])


def test_answers_about_points_that_nearly_coincide_are_heard_and_tell_nothing():
    pair, witness = worst_pair(sigmoid()), Witness(worst_pair(sigmoid()))
    oracle = GradientDifferenceOracle(pair.first, Fraction(2), streams(0, 3), OpenLedger())
    with listening(witness.hear):
        oracle(X, X + np.array([[0, 0], [1e-16, 0], [0.1, 0]]))
    ratio = witness.scores(3)["likelihood ratio"]
    # the oracle's floor is above the rounding of gradients; without it, rounding decided
    assert abs(ratio[1]) < 3
    assert ratio[0] == 0 != ratio[2]


def batches(sampling, n):
    """Every batch, as how often each record is in it, by what it is divided, and its chance."""
    if isinstance(sampling, Poisson):
        rate = float(sampling.sample_rate)
        for taken in itertools.product((0, 1), repeat=n):
            yield taken, rate * n, rate ** sum(taken) * (1 - rate) ** (n - sum(taken))
        return
    size, records = sampling.size, range(n)
    drawn = itertools.product(records, repeat=size) if sampling.replacement else itertools.combinations(records, size)
    drawn = list(drawn)
    for rows in drawn:
        yield np.bincount(rows, minlength=n), size, 1 / len(drawn)


@pytest.mark.parametrize(
    ("problem", "sampling"),
    [
        *(
            (problem, Batch(3, problem.records, copies))
            for problem in (sigmoid(5), landscape())
            for copies in (False, True)
        ),
        (sigmoid(4), Poisson(0.25)),
    ],
)
def test_the_ratio_of_a_batch_is_averaged_over_all_batches(problem, sampling):
    pair, n = worst_pair(problem), problem.records
    ratio, answer = ratio_of(pair, lambda *rest: BatchGradientOracle(rest[0], sampling, Fraction(1, 2), *rest[1:]), X)
    likelihoods = []
    for side in (pair.first, pair.second):
        of_each = np.array([side.batch_gradient(X, np.full((3, 1), record)) for record in range(n)])
        likelihoods.append(
            sum(
                chance * np.exp(gaussian_log(answer.noisy, np.tensordot(taken, of_each, 1) / size, answer.amount[0]))
                for taken, size, chance in batches(sampling, n)
            )
        )
    assert np.allclose(ratio, np.log(likelihoods[1] / likelihoods[0]), rtol=1e-9)


def test_answers_of_some_repetitions_reach_their_rows():
    pair = worst_pair(sigmoid())
    generators, witness = streams(0, 3), Witness(pair)
    heard = []
    with listening(lambda answer: (heard.append(answer), witness.hear(answer))):
        GradientOracle(pair.first, Fraction(2), generators, OpenLedger())(X)
        GradientOracle(pair.first, Fraction(2), generators[2:], OpenLedger())(X[2:])
    kept = witness.scores(3)
    shift = [pair.second.gradient(X) - pair.first.gradient(X)]
    parts = [
        np.einsum("ij,ij->i", one.noisy - one.exact(pair.first) - shift[0][rows] / 2, shift[0][rows]) / one.amount**2
        for one, rows in zip(heard, (slice(None), slice(2, None)), strict=True)
    ]
    assert np.allclose(kept["likelihood ratio"], parts[0] + np.array([0, 0, parts[1][0]]))
    residuals = [(one.noisy - one.exact(pair.first)) / one.amount[:, None] for one in heard]
    assert kept["residual"][2] == pytest.approx(min(np.linalg.norm(residuals[0][2]), np.linalg.norm(residuals[1][0])))
    assert kept["repeated noise"][2] == pytest.approx(np.linalg.norm(residuals[0][2] - residuals[1][0]))
    assert (kept["repeated noise"][:2] == 1e6).all()


@pytest.mark.thorough
def test_the_whole_transcript_is_nearly_as_far_apart_as_planned():
    """Ratios are N(±μ²/2, μ²): μ is at most 2√T/z, and close to it as long as iterates stay where slopes are steep."""
    pair, z, steps, runs = worst_pair(sigmoid(400)), 40, 16, 2000
    planned = 2 * math.sqrt(steps) / z
    found = []
    for side in (pair.first, pair.second):
        witness = Witness(pair)
        with listening(witness.hear):
            ProjectedGradientDescent(z, steps).run(side, seed=5, repetitions=runs)
        found.append(witness.scores(runs)["likelihood ratio"])
    mu = math.sqrt(found[1].mean() - found[0].mean())
    assert 0.9 * planned < mu < planned + 0.05  # a standard error of the difference is 0.0063, of μ 0.016
    assert np.concatenate(found).std() == pytest.approx(mu, rel=0.15)
