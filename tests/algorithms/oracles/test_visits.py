"""Shuffled, cyclic and truncated batches: drawn as accounted, step by step, watched, and refused where unaccounted."""

import itertools
import math
import sys
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from dpbounds.algorithms import noise
from dpbounds.algorithms.descents.stochastic_gradient_descent import StochasticGradientDescent
from dpbounds.algorithms.guards.residuals import NoiseWrong
from dpbounds.algorithms.ledger import BudgetedLedger, Ledger, OpenLedger, Release
from dpbounds.algorithms.noise import streams
from dpbounds.algorithms.oracles import BatchGradientOracle, VisitGradientOracle
from dpbounds.algorithms.oracles.batches import draw_rows
from dpbounds.algorithms.oracles.visits import dealt
from dpbounds.algorithms.sampling import Cyclic, Shuffle, Truncated
from dpbounds.algorithms.second_order.reserved import ReservedLedger
from dpbounds.algorithms.unreleased import opened
from dpbounds.algorithms.verification.studies.stochastic import realisable
from dpbounds.errors import BudgetExceeded, InvalidValue, UnsupportedMechanism
from dpbounds.privacy.budgets.filters import ZCDPFilter
from dpbounds.privacy.mechanisms import Gaussian, MatrixMechanism, Shuffled, TruncatedPoisson
from dpbounds.privacy.mechanisms.matrices import Toeplitz

PROBLEM = realisable(60, 2)
G = 3 * math.sqrt(3) / 8
VISITED = (Shuffle(4), Cyclic(4), Cyclic(4, "secret"))
ALARM = 1e-9  # how often a test of a law, whose seed is fixed, would have been unlucky in its seed


def follows(seen, law):
    """Counts of outcomes against their exact probabilities: none that cannot be, and chi-square."""
    assert set(seen) <= set(law)
    runs = sum(seen.values())
    assert min(law.values()) * runs >= 5
    statistic = sum((seen[each] - runs * share) ** 2 / (runs * share) for each, share in law.items())
    return bool(stats.chi2.sf(statistic, len(law) - 1) > ALARM)


def law_of_truncated(n, rate, most):
    """By enumeration of all samples, and of all choices among them."""
    law = Counter()
    for size in range(n + 1):
        for sample in itertools.combinations(range(n), size):
            kept = list(itertools.combinations(sample, min(size, most)))
            for each in kept:
                law[each] += rate**size * (1 - rate) ** (n - size) / len(kept)
    return law


def law_of_shuffled(n, m, epochs):
    """Batches of every epoch, by enumeration of all orders."""
    size = n // m
    one = Counter()
    for order in itertools.permutations(range(n)):
        cut = tuple(tuple(sorted(order[place * size : (place + 1) * size])) for place in range(m))
        one[cut] += 1 / math.factorial(n)
    law = Counter()
    for each in itertools.product(one.items(), repeat=epochs):
        law[sum((cut for cut, _ in each), ())] += math.prod(share for _, share in each)
    return law


def truncated_to_the_first(sampling, records, generator, kind="gaussian"):
    return np.flatnonzero(generator.random(records) < float(sampling.sample_rate))[: sampling.size]


@pytest.mark.parametrize(("draw", "right"), [(draw_rows, True), (truncated_to_the_first, False)])
def test_truncated_samples_have_the_law_that_is_accounted(draw, right):
    sampling, runs = Truncated("1/2", 2, 4), 2000
    seen = Counter(tuple(sorted(draw(sampling, 4, each).tolist())) for each in streams(7, runs))
    assert follows(seen, law_of_truncated(4, 0.5, 2)) is right


def visited(scheme, problem, runs, steps, seed=11):
    asked = VisitGradientOracle(problem, scheme, Fraction(2), streams(seed, runs), OpenLedger())
    rows = [opened(asked(np.zeros((runs, problem.dimension))).rows) for _ in range(steps)]
    return Counter(tuple(tuple(sorted(each[r].tolist())) for each in rows) for r in range(runs))


def test_shuffled_batches_have_the_law_that_is_accounted():
    """Three records, two batches of one: one sits out; two epochs, 36 outcomes. A kept order has another law."""
    problem = realisable(3, 2)
    law = law_of_shuffled(3, 2, 2)
    assert len(law) == 36
    assert follows(visited(Shuffle(2), problem, 1500, 4), law)
    kept = visited(Cyclic(2, "secret"), realisable(4, 2), 400, 4)  # secret, and one for all epochs
    assert follows(kept, {cut + cut: share for cut, share in law_of_shuffled(4, 2, 1).items()})
    assert not follows(kept, law_of_shuffled(4, 2, 2))


def test_cyclic_batches_go_by_position():
    (only,) = visited(Cyclic(2), realisable(5, 2), 3, 5)
    assert only == ((0, 2, 4), (1, 3), (0, 2, 4), (1, 3), (0, 2, 4))


@pytest.mark.parametrize("steps", [1, 4, 6, 8])
@pytest.mark.parametrize("scheme", VISITED, ids=str)
def test_visits_are_one_entry_that_grows_and_comes_back_from_its_file(scheme, steps):
    pen = OpenLedger()
    asked = VisitGradientOracle(PROBLEM, scheme, Fraction(2), streams(3, 1), pen)
    for _ in range(steps):
        asked(np.zeros((1, 2)))
    (release,) = pen.close().releases
    z = Fraction(asked.noise_stddev) / asked.per_record_bound
    if isinstance(scheme, Shuffle):  # an epoch that is begun counts
        assert (release.mechanism(), release.count) == (Shuffled(Gaussian(z), 4), math.ceil(steps / 4))
    else:
        cyclic = MatrixMechanism(z, Toeplitz([1], steps), "fixed-order", separation=4)
        assert (release.mechanism(), release.count) == (cyclic, 1)
    assert Ledger.from_json(pen.close().to_json()) == pen.close()
    assert (pen.taken, asked.visits) == (steps, steps)


def test_truncated_samples_are_written_with_their_bound():
    pen = OpenLedger()
    asked = BatchGradientOracle(PROBLEM, Truncated("1/4", 5, 60), Fraction(2), streams(3, 1), pen)
    for _ in range(3):
        asked(np.zeros((1, 2)))
    (release,) = pen.close().releases
    assert isinstance(release, Release)
    assert (release.mechanism(), release.count) == (
        TruncatedPoisson(Gaussian(release.noise_multiplier), "1/4", 5, 60),
        3,
    )
    assert Ledger.from_json(pen.close().to_json()) == pen.close()
    assert asked.divisor == 15


SCHEMES = {"truncated": Truncated("1/4", 12, 60), **{str(scheme): scheme for scheme in VISITED}}


@pytest.mark.parametrize("name", SCHEMES)
def test_dp_sgd_on_them_step_by_step(name):
    scheme = SCHEMES[name]
    method = StochasticGradientDescent(4, 8, "1/2", scheme, output="last")
    run = method.run(PROBLEM, seed=5, repetitions=3)
    sigma, second = 4 * G / 15, G**2 * (1 + 0.75 / 15 if name == "truncated" else 1)
    eta = 0.5 / math.sqrt(8 * (second + 2 * sigma**2))
    assert run.step_size == pytest.approx(eta, rel=1e-9)
    for r, generator in enumerate(noise.streams(5, 3)):
        generator.integers(1, 8, endpoint=True)  # the walk's own: of which iterate, had it not been asked for the last
        generator.random()
        w, batch = np.zeros(2), None
        for t in range(8):
            if name == "truncated":
                rows = draw_rows(scheme, 60, generator)
            else:
                if t == 0 or (t == 4 and isinstance(scheme, Shuffle)):
                    batch = dealt(scheme, 60, generator)
                rows = np.flatnonzero(batch == t % 4)
            a = PROBLEM.features[rows]
            u = a @ w - PROBLEM.targets[rows]
            gradient = (a * (2 * u / (1 + u**2) ** 2)[:, None]).sum(axis=0) / 15
            w = w - eta * (gradient + sigma * generator.standard_normal(2))
            w *= min(1.0, 0.5 / np.linalg.norm(w))
        assert run.output[r] == pytest.approx(w, abs=1e-12)
        assert run.output_step[r] == 9
    with pytest.raises(InvalidValue, match="sampling must be"):
        method.bound(PROBLEM)


def test_the_last_iterate_has_no_bound():
    with pytest.raises(InvalidValue, match="output must be"):
        StochasticGradientDescent(4, 8, output="last").bound(PROBLEM)


def test_filters_price_a_truncated_sample_as_if_it_were_all_records():
    """By 2/z² for z = 2, as in a batch a record may displace another, or be replaced."""
    pen = BudgetedLedger(ZCDPFilter(100, relation="add-or-remove-one"))
    BatchGradientOracle(PROBLEM, Truncated("1/4", 5, 60), Fraction(2), streams(3, 1), pen)(np.zeros((1, 2)))
    assert pen.privacy_filter.spent == pytest.approx(Fraction(1, 2))


@pytest.mark.parametrize("name", SCHEMES)
def test_they_are_held_against_their_plan_under_guard(name):
    method = StochasticGradientDescent(4, 8, sampling=SCHEMES[name])
    run = method.run(PROBLEM, seed=1, repetitions=8, guarded=True)
    run.ledger.check_plan(method.planned)
    dearer = [
        StochasticGradientDescent(5, 8, sampling=SCHEMES[name]),
        StochasticGradientDescent(4, 4, sampling=SCHEMES[name]),
    ]
    other = Truncated("1/4", 13, 60) if name == "truncated" else Cyclic(5)
    for less in (*dearer, StochasticGradientDescent(4, 8, sampling=other)):
        with pytest.raises((BudgetExceeded, UnsupportedMechanism)):
            run.ledger.check_plan(less.planned)


BUGS = {
    "shuffled once": Shuffle(4),
    "only within a buffer": Shuffle(4),
    "the last records never": Shuffle(4),
    "a batch twice": Shuffle(4),
    "another order each epoch": Cyclic(4),
    "another fixed order": Cyclic(4),
    "a secret order that is none": Cyclic(4, "secret"),
    "the first of the sample": Truncated("1/4", 12, 60),
    "not cut": Truncated("1/4", 12, 60),
    "an epoch for nothing": Shuffle(4),
}


@pytest.mark.parametrize("bug", BUGS)
def test_a_guard_catches_what_is_drawn_otherwise(bug, monkeypatch):
    visits, batches = sys.modules[VisitGradientOracle.__module__], sys.modules[BatchGradientOracle.__module__]
    answer, drawn, deal = VisitGradientOracle._answer, {}, visits.dealt

    def dealt_otherwise(scheme, records, generator, kind):
        found = deal(scheme, records, generator, kind)
        match bug:
            case "shuffled once":
                return drawn.setdefault(id(generator), found)
            case "only within a buffer":  # as loaders do that read a stream
                return np.arange(records) // 15
            case "the last records never":
                return np.append(deal(scheme, records - 3, generator, kind), [-1] * 3)
            case "another fixed order":
                return found[::-1]
            case "a secret order that is none":
                return np.arange(records) % 4
        return found

    def answer_otherwise(self, X):
        if bug == "another order each epoch" and self._pen.steps % 4 == 0 and self._pen.steps:
            self._dealt[:] = [(each + 1) % 4 for each in self._dealt]
        if bug == "a batch twice" and self._pen.steps % 4 == 2:
            self._dealt[:] = [np.where(each == 2, 1, np.where(each == 1, 2, each)) for each in self._dealt]
        if bug == "an epoch for nothing":
            monkeypatch.setattr(type(self.scheme), "visited", lambda scheme, m, steps: Shuffled(m, 4) ** 1)
        return answer(self, X)

    monkeypatch.setattr(VisitGradientOracle, "_answer", answer_otherwise)
    monkeypatch.setattr(visits, "dealt", dealt_otherwise)
    if bug == "the first of the sample":
        monkeypatch.setattr(batches, "draw_rows", truncated_to_the_first)
    if bug == "not cut":
        monkeypatch.setattr(batches, "draw_rows", lambda s, n, g, kind: np.flatnonzero(g.random(n) < 0.25))
    with pytest.raises(NoiseWrong, match=r"batches|size"):
        StochasticGradientDescent(4, 16, sampling=BUGS[bug]).run(PROBLEM, seed=1, repetitions=32, guarded=True)


def test_what_has_no_account_is_refused_and_nothing_is_written():
    for scheme in VISITED:
        for pen in (BudgetedLedger(ZCDPFilter(100, relation="replace-one")), ReservedLedger()):
            with pytest.raises(UnsupportedMechanism, match="filter"):
                VisitGradientOracle(PROBLEM, scheme, Fraction(2), streams(3, 1), pen)(np.zeros((1, 2)))
            assert pen.taken == 0
            assert not pen.close().releases
        pen = OpenLedger()
        first, second = (VisitGradientOracle(PROBLEM, scheme, Fraction(2), streams(3, 1), pen) for _ in range(2))
        first(np.zeros((1, 2)))
        second(np.zeros((1, 2)))  # another draw: an entry of its own
        with pytest.raises(UnsupportedMechanism, match="one after the other"):
            first(np.zeros((1, 2)))
        assert len(pen.close().releases) == 2
        with pytest.raises(InvalidValue, match="bins"):
            VisitGradientOracle(realisable(3, 2), scheme, Fraction(2), streams(3, 1), OpenLedger())
        with pytest.raises(UnsupportedMechanism, match="add-or-remove-one"):
            StochasticGradientDescent(2, 4, sampling=scheme).run(PROBLEM, repetitions=1).ledger.spent(
                "1e-5", "add-or-remove-one"
            )
    with pytest.raises(InvalidValue, match=r"batch\.records"):
        BatchGradientOracle(PROBLEM, Truncated("1/4", 5, 61), Fraction(2), streams(3, 1), OpenLedger())
    with pytest.raises(UnsupportedMechanism, match="secure"):
        draw_rows(Truncated("1/4", 5, 60), 60, streams(3, 1)[0], "secure")
    for make, values in ((Shuffle, (0, "x")), (Cyclic, (0, 2.5))):
        for value in values:
            with pytest.raises(InvalidValue):
                make(value)
    with pytest.raises(InvalidValue, match="order"):
        Cyclic(2, "shuffled")
    for values in ((0, 5, 60), ("1/2", 0, 60), ("1/2", 5, 0)):
        with pytest.raises(InvalidValue):
            Truncated(*values)


@pytest.mark.parametrize("scheme", [Shuffle(4), Cyclic(4, "secret")], ids=str)
def test_secure_noise_takes_the_same_account(scheme):
    pytest.importorskip("opendp")
    method = StochasticGradientDescent(4, 8, sampling=scheme, noise="secure", output="last")
    run = method.run(PROBLEM, repetitions=2, guarded=True)
    run.ledger.check_plan(method.planned)
    assert run.ledger.descent is None  # a discrete Gaussian is not what the last iterate's proof is about
