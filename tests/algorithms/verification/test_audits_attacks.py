"""Audits of algorithms, selections and canaries: sound ones are never flagged, broken ones are."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from dpbounds.algorithms.descents.projected_gradient_descent import ProjectedGradientDescent
from dpbounds.algorithms.ledger import PrivacyBudget
from dpbounds.algorithms.verification.attacks.audits import (
    _best_threshold,
    at_threshold,
    by_threshold,
    gaussian_epsilon,
)
from dpbounds.algorithms.verification.attacks.canaries import audit_in_one_run, by_guesses, with_canaries
from dpbounds.algorithms.verification.attacks.experiments import (
    audit_algorithm,
    audit_example,
    best,
    collected,
    scores_of_output,
)
from dpbounds.algorithms.verification.attacks.mutations import judged, mutations
from dpbounds.algorithms.verification.attacks.neighbours import worst_pair
from dpbounds.algorithms.verification.attacks.selections import (
    Queries,
    as_printed,
    audit_selection,
    repaired,
    worst_queries,
)
from dpbounds.algorithms.verification.studies.problems import design
from dpbounds.errors import InvalidValue

REPLACED, REMOVED = "replace-one", "add-or-remove-one"
FALSE_ALARM = 1e-6

# --- The stated confidence, on mechanisms whose ε is known


def allowed(audits, confidence):
    """How many bounds may exceed the truth, with probability 1 - 1e-6."""
    return stats.binom.isf(FALSE_ALARM, audits, 1 - confidence)


@pytest.mark.rotating(4)
@pytest.mark.parametrize("delta", [0.0, 0.05])
def test_thresholds_chosen_on_half_of_the_runs_keep_the_confidence(delta):
    """Laplace noise of scale 1 on 0 or 1: ε(δ) = 1 + 2 log(1 - δ), attained by every threshold outside (0, 1) if δ = 0.

    The same with a threshold chosen on the very runs that are counted does not keep it: the test can fail.
    """
    truth, audits, confidence = 1 + 2 * math.log(1 - delta), 200, 0.8
    draw = np.random.default_rng(7)
    honest = greedy = 0
    for _ in range(audits):
        first, second = draw.laplace(size=60), draw.laplace(size=60) + 1
        honest += by_threshold(first, second, delta, confidence).epsilon > truth
        threshold, sign = _best_threshold(first, second, delta, False)
        greedy += at_threshold(sign * first, sign * second, threshold, delta, confidence).epsilon > truth
    assert honest <= allowed(audits, confidence)
    assert greedy > 2 * honest


def test_several_scores_share_the_error():
    draw = np.random.default_rng(8)
    scores = {name: (draw.normal(size=400), draw.normal(size=400) + 1) for name in ("one", "other", "third")}
    attack, found = best(scores, 1e-3, 0.94)
    bounds = {name: by_threshold(*each, 1e-3, 0.98).epsilon for name, each in scores.items()}
    assert found.epsilon == bounds[attack] == max(bounds.values())
    assert found.confidence == 0.94
    # the likelihood ratio has half of the error, and a threshold of 0 where noise is Gaussian
    ratio = (draw.normal(size=400) - 1, draw.normal(size=400) + 1)
    attack, found = best(scores | {"likelihood ratio": ratio}, 1e-3, 0.94, gaussian=True)
    assert attack == "likelihood ratio"
    assert found.epsilon == at_threshold(*ratio, 0.0, 1e-3, 0.97, gaussian=True).epsilon


@pytest.mark.rotating(4)
def test_the_best_of_several_scores_keeps_the_confidence():
    """Four copies of the release N(0 or 1, 1): the largest of four bounds is above ε(δ) as rarely as stated."""
    truth, audits, confidence, delta = gaussian_epsilon(1, 1e-2), 80, 0.8, 1e-2
    draw = np.random.default_rng(9)
    wrong = 0
    for _ in range(audits):
        scores = {str(name): (draw.normal(size=50), draw.normal(size=50) + 1) for name in range(4)}
        wrong += best(scores, delta, confidence, gaussian=True)[1].epsilon > truth
    assert wrong <= allowed(audits, confidence)


# --- Algorithms


@pytest.mark.thorough
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


def test_the_same_seed_gives_the_same_bound_and_sides_are_independent():
    pair, seen = worst_pair(PROBLEM), []

    def experiment(problem, seed, repetitions):
        seen.append((problem is pair.second, seed, repetitions))
        return {"score": np.random.default_rng(seed).normal(size=repetitions)}

    first = collected(experiment, pair, 2101, seed=3)["score"]
    assert [len(each) for each in first] == [1050, 1051]
    assert [side for side, *_ in seen] == [False, False, True, True]
    assert len({seed for _, seed, _ in seen}) == 4
    again = collected(experiment, pair, 2101, seed=3)["score"]
    assert all(np.array_equal(one, other) for one, other in zip(first, again, strict=True))


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
    [pytest.param(500_000, 1.2, marks=pytest.mark.thorough), pytest.param(8_000_000, 1.42, marks=pytest.mark.slow)],
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


@pytest.mark.rotating(4)
def test_one_run_keeps_the_confidence():
    """Randomised response with ε = 1 per coin, exactly: each truthful with probability e/(1 + e); every answer used."""
    audits, confidence, draw = 400, 0.8, np.random.default_rng(1)
    wrong = 0
    for _ in range(audits):
        coins = draw.random(100) < 0.5
        said = coins ^ (draw.random(100) < 1 / (1 + math.e))
        # half of the guesses go to either end; ties are broken by position, which knows nothing
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


@pytest.mark.thorough_cases("batches not random", "random batches", "noise used twice", "Stochastic Spider*")
@pytest.mark.rotating(4)
@pytest.mark.parametrize("name", MUTATIONS)
def test_each_broken_copy_is_caught_and_no_sound_one(name):
    verdict = judged(MUTATIONS[name], runs=2500, seed=2)
    assert verdict.caught == MUTATIONS[name].broken, verdict
    assert verdict.right


def test_names_are_unique_and_each_kind_has_a_sound_copy():
    assert (len(MUTATIONS), len(mutations()), len(SOUND)) == (16, 16, 5)


@pytest.mark.slow
@pytest.mark.parametrize("name", SOUND)
def test_sound_copies_stay_unflagged_over_many_seeds(name):
    flagged = sum(judged(MUTATIONS[name], runs=1000, seed=seed).caught for seed in range(40))
    assert flagged <= allowed(40, 0.95)
