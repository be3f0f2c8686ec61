"""Records in K of the m batches of an epoch: drawn as accounted, watched, and one entry that grows by epochs."""

import itertools
import math
import sys
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import dpbounds as dp
from dpbounds.algorithms.descents.stochastic_gradient_descent import StochasticGradientDescent
from dpbounds.algorithms.guards.residuals import NoiseWrong
from dpbounds.algorithms.ledger import BudgetedLedger, Ledger, OpenLedger, PrivacyBudget
from dpbounds.algorithms.noise import streams
from dpbounds.algorithms.oracles import VisitGradientOracle
from dpbounds.algorithms.oracles.visits import dealt, in_batch
from dpbounds.algorithms.sampling import Allocated, Bins
from dpbounds.algorithms.unreleased import opened
from dpbounds.algorithms.verification.studies.stochastic import realisable
from dpbounds.errors import BudgetExceeded, InvalidValue, UnsupportedMechanism
from dpbounds.privacy.budgets.filters import ZCDPFilter
from dpbounds.privacy.mechanisms import Gaussian, RandomlyAllocated

PROBLEM = realisable(60, 2)
SCHEME = Allocated(4, 2)
ALARM = 1e-9  # how often a test of a law, whose seed is fixed, would have been unlucky in its seed


def oracle(scheme=SCHEME, pen=None, repetitions=1, problem=PROBLEM, seed=3, **options):
    pen = OpenLedger() if pen is None else pen
    return VisitGradientOracle(problem, scheme, Fraction(2), streams(seed, repetitions), pen, **options)


def visits(asked, steps):
    point = np.zeros((len(asked.generators), asked.problem.dimension))
    return [opened(asked(point).rows) for _ in range(steps)]


def uniform(seen, outcomes):
    """Counts of outcomes that are equally likely: none that cannot be, and chi-square."""
    assert set(seen) <= set(outcomes)
    if len(outcomes) == 1:
        return True
    expected = sum(seen.values()) / len(outcomes)
    assert expected >= 5
    statistic = sum((seen[each] - expected) ** 2 / expected for each in outcomes)
    return bool(stats.chi2.sf(statistic, len(outcomes) - 1) > ALARM)


def drawn_with_repetition(scheme, records, generator, kind):
    return generator.integers(0, scheme.bins, (records, scheme.participations))


def one_batch_too_few(scheme, records, generator, kind):
    return dealt(Allocated(scheme.bins, scheme.participations - 1), records, generator, kind)


def one_batch_too_many(scheme, records, generator, kind):
    return dealt(Allocated(scheme.bins, scheme.participations + 1), records, generator, kind)


def neighbours(scheme, records, generator, kind):
    """Batches in a row, around the end: each as likely as it should be, but not each set."""
    first = generator.integers(0, scheme.bins, (records, 1))
    return (first + np.arange(scheme.participations)) % scheme.bins


def of_floyd_without_the_last(scheme, records, generator, kind):
    """Where a number is taken, the next one is, and not the last that is allowed."""
    first = generator.integers(0, scheme.bins - 1, records)
    second = generator.integers(0, scheme.bins, records)
    return np.stack([first, np.where(second == first, (first + 1) % scheme.bins, second)], axis=1)


def kept(scheme, records, generator, kind, store={}):  # noqa: B006  # what is kept is kept
    return store.setdefault(id(generator), (generator, dealt(scheme, records, generator, kind)))[1]


def alike(scheme, records, generator, kind):
    """All records in the same batches."""
    return np.repeat(dealt(scheme, 1, generator, kind), records, axis=0)


BUGS = (
    *(drawn_with_repetition, one_batch_too_few, one_batch_too_many),
    *(neighbours, of_floyd_without_the_last, kept, alike),
)


def sets(places):
    return tuple(tuple(sorted(set(row))) for row in places.tolist())


@pytest.mark.parametrize(("m", "k", "records"), [(4, 2, 2), (5, 3, 1), (3, 1, 3), (5, 4, 2), (3, 3, 2), (7, 2, 1)])
@pytest.mark.parametrize("kind", ["gaussian", "secure"])
def test_sets_of_batches_are_drawn_uniformly_and_independently(m, k, records, kind):
    outcomes = list(itertools.product(itertools.combinations(range(m), k), repeat=records))
    (generator,) = streams(5, 1)
    places = dealt(Allocated(m, k), 600 * records, generator, kind)
    assert places.shape == (600 * records, k)
    assert all(len(set(row)) == k for row in places.tolist())
    assert uniform(Counter(map(sets, places.reshape(600, records, k))), outcomes)


@pytest.mark.parametrize("bug", [bug for bug in BUGS if bug is not kept], ids=lambda bug: bug.__name__)
def test_another_law_is_told_from_it(bug):
    outcomes = list(itertools.product(itertools.combinations(range(4), 2), repeat=2))
    (generator,) = streams(5, 1)
    seen = Counter(sets(bug(SCHEME, 2, generator, "gaussian")) for _ in range(1500))
    assert not set(seen) <= set(outcomes) or not uniform(seen, outcomes)


def test_answers_are_about_the_batches_that_were_drawn():
    """One record, two epochs of 2 of 3 batches: every sequence of visits as often as enumeration says."""
    runs, pairs = 1500, list(itertools.combinations(range(3), 2))
    asked = oracle(Allocated(3, 2), repetitions=runs, problem=realisable(2, 2))
    rows = visits(asked, 6)
    seen = Counter(
        tuple(tuple(j for j in range(3) if 0 in rows[3 * epoch + j][r]) for epoch in (0, 1)) for r in range(runs)
    )
    assert uniform(seen, list(itertools.product(pairs, repeat=2)))


def test_a_batch_is_summed_and_divided_by_a_public_number():
    asked, sizes = oracle(), []
    x = np.full((1, 2), 0.1)
    assert asked.divisor == 30
    for _ in range(4):
        given = asked(x)
        (rows,) = opened(given.rows)
        sizes.append(len(rows))
        every = np.array([PROBLEM.batch_gradient(x, np.array([[row]]))[0] for row in rows])
        assert opened(given.exact)[0] == pytest.approx(every.sum(axis=0) / 30)
    assert sum(sizes) == 120
    assert sizes != [30] * 4  # so that a division by the size would show


@pytest.mark.parametrize("steps", [1, 4, 6, 8])
def test_visits_are_one_entry_that_grows_by_epochs_and_comes_back_from_its_file(steps):
    pen = OpenLedger()
    asked = oracle(pen=pen)
    visits(asked, steps)
    (release,) = pen.close().releases
    epoch = RandomlyAllocated(Gaussian(Fraction(asked.noise_stddev) / asked.per_record_bound), 4, 2)
    assert (release.mechanism(), release.count) == (epoch, -(-steps // 4))
    assert Ledger.from_json(pen.close().to_json()) == pen.close()
    assert pen.taken == steps


def test_dp_sgd_steps_over_the_batches_as_the_pseudo_code_says():
    run = StochasticGradientDescent(4, 8, "1/2", SCHEME, output="last").run(PROBLEM, seed=5, repetitions=3)
    reach = 3 * math.sqrt(3) / 8  # G; the sum over a batch is divided by 60 * 2/4
    sigma = 4 * reach / 30
    eta = 0.5 / math.sqrt(8 * (reach**2 * (1 + 0.5 / 30) + 2 * sigma**2))
    assert run.step_size == pytest.approx(eta, rel=1e-9)
    for r, generator in enumerate(streams(5, 3)):
        generator.integers(1, 8, endpoint=True)  # the walk's own: of which iterate, had it not been asked for the last
        generator.random()
        w, places = np.zeros(2), None
        for t in range(8):
            places = dealt(SCHEME, 60, generator) if t % 4 == 0 else places
            rows = [i for i in range(60) if t % 4 in places[i]]
            a = PROBLEM.features[rows]
            u = a @ w - PROBLEM.targets[rows]
            gradient = (a * (2 * u / (1 + u**2) ** 2)[:, None]).sum(axis=0) / 30
            w = w - eta * (gradient + sigma * generator.standard_normal(2))
            w *= min(1.0, 0.5 / np.linalg.norm(w))
        assert run.output[r] == pytest.approx(w, abs=1e-12)


def test_what_has_no_account_is_refused():
    for fields in ((0, 1), (4, 0), (4, 5), ("x", 1)):
        with pytest.raises(InvalidValue):
            Allocated(*fields)
    with pytest.raises(InvalidValue, match="noise"):
        oracle(noise="ball")
    pen = BudgetedLedger(ZCDPFilter(100, relation="replace-one"))
    with pytest.raises(UnsupportedMechanism, match="filter"):
        visits(oracle(pen=pen), 1)
    assert not pen.close().releases
    pen = OpenLedger()
    first, second = oracle(pen=pen), oracle(pen=pen, seed=4)
    visits(first, 2)
    visits(second, 5)  # another draw: an entry of its own
    with pytest.raises(UnsupportedMechanism, match="one after the other"):
        visits(first, 1)


def test_dp_sgd_is_held_against_its_plan_under_guard():
    method = StochasticGradientDescent(4, 10, sampling=SCHEME)
    run = method.run(PROBLEM, seed=1, repetitions=4, guarded=True)
    run.ledger.check_plan(method.planned)
    for less in (
        StochasticGradientDescent(5, 10, sampling=SCHEME),  # less noise than planned
        StochasticGradientDescent(4, 8, sampling=SCHEME),  # another epoch than planned
        StochasticGradientDescent(4, 10, sampling=Allocated(4, 1)),
        StochasticGradientDescent(4, 10, sampling=Bins(4)),
    ):
        with pytest.raises((BudgetExceeded, UnsupportedMechanism)):
            run.ledger.check_plan(less.planned)
    with pytest.raises(InvalidValue, match="depend"):
        method.bound(PROBLEM)


@pytest.mark.parametrize("scheme", [Allocated(4, 1), Allocated(4, 3), Allocated(4, 4), Allocated(6, 2)], ids=str)
def test_a_guard_lets_right_draws_pass(scheme):
    StochasticGradientDescent(4, 18, sampling=scheme).run(PROBLEM, seed=2, repetitions=4, guarded=True)


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.__name__)
def test_a_guard_catches_what_is_drawn_otherwise(bug, monkeypatch):
    monkeypatch.setattr(sys.modules[VisitGradientOracle.__module__], "dealt", bug)
    with pytest.raises(NoiseWrong, match="batches"):
        StochasticGradientDescent(4, 16, sampling=SCHEME).run(PROBLEM, seed=1, repetitions=4, guarded=True)


def test_a_guard_catches_sets_that_are_drawn_anew_within_an_epoch(monkeypatch):
    answer = VisitGradientOracle._answer

    def otherwise(self, X):
        if self._pen.steps % 4 == 2:
            self._dealt.clear()
        return answer(self, X)

    monkeypatch.setattr(VisitGradientOracle, "_answer", otherwise)
    with pytest.raises(NoiseWrong, match="batches"):
        StochasticGradientDescent(4, 16, sampling=SCHEME).run(PROBLEM, seed=1, repetitions=2, guarded=True)


def test_secure_noise_takes_the_same_account():
    pytest.importorskip("opendp")
    run = StochasticGradientDescent(4, 6, sampling=SCHEME, noise="secure").run(PROBLEM, repetitions=2, guarded=True)
    (release,) = run.ledger.releases
    assert (release.mechanism(), release.count) == (RandomlyAllocated(Gaussian(4), 4, 2), 2)


def test_a_record_is_in_a_batch_once():
    assert in_batch(np.array([[0, 0], [1, 2], [2, 0]]), 0).tolist() == [0, 2]


@pytest.mark.minutes
@pytest.mark.parametrize("relation", ["add-or-remove-one", "replace-one", "zero-out-one"])
def test_calibrated_noise_keeps_the_budget_by_the_ledger(relation):
    method = StochasticGradientDescent.calibrated(PROBLEM, 2, "1e-5", steps=8, relation=relation, sampling=SCHEME)
    run = method.run(PROBLEM, repetitions=1)
    assert run.spent.upper > 1.9
    assert run.spent.exact_upper <= 2
    assert run.budget == PrivacyBudget.of(2, "1e-5", relation)
    read = Ledger.from_json(run.ledger.to_json())
    assert read == run.ledger
    assert dp.delta(read.mechanism(), epsilon=2, relation=relation).at_most("1e-5")
