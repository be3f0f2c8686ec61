"""Audits of algorithms, selections and canaries: sound ones are never flagged, broken ones are."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from dpbounds.algorithms.descents.projected_gradient_descent import ProjectedGradientDescent
from dpbounds.algorithms.ledger import DescribedRelease, PrivacyBudget
from dpbounds.algorithms.verification.attacks import experiments
from dpbounds.algorithms.verification.attacks.audits import Audit, gaussian_epsilon
from dpbounds.algorithms.verification.attacks.betting import GAUSSIAN_ASSUMED, NOTHING_ASSUMED
from dpbounds.algorithms.verification.attacks.canaries import audit_in_one_run, by_guesses, with_canaries
from dpbounds.algorithms.verification.attacks.experiments import (
    AIMS,
    AuditedAlgorithm,
    Game,
    _loudest,
    audit_algorithm,
    audit_example,
    scores_of_output,
    sequentially,
)
from dpbounds.algorithms.verification.attacks.mutations import judged, mutations
from dpbounds.algorithms.verification.attacks.neighbours import worst_pair
from dpbounds.algorithms.verification.attacks.selections import (
    Queries,
    _first,
    as_printed,
    audit_selection,
    repaired,
    worst_queries,
)
from dpbounds.algorithms.verification.studies.problems import design
from dpbounds.errors import InvalidValue
from dpbounds.privacy.mechanisms import PureDP

REPLACED, REMOVED = "replace-one", "add-or-remove-one"
FALSE_ALARM = 1e-6


def allowed(audits, confidence):
    """How many bounds may exceed the truth, with probability 1 - 1e-6."""
    return stats.binom.isf(FALSE_ALARM, audits, 1 - confidence)


# --- Algorithms


@pytest.mark.seconds
@pytest.mark.parametrize("relation", [REPLACED, REMOVED])
def test_a_sound_algorithm_is_not_flagged_and_not_far_from_its_certificate(relation):
    finding = audit_example("dp-pgd", PrivacyBudget.of(4, "1e-5", relation), runs=3000, seed=1)
    assert finding.sound
    assert not finding.refutes_claim
    assert finding.certified == pytest.approx(4, abs=1e-6)
    assert finding.audit.epsilon > 2.5  # three quarters of the truth would be 3
    assert finding.attack == "likelihood ratio"


class Flattering:
    """A right run, with a ledger that says twice the noise."""

    def __init__(self, algorithm):
        self.algorithm, self.budget, self.planned = algorithm, algorithm.budget, algorithm.planned

    def run(self, problem, seed=0, repetitions=32):
        run = self.algorithm.run(problem, seed=seed, repetitions=repetitions)
        releases = [replace(one, noise_stddev=2 * one.noise_stddev) for one in run.ledger.releases]
        return replace(run, ledger=replace(run.ledger, releases=tuple(releases)))


PROBLEM = design(200, 3)


def test_a_ledger_that_flatters_is_found_out():
    algorithm = ProjectedGradientDescent.calibrated(PROBLEM, epsilon=4, delta="1e-5", steps=5)
    finding = audit_algorithm("flattering", Flattering(algorithm), PROBLEM, algorithm.budget, runs=2000)
    assert finding.certified < 2
    assert (finding.sound, finding.refutes_claim) == (False, False)


def test_an_overdrawn_claim_is_refuted_although_the_ledger_is_right():
    algorithm, claim = ProjectedGradientDescent(Fraction(2), 4), PrivacyBudget.of(1, "1e-5", REPLACED)
    finding = audit_algorithm("loud", algorithm, PROBLEM, claim, runs=1000)
    assert (finding.sound, finding.refutes_claim) == (True, True)


def test_the_same_seed_gives_the_same_runs_and_sides_are_drawn():
    pair, seen = worst_pair(PROBLEM), []

    def experiment(problem, seed, repetitions):
        seen.append((problem is pair.second, seed, repetitions))
        return {"score": np.random.default_rng(seed).normal(size=repetitions)}

    game = Game(experiment, pair, title="a pair")
    scores, second = game.scores(5000, np.random.default_rng(3))
    assert len(second) == len(scores["a pair: score"]) == 5000
    assert 2300 < second.sum() < 2700
    assert second.sum() != 2500
    assert [side for side, *_ in seen] == sorted(side for side, *_ in seen)
    assert sum(count for side, _, count in seen if side) == second.sum()
    assert len({seed for _, seed, _ in seen}) == len(seen) == 4
    again, _ = game.scores(5000, np.random.default_rng(3))
    assert np.array_equal(scores["a pair: score"], again["a pair: score"])


@pytest.mark.parametrize(("spread", "chosen"), [(1.0, {"steep"}), (0.9, {"steep"}), (1.5, {"curved"})])
def test_of_canaries_that_are_about_as_loud_the_first_is_taken(spread, chosen):
    """That a few runs of the other one vary more, by chance, is no reason: its answers are never further apart."""

    def game(stddev):
        return Game(
            lambda problem, seed, count: {"likelihood ratio": stddev * np.random.default_rng(seed).normal(size=count)},
            worst_pair(PROBLEM),
        )

    games = {"steep": game(1.0), "curved": game(spread), "clipped": game(9.0)}
    assert {_loudest(games, np.random.default_rng(seed)) for seed in range(20)} == chosen


def found_at(epsilon, reach, releases, heard=20.0, certified=1.0):
    bound = Audit(epsilon, 1e-5, 0.95, "")
    claim = PrivacyBudget.of(1, "1e-5")
    return AuditedAlgorithm("x", "", bound, bound, certified, claim, 8, "runs", reach, releases, heard, 20)


@pytest.mark.parametrize(
    ("found", "limit"),
    [
        (found_at(0.7, 1.0, "Gaussian releases"), ""),
        (found_at(0.69, 1.0, "Gaussian releases"), "runs"),
        (found_at(0.51, 1.0, "random batches"), ""),
        (found_at(0.41, 1.0, "choices"), ""),
        (found_at(0.3, 0.5, "Gaussian releases"), "pair"),
        (found_at(0.3, 0.5, "choices"), "runs"),
        (found_at(0.3, 0.5, "Gaussian releases", heard=12.0), "pair, 12 of 20 answers"),
        (found_at(0.3, 1.0, "Gaussian releases", heard=12.0), "runs"),
        (found_at(0.3, 0.5, "Gaussian releases", heard=math.nan), "pair"),
        (found_at(0.3, math.nan, "Gaussian releases"), "runs"),
        (found_at(0.0, math.nan, "random batches", certified=0.0), ""),
        (found_at(0.7, 9.0, "Gaussian releases", certified=math.inf), ""),  # of the claim, where nothing is certified
    ],
)
def test_a_bound_below_its_aim_says_what_limited_it(found, limit):
    assert found.limit == limit
    assert found.releases in AIMS


def test_few_seconds_end_a_long_batch(monkeypatch):
    """A first batch of runs that take long is cut to what there is time for: each takes 0.1 ms of a clock's time."""
    made = []
    monkeypatch.setattr(experiments.time, "process_time", lambda: 1e-4 * sum(made))

    def slow(problem, seed, count):
        made.append(count)
        return {"score": np.zeros(count)}

    game = Game(slow, worst_pair(PROBLEM))
    stakes = {"delta": 0.0, "confidence": 0.9, "certified": 1.0, "gaussian": False}
    _, runs, ended = sequentially([game], np.random.default_rng(0), runs=10**6, seconds=0.05, **stakes)
    assert (sum(made), ended) == (runs, "seconds")
    assert 500 <= runs <= 502  # a first batch has 1024
    made.clear()
    _loudest({"steep": game, "curved": game}, np.random.default_rng(0), 0.05)
    assert 98 <= sum(made) <= 100  # a tenth of the time each, where 768 take more


class Planted(Flattering):
    """A right run, with a ledger that has something in it that is not Gaussian: next to nothing, but not Gaussian."""

    def run(self, problem, seed=0, repetitions=32):
        run = self.algorithm.run(problem, seed=seed, repetitions=repetitions)
        more = DescribedRelease(PureDP("1e-9", relation=REPLACED))
        return replace(run, ledger=replace(run.ledger, releases=(*run.ledger.releases, more)))


@pytest.mark.seconds
def test_a_gaussian_curve_is_inferred_only_where_all_releases_are_gaussian():
    algorithm = ProjectedGradientDescent.calibrated(PROBLEM, epsilon=4, delta="1e-5", steps=5)
    audits = [
        audit_algorithm("planted", each, PROBLEM, algorithm.budget, runs=1500)
        for each in (algorithm, Planted(algorithm))
    ]
    assert [found.audit.method for found in audits] == [GAUSSIAN_ASSUMED, NOTHING_ASSUMED]
    assert audits[1].audit == audits[1].unassuming
    assert audits[0].audit.epsilon > audits[0].unassuming.epsilon > 0


@pytest.mark.seconds
def test_an_audit_ends_when_its_bound_is_near_or_its_time_is_over():
    algorithm = ProjectedGradientDescent.calibrated(PROBLEM, epsilon=4, delta="1e-5", steps=5)
    near = audit_algorithm("near", algorithm, PROBLEM, algorithm.budget, runs=10**6)
    assert (near.ended, near.sound) == ("near", True)
    assert near.audit.epsilon >= 0.9 * near.certified
    over = audit_algorithm("over", algorithm, PROBLEM, algorithm.budget, runs=10**6, seconds=0)
    assert (over.ended, over.runs < near.runs) == ("0 seconds", True)


def test_scores_of_an_output():
    pair = worst_pair(PROBLEM)
    run = ProjectedGradientDescent(50, 2).run(pair.first, repetitions=3)
    scores = scores_of_output(replace(run, outputs={"index": np.array([1, 2, 3]), "points": np.ones((3, 2))}), pair)
    assert np.allclose(scores["distance of the output"], np.linalg.norm(run.output, axis=1))
    assert scores["index"].tolist() == [1, 2, 3]
    assert "points" not in scores
    missing = np.full(run.output.shape, np.nan)
    assert scores_of_output(replace(run, output=missing), pair)["distance of the output"].tolist() == [-1, -1, -1]


# --- AboveThreshold


def below(x):
    return np.where(x < 0, np.exp(np.minimum(x, 0)) / 2, 1 - np.exp(-np.maximum(x, 0)) / 2)


def chance_of_last(queries):
    """Of returning the last candidate, as printed: a double integral over the two thresholds, trapezoidal."""
    grid = np.arange(-40, 40.05, 0.1)
    weight = np.exp(-np.abs(grid)) / 2 * 0.1
    passes = [
        [below((grid - answers[index]) / 2) for answers in (queries.gradient, queries.curvature)] for index in (0, -1)
    ]
    (g, h), (last_g, last_h) = passes
    others = (1 - np.outer(g, h)) ** (len(queries.gradient) - 1)
    return float((last_g * weight) @ others @ (last_h * weight))


def test_the_sampler_has_the_chances_of_the_double_integral():
    """Within the range that a right sampler leaves with probability 1e-6."""
    runs = 100_000
    for queries in worst_queries(5, 2.0):
        hits = int((as_printed(queries, runs, np.random.default_rng(1)) == 4).sum())
        chance = chance_of_last(queries)
        assert stats.binom.ppf(FALSE_ALARM / 4, runs, chance) <= hits <= stats.binom.isf(FALSE_ALARM / 4, runs, chance)


def test_who_never_passes_and_who_always_does():
    far, close = np.full(3, 200.0), np.full(3, -200.0)
    draw = np.random.default_rng(0)
    assert (as_printed(Queries(far, close), 50, draw) == 3).all()
    assert (as_printed(Queries(close, close), 50, draw) == 0).all()
    assert (repaired(Queries(close, far), 50, draw) == 3).all()


@pytest.mark.parametrize(
    ("runs", "found"),
    [pytest.param(500_000, 1.2, marks=pytest.mark.seconds), pytest.param(8_000_000, 1.42, marks=pytest.mark.minutes)],
)
def test_above_threshold_as_printed_is_caught_and_its_repair_is_not(runs, found):
    truth = math.log(chance_of_last(worst_queries(20, 1.0)[0]) / chance_of_last(worst_queries(20, 1.0)[1]))
    assert truth == pytest.approx(1.4757, abs=1e-3)
    assert found < audit_selection(as_printed, 20, 1.0, runs=runs, seed=1).epsilon < truth
    assert audit_selection(repaired, 20, 1.0, runs=runs, seed=1).epsilon < 1


# --- Canaries


def test_many_canaries_in_one_gaussian_release():
    draw = np.random.default_rng(0)
    coins = draw.random(20_000) < 0.5
    answers = coins + draw.normal(size=20_000) / 2
    found = by_guesses(answers, coins, 2000, 1e-5).epsilon
    assert 0.4 * gaussian_epsilon(2, 1e-5) < found < gaussian_epsilon(2, 1e-5)
    # to guess all of them, or from the wrong end, finds less
    assert by_guesses(answers, coins, 20_000, 1e-5).epsilon < found
    assert by_guesses(-answers, coins, 2000, 1e-5).epsilon == 0


@pytest.mark.seconds
def test_one_run_keeps_the_confidence():
    """Randomised response with ε = 1 per coin, exactly: each truthful with probability e/(1 + e); every answer used."""
    audits, confidence, draw = 400, 0.8, np.random.default_rng(1)
    wrong = 0
    for _ in range(audits):
        coins = draw.random(100) < 0.5
        said = coins ^ (draw.random(100) < 1 / (1 + math.e))
        # half of the guesses go to either end; ties are broken by an order that knows nothing
        wrong += by_guesses(said, coins, 40, 0.0, confidence).epsilon > 1
    assert 0 < wrong <= allowed(audits, confidence)


def test_canaries_of_a_descent():
    problem = design(300, 200)
    algorithm = ProjectedGradientDescent.calibrated(problem, epsilon=8, delta="1e-5", steps=5, relation=REMOVED)
    found = audit_in_one_run(algorithm, problem, 200, 60, 1e-5, seed=2)
    assert 1 < found.epsilon < 8
    # with next to no noise each canary is plain to see
    loud = ProjectedGradientDescent("0.01", 5)
    assert audit_in_one_run(loud, problem, 200, 150, 1e-5, seed=2).epsilon > 3.5


def test_a_problem_with_canaries():
    problem = design(30, 5)
    rows = with_canaries(problem, np.array([True, False, True])).signed_features
    assert np.array_equal(np.flatnonzero(rows.any(axis=1)), [0, 2])
    assert rows[2, 2] == float(problem.feature_bound)


@pytest.mark.parametrize(
    "call",
    [
        lambda: with_canaries(design(30, 5), np.ones(6, dtype=bool)),
        lambda: by_guesses([1.0, 2.0], [True], 1),
        lambda: by_guesses([1.0, math.nan], [True, False], 1),
        lambda: by_guesses([1.0, 2.0], [True, False], 3),
        lambda: worst_queries(1, 1.0),
        lambda: worst_queries(5, math.inf),
        lambda: audit_selection(as_printed, 5, 1.0, runs=4),
        lambda: audit_example("nobody", PrivacyBudget.of(1, "1e-5")),
        lambda: audit_example("dp-pgd", PrivacyBudget.of(1, "1e-5"), runs=4),
        lambda: audit_example("dp-pgd", PrivacyBudget.of(1, "1e-5"), runs=8, seed=-1),
        lambda: audit_example("dp-pgd", PrivacyBudget.of(1, "1e-5"), runs=8, confidence=1),
    ],
)
def test_refusals(call):
    with pytest.raises(InvalidValue):
        call()


# --- Mutations


MUTATIONS = {each.name: each for each in mutations()}
SOUND = [name for name, each in MUTATIONS.items() if not each.broken]


@pytest.mark.one_in(8)
@pytest.mark.parametrize("name", MUTATIONS)
def test_each_broken_copy_is_caught_and_no_sound_one(name):
    verdict = judged(MUTATIONS[name], runs=4000, seed=2)
    assert verdict.caught == MUTATIONS[name].broken, verdict
    assert verdict.right


def test_names_are_unique_and_each_kind_has_a_sound_copy():
    assert (len(MUTATIONS), len(mutations()), len(SOUND)) == (16, 16, 5)


@pytest.mark.minutes
@pytest.mark.parametrize("name", SOUND)
def test_sound_copies_stay_unflagged_over_many_seeds(name):
    flagged = sum(judged(MUTATIONS[name], runs=1000, seed=seed).caught for seed in range(40))
    assert flagged <= allowed(40, 0.95)


@pytest.mark.parametrize("answer", [-2.0, 0.0, 1.0])
def test_a_candidate_passes_as_often_as_its_noise_says(answer):
    """P(answer + Lap(2) <= Lap(1)): the difference has the density (2 e^{-|x|/2} - e^{-|x|})/6 (partial fractions)."""
    runs = 40_000
    below = (4 * math.exp(-abs(answer) / 2) - math.exp(-abs(answer))) / 6
    chance = below if answer > 0 else 1 - below
    passed = int(np.sum(_first(np.array([[answer]]), runs, np.random.default_rng(5)) == 0))
    assert abs(passed / runs - chance) < 5 * math.sqrt(chance * (1 - chance) / runs)
