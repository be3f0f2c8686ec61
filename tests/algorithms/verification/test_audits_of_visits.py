"""Likelihoods of batches that depend on each other, against a sum over all deals; attacks below what is certified."""

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from dpbounds.algorithms import MatrixDescent
from dpbounds.algorithms.descents.stochastic_gradient_descent import StochasticGradientDescent
from dpbounds.algorithms.guards.residuals import row_of
from dpbounds.algorithms.ledger import OpenLedger, PrivacyBudget
from dpbounds.algorithms.noise import streams
from dpbounds.algorithms.oracles import BatchGradientOracle, CorrelatedGradientOracle, VisitGradientOracle
from dpbounds.algorithms.sampling import Allocated, Bins, Correlated, Cyclic, Shuffle, Truncated
from dpbounds.algorithms.verification.attacks.experiments import audit_algorithm
from dpbounds.algorithms.verification.attacks.neighbours import worst_pair
from dpbounds.algorithms.verification.attacks.transcripts import Witness, listening
from dpbounds.algorithms.verification.studies.stochastic import realisable
from dpbounds.privacy.mechanisms.schemes.encoders import BinaryTree, Toeplitz
from dpbounds.privacy.relations import Relation

RECORDS, EPOCHS = 3, 2
VISITED = (
    *(Bins(2), Bins(2, redraw=False), Shuffle(2), Cyclic(2), Cyclic(2, "secret")),
    *(Allocated(4, 2), Allocated(3, 1), Allocated(3, 3)),
)


def deals(scheme):
    """Every way to deal the records in one epoch, as places by record (or sets of them), with its probability."""
    m, n = scheme.bins, RECORDS
    if isinstance(scheme, Allocated):
        subsets = list(itertools.combinations(range(m), scheme.participations))
        return [(each, len(subsets) ** -n) for each in itertools.product(subsets, repeat=n)]
    if isinstance(scheme, Bins):
        return [(each, m**-n) for each in itertools.product(range(m), repeat=n)]
    if isinstance(scheme, Cyclic) and scheme.order == "fixed":
        return [(tuple(i % m for i in range(n)), 1.0)]
    taken = n if isinstance(scheme, Cyclic) else n // m * m
    found = []
    for order in itertools.permutations(range(n)):
        places = [-1] * n
        for index, record in enumerate(order[:taken]):
            places[record] = index % m
        found.append((tuple(places), 1 / math.factorial(n)))
    return found


@dataclass
class Side:
    """One dataset: the gradients of its records, the same at all points."""

    gradients: np.ndarray


def likelihood(scheme, answers, side, by, sigma):
    """Of one repetition's answers, shape (T, p): the sum over all deals of the batches."""

    def of_epoch(places, epoch):
        chance = 1.0
        for place in range(scheme.bins):
            mean = (
                sum((side.gradients[i] for i in range(RECORDS) if place in np.atleast_1d(places[i])), np.zeros(2)) / by
            )
            chance *= stats.norm.pdf(answers[epoch * scheme.bins + place], mean, sigma).prod()
        return chance

    if scheme.redraw:
        return math.prod(sum(w * of_epoch(each, e) for each, w in deals(scheme)) for e in range(EPOCHS))
    return sum(w * math.prod(of_epoch(each, e) for e in range(EPOCHS)) for each, w in deals(scheme))


@pytest.mark.seconds_cases("Allocated(bins=4, participations=2)")
@pytest.mark.parametrize("scheme", VISITED, ids=str)
def test_the_ratio_of_an_epoch_is_the_sum_over_all_deals(scheme):
    pair = worst_pair(realisable(RECORDS, 2), Relation.REPLACE_ONE)
    asked = VisitGradientOracle(pair.first, scheme, Fraction(1), streams(1, 4), OpenLedger())
    witness = Witness(pair)
    with listening(witness.hear):
        answers = [asked(np.zeros((4, 2))).noisy for _ in range(EPOCHS * scheme.bins)]
    (found,) = [score for name, score in witness.scores(4).items() if name == "likelihood ratio"]
    rows = np.arange(RECORDS)[:, None]
    sides = [Side(problem.batch_gradient(np.zeros((RECORDS, 2)), rows)) for problem in (pair.first, pair.second)]
    for r in range(4):
        heard = np.stack([each[r] for each in answers])
        first, second = (likelihood(scheme, heard, side, float(asked.divisor), asked.noise_stddev) for side in sides)
        assert found[r] == pytest.approx(math.log(second / first), abs=1e-9)
    assert np.abs(found).min() > 1e-3


def test_the_ratio_of_a_truncated_sample_is_the_sum_over_all_samples():
    pair, sampling, n = worst_pair(realisable(4, 2), Relation.REPLACE_ONE), Truncated("1/2", 2, 4), 4
    asked = BatchGradientOracle(pair.first, sampling, Fraction(1), streams(1, 4), OpenLedger())
    witness = Witness(pair)
    with listening(witness.hear):
        answers = asked(np.zeros((4, 2))).noisy
    chance = 0.0
    for size in range(n + 1):
        for sample in itertools.combinations(range(n), size):
            chance += 0.5**n * (0 in sample) * min(1.0, 2 / max(size, 1))
    rows = np.zeros((1, 1), dtype=int)
    moved = [problem.batch_gradient(np.zeros((1, 2)), rows)[0] / 2 for problem in (pair.first, pair.second)]
    for r in range(4):
        none = stats.norm.pdf(answers[r], 0, asked.noise_stddev).prod()
        first, second = (
            (1 - chance) * none + chance * stats.norm.pdf(answers[r], mean, asked.noise_stddev).prod() for mean in moved
        )
        assert witness.scores(4)["likelihood ratio"][r] == pytest.approx(math.log(second / first), abs=1e-9)


SLOW = pytest.mark.minutes  # to account for bins takes seconds
LOUD = {
    "truncated": Truncated("1/2", 6, 12),
    "allocated": Allocated(4, 2),
    "bins": Bins(2),
    "kept bins": Bins(2, redraw=False),
    "shuffled": Shuffle(2),
    "fixed": Cyclic(2),
    "secret": Cyclic(2, "secret"),
}


@pytest.mark.seconds
@pytest.mark.parametrize("name", [pytest.param(name, marks=SLOW if "bins" in name else ()) for name in LOUD])
def test_what_an_attack_proves_is_at_most_what_is_certified(name):
    problem = realisable(12, 2)
    method = StochasticGradientDescent("1/2", 4, "1/100", LOUD[name])
    found = audit_algorithm(name, method, problem, PrivacyBudget.of(100, "1e-2"), runs=3000, seed=5)
    assert 1 < found.audit.epsilon <= found.certified
    assert found.releases == "random batches"


# --- Rows of correlated noise whose batches are drawn -----------------------------------------------------------------

MATRIX = Toeplitz([1, "1/2"], 4)
ENCODED = {
    "cyclic Poisson": Correlated(MATRIX, 2, "cyclic-poisson", "1/4"),
    "bins": Correlated(MATRIX, 2, "balls-in-bins"),
    "bins of a tree": Correlated(BinaryTree(4), 2, "balls-in-bins"),
}


def takes_part(scheme, record):
    """Every set of steps that a record may take part in, and its chance."""
    if scheme.draws == "balls-in-bins":
        return [({step for step in range(4) if step % 2 == group}, 0.5) for group in (0, 1)]
    own, rate = [step for step in range(4) if step % 2 == record % 2], float(scheme.sample_rate)
    return [
        (
            {step for step, there in zip(own, coins, strict=True) if there},
            math.prod(rate if c else 1 - rate for c in coins),
        )
        for coins in itertools.product((False, True), repeat=len(own))
    ]


@pytest.mark.parametrize("name", ENCODED)
def test_the_ratio_of_encoded_rows_is_the_sum_over_all_draws(name):
    scheme = ENCODED[name]
    pair = worst_pair(realisable(RECORDS, 2), Relation.REPLACE_ONE)
    asked = CorrelatedGradientOracle(pair.first, scheme, Fraction(1), streams(1, 4), OpenLedger())
    witness = Witness(pair)
    with listening(witness.hear):
        answers = [asked(np.zeros((4, 2))).noisy for _ in range(4)]
    (found,) = [score for name, score in witness.scores(4).items() if name == "likelihood ratio"]
    encoder = np.array([[float(w) for w in row_of(scheme.matrix, t)] + [0.0] * (3 - t) for t in range(4)])
    rows = np.arange(RECORDS)[:, None]
    sides = [problem.batch_gradient(np.zeros((RECORDS, 2)), rows) for problem in (pair.first, pair.second)]
    for r in range(4):
        heard = encoder @ np.stack([each[r] for each in answers])
        sums = []
        for gradients in sides:
            total = 0.0
            for drawn in itertools.product(*(takes_part(scheme, record) for record in range(RECORDS))):
                chance = math.prod(weight for _, weight in drawn)
                x = np.zeros((4, 2))
                for record, (steps, _) in enumerate(drawn):
                    for step in steps:
                        x[step] += gradients[record] / float(asked.divisor)
                total += chance * stats.norm.pdf(heard, encoder @ x, asked.noise_stddev).prod()
            sums.append(total)
        assert found[r] == pytest.approx(math.log(sums[1] / sums[0]), abs=1e-9)
    assert np.abs(found).min() > 1e-4


@pytest.mark.seconds
def test_an_attack_on_cyclic_samples_is_below_what_is_certified():
    method = MatrixDescent("1/2", Correlated(MATRIX, 2, "cyclic-poisson", "1/2"), "1/100")
    found = audit_algorithm("dp-ftrl", method, realisable(12, 2), PrivacyBudget.of(100, "1e-2"), runs=3000, seed=5)
    assert 1 < found.audit.epsilon <= found.certified


@pytest.mark.minutes
def test_an_attack_on_bins_is_below_what_is_certified():
    method = MatrixDescent("1/2", Correlated(MATRIX, 2, "balls-in-bins"), "1/100")
    found = audit_algorithm("dp-ftrl", method, realisable(12, 2), PrivacyBudget.of(100, "1e-2"), runs=3000, seed=5)
    assert 1 < found.audit.epsilon <= found.certified
