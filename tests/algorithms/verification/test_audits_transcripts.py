"""Worst pairs and transcripts: as far apart as the constants allow; likelihoods by enumeration of all batches."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from dpbounds.algorithms import problems
from dpbounds.algorithms.descents.projected_gradient_descent import ProjectedGradientDescent
from dpbounds.algorithms.estimators.scores import LOGISTIC, MULTINOMIAL, Records
from dpbounds.algorithms.frank_wolfe.bounded_entries import bounded_entries
from dpbounds.algorithms.ledger import OpenLedger, PrivacyBudget
from dpbounds.algorithms.method import OpenRun
from dpbounds.algorithms.noise import streams
from dpbounds.algorithms.oracles import (
    BatchGradientOracle,
    GradientDifferenceOracle,
    GradientOracle,
    HessianOracle,
    HessianProductOracle,
    Poisson,
    as_vectors,
)
from dpbounds.algorithms.oracles.watching import watchers
from dpbounds.algorithms.problems.domain import hessian_rank
from dpbounds.algorithms.sampling import Batch
from dpbounds.algorithms.selection.above_threshold import AboveThresholdSelection, stationarity
from dpbounds.algorithms.selection.net_exponential_mechanism import NetExponentialMechanism
from dpbounds.algorithms.verification.attacks.neighbours import pairs_of_norms, worst_pair
from dpbounds.algorithms.verification.attacks.outputs import candidates_of, pair_for
from dpbounds.algorithms.verification.attacks.transcripts import Witness, listening
from dpbounds.algorithms.warm_starts.population_warm_start import part_of
from dpbounds.errors import InvalidValue
from dpbounds.privacy.relations import Relation

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


@pytest.mark.parametrize("problem", [sigmoid(), regression(), landscape()])
@pytest.mark.parametrize("shape", ["steep", "curved"])
@pytest.mark.parametrize(("relation", "factor"), [(REPLACED, 2), (REMOVED, 1)])
def test_a_canary_moves_every_answer_as_far_as_the_oracles_account_for(problem, shape, relation, factor):
    """Gradients (0.99 of it on a curved one), differences and Hessians, at random points near the start."""
    pair, n = worst_pair(problem, relation, shape), problem.records
    draw = np.random.default_rng(0)
    x, y = (problem.initial_point + 1e-4 * draw.normal(size=(5, problem.dimension)) for _ in range(2))
    G, L = float(problem.lipschitz), float(problem.smoothness)

    def apart(answer):
        return n * np.linalg.norm((answer(pair.second) - answer(pair.first)).reshape(len(x), -1), axis=1)

    gradients = apart(lambda side: side.gradient(x)) / (factor * G)
    assert (gradients <= 1 + 1e-12).all()
    assert gradients == pytest.approx(1 if shape == "steep" else 0.99, rel=1e-9 if shape == "steep" else 0.01)
    batches = apart(lambda side: side.batch_gradient(x, np.tile([0, 1], (5, 1)))) / (factor * G)
    assert batches * 2 / n == pytest.approx(gradients)
    differences = apart(lambda side: side.gradient(x) - side.gradient(y))
    allowed = factor * L * np.linalg.norm(x - y, axis=1)
    assert differences == pytest.approx(0 if shape == "steep" else allowed)
    ledger, streams_of = OpenLedger(), streams(0, 5)
    bound = float(HessianOracle(problem, Fraction(1), streams_of, ledger, hessian_rank(problem)).per_record_bound)
    hessians = apart(lambda side: as_vectors(side.hessian(x)))
    assert hessians == pytest.approx(factor * n * bound, rel=1e-6)
    for public in ("records", "dimension", "lipschitz", "smoothness", "loss_range", "initial_gap"):
        assert getattr(pair.first, public) == getattr(pair.second, public) == getattr(problem, public)


@pytest.mark.parametrize("problem", [sigmoid(), regression(), landscape()])
@pytest.mark.parametrize("shape", ["steep", "curved"])
def test_nowhere_does_a_canary_exceed_what_the_oracles_account_for(problem, shape):
    pair, draw = worst_pair(problem, REPLACED, shape), np.random.default_rng(1)
    G, L, n = float(problem.lipschitz), float(problem.smoothness), problem.records
    for spread in (1e-2, 1.0, 30.0):
        x, y = (spread * draw.normal(size=(50, problem.dimension)) for _ in range(2))
        one, other = (pair.first.gradient(points) for points in (x, y))
        assert (n * np.linalg.norm(one, axis=1) <= G * (1 + 1e-12)).all()
        assert (n * np.linalg.norm(one - other, axis=1) <= L * np.linalg.norm(x - y, axis=1) * (1 + 1e-9) + 1e-12).all()
        values = pair.first.objective_at(x) - weight_of(problem, x)
        assert (n * np.abs(values) <= float(problem.loss_range) / 2 * (1 + 1e-12)).all()
        assert (n * np.abs(values) <= G * np.linalg.norm(x - problem.initial_point, axis=1) * (1 + 1e-9)).all()


def test_a_clipped_canary_is_as_long_as_the_clip_everywhere():
    cut, x = problems.Clipped(regression(), "1/7"), np.random.default_rng(3).normal(size=(4, 3))
    for relation, apart in ((REPLACED, 2), (REMOVED, 1)):
        pair = worst_pair(cut, relation)
        moved = np.linalg.norm(
            pair.second.objective_and_gradient(x)[1] - pair.first.objective_and_gradient(x)[1], axis=1
        )
        assert moved == pytest.approx(apart / 7 / cut.records)
        assert all(
            side.lipschitz == cut.lipschitz and side.records == cut.records for side in (pair.first, pair.second)
        )
    with pytest.raises(InvalidValue, match="steep"):
        worst_pair(cut, REPLACED, "curved")


def weight_of(problem, x):
    return float(getattr(problem, "l1", 0)) * np.abs(x).sum(axis=1)


@pytest.mark.parametrize("shape", ["steep", "curved"])
def test_the_gradient_of_a_canary_is_that_of_its_loss(shape):
    side, h = worst_pair(landscape(), REPLACED, shape).second, 1e-6
    for x in np.random.default_rng(2).normal(size=(3, 1, 2)):
        slopes = [(side.objective(x + h * e) - side.objective(x - h * e))[0] / (2 * h) for e in np.eye(2)]
        assert np.allclose(side.gradient(x)[0], slopes, atol=1e-6)


@pytest.mark.parametrize("problem", [sigmoid(), regression()])
def test_only_record_0_differs_in_pairs_of_norms_and_it_keeps_the_bound(problem):
    for name, pair in pairs_of_norms(problem):
        first, second = (side._rows for side in (pair.first, pair.second))
        assert not np.allclose(first[0], second[0])
        assert not first[1:].any()
        assert not second[1:].any()
        length = np.linalg.norm(first[0])
        assert length == pytest.approx(float(problem.feature_bound))
        assert length <= float(problem.feature_bound)
        if name == "clipped":  # by another norm than l2 the record would be longer: all its entries are alike
            assert np.ptp(np.abs(first[0])) < 1e-12
    assert not list(pairs_of_norms(landscape()))


def test_a_part_of_the_records_has_the_canary_or_is_silent():
    pair = worst_pair(regression())
    x = np.ones((2, 3))
    own, rest = part_of(pair.first, 0, 2), part_of(pair.first, 2, 3)
    assert np.allclose(2 * own.gradient(x), 5 * pair.first.gradient(x))
    assert not rest.gradient(x).any()


def test_a_canary_of_bounded_entries_keeps_every_entry_of_its_gradient():
    data = problems.wang_xu_design(6, 3, seed=1, feature_bound=2)
    problem = bounded_entries(problems.geman_mcclure(data.features, data.labels, feature_bound=2, target_bound=1), 1)
    x = np.random.default_rng(0).normal(size=(20, 3))
    entries = 6 * np.abs(worst_pair(problem).first.gradient(x))
    assert entries == pytest.approx(float(problem.lipschitz_l1))
    assert all(np.abs(pair.first.features).max() == 1 for _, pair in pairs_of_norms(problem))
    with pytest.raises(InvalidValue, match="'steep' where entries of gradients are bounded"):
        worst_pair(problem, REPLACED, "curved")


@pytest.mark.parametrize(("relation", "factor"), [(REPLACED, 2), (REMOVED, 1)])
def test_a_selection_is_told_no_more_than_it_accounts_for(relation, factor):
    """On its own pair record 0 moves every score, gradient and curvature as far as is accounted for, and no further."""
    problem, budget = landscape(), PrivacyBudget.of(1, "1e-5", relation)
    net = NetExponentialMechanism.calibrated(problem, budget.epsilon, relation=relation, covering_radius="1/2")
    pair = pair_for(net, problem, budget.relation)
    moved = pair.second.objective_at(net.net.points) - pair.first.objective_at(net.net.points)
    assert np.ptp(moved) == pytest.approx(float(net.range_of_one_record(problem)), rel=1e-9)
    assert np.ptp(moved) <= float(net.range_of_one_record(problem))

    points = np.linspace([0.1, 0.1], [1, 1], 30)
    selection = AboveThresholdSelection.calibrated(points, "1/2", relation=relation)
    pair = pair_for(selection, problem, budget.relation)
    (slopes, bends), (others, bent) = (stationarity(side, points) for side in (pair.first, pair.second))
    allowed = factor / problem.records * np.where(np.arange(30) < 29, 1, -1)
    assert slopes - others == pytest.approx(allowed * float(problem.lipschitz), rel=1e-6)
    assert bends - bent == pytest.approx(allowed * float(problem.smoothness), rel=1e-6)


def test_the_ratio_of_a_choice_is_that_of_its_chances():
    """Of the exponential mechanism on a net, by its definition; and on average it is no likelier than itself."""
    problem = landscape()
    net = NetExponentialMechanism.calibrated(problem, 1, relation=REPLACED, covering_radius="1/2")
    pair = pair_for(net, problem, Relation.REPLACE_ONE)
    witness = Witness(pair, candidates_of(net))
    with listening(witness.hear):
        run = net.run(pair.first, seed=0, repetitions=20)
    beta = float(net.inverse_temperature(problem))
    weights = [np.exp(-beta * side.objective_at(net.net.points)) for side in (pair.first, pair.second)]
    logarithms = np.log(weights[1] / weights[1].sum()) - np.log(weights[0] / weights[0].sum())
    chosen = [int((net.net.points == point).all(axis=1).argmax()) for point in run.output]
    assert witness.scores(20)["likelihood ratio"] == pytest.approx(logarithms[chosen])


@pytest.mark.parametrize(("relation", "factor"), [(REPLACED, 2), (REMOVED, 1)])
def test_a_pair_of_clipped_scores_is_as_far_apart_as_gradients_are_clipped(relation, factor):
    draw = np.random.default_rng(0)
    labels = draw.choice([-1.0, 1.0], 6)
    problem = Records(draw.normal(size=(6, 2)), labels, outputs=1, loss=LOGISTIC).clipped_to(Fraction(3))
    x, most = draw.normal(size=(5, 2)), factor * float(problem.lipschitz) / 6
    pair = worst_pair(problem, relation)
    assert np.linalg.norm(pair.first.gradient(x) - pair.second.gradient(x), axis=1) == pytest.approx([most] * 5)
    assert np.array_equal(pair.first.initial_point, problem.initial_point)
    for name, own in pairs_of_norms(problem, relation):
        apart = np.linalg.norm(own.first.gradient(0 * x) - own.second.gradient(0 * x), axis=1)
        assert apart == pytest.approx([most if name == "clipped" else 7 / 8 * most / factor] * 5)
    several = Records(draw.normal(size=(6, 2)), draw.integers(0, 3, 6), outputs=3, loss=MULTINOMIAL)
    with pytest.raises(InvalidValue, match="a single output"):
        worst_pair(several.clipped_to(Fraction(1)))


def test_pairs_that_are_not_known():
    with pytest.raises(InvalidValue, match="a Problem, a LinearModel or a Landscape"):
        worst_pair(object())


# --- Transcripts


def test_listening_changes_nothing_and_ends():
    algorithm, problem = ProjectedGradientDescent(3, 4), sigmoid()
    alone = algorithm.run(problem, seed=3, repetitions=5)
    heard = []
    before = GradientOracle.__call__, OpenRun.choose
    with listening(heard.append):
        assert (GradientOracle.__call__, OpenRun.choose) == before  # a watcher, like the guards, and no patch
        assert len(watchers()) == 1
        listened = algorithm.run(problem, seed=3, repetitions=5)
    assert np.array_equal(alone.output, listened.output)
    assert listened.ledger == alone.ledger
    assert len(heard) == 4
    assert np.array_equal(heard[0].exact(problem)[0], problem.gradient(problem.initial_point[None])[0])
    with pytest.raises(ZeroDivisionError), listening(heard.append):
        raise ZeroDivisionError
    assert not watchers()


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
        (HessianOracle, lambda side: side.hessian(X)[:, [0, 0, 1], [0, 1, 1]] * [1, math.sqrt(2), 1]),
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


def test_the_ratio_of_a_product_with_a_hessian_has_its_own_noise_per_repetition():
    pair = worst_pair(sigmoid(), REPLACED, "curved")
    ratio, answer = ratio_of(pair, lambda *rest: HessianProductOracle(rest[0], Fraction(2), *rest[1:]), X, Y)
    assert answer.amount[2] == ratio[2] == 0  # no direction: nothing was said
    for row in (0, 1):
        means = [side.hessian(X)[row] @ Y[row] for side in (pair.first, pair.second)]
        sides = [gaussian_log(answer.noisy[row], mean, answer.amount[row]) for mean in means]
        assert ratio[row] == pytest.approx(sides[1] - sides[0])
        assert ratio[row] != 0


def test_answers_about_points_that_nearly_coincide_are_heard_and_tell_nothing():
    pair = worst_pair(sigmoid(), REPLACED, "curved")
    witness = Witness(pair)
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


@pytest.mark.seconds
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
