"""Bins of records: drawn as accounted, written as one entry that grows, refused where there is no account."""

import itertools
import sys
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

import dpbounds as dp
from dpbounds.algorithms.descents.stochastic_gradient_descent import StochasticGradientDescent
from dpbounds.algorithms.guards.residuals import NoiseWrong
from dpbounds.algorithms.ledger import BudgetedLedger, Ledger, OpenLedger, PrivacyBudget
from dpbounds.algorithms.noise import streams
from dpbounds.algorithms.oracles import VisitGradientOracle
from dpbounds.algorithms.sampling import Bins
from dpbounds.algorithms.second_order.reserved import ReservedLedger
from dpbounds.algorithms.unreleased import opened
from dpbounds.algorithms.verification.studies.stochastic import realisable
from dpbounds.errors import BudgetExceeded, InvalidValue, UnsupportedMechanism
from dpbounds.privacy.budgets.filters import ZCDPFilter
from dpbounds.privacy.mechanisms import BallsInBins, Gaussian

PROBLEM = realisable(60, 2)
SCHEMES = (Bins(4), Bins(4, redraw=False))


def oracle(bins, pen=None, repetitions=1, problem=PROBLEM, seed=3, **options):
    pen = OpenLedger() if pen is None else pen
    return VisitGradientOracle(problem, bins, Fraction(2), streams(seed, repetitions), pen, **options)


def visits(asked, steps):
    point = np.zeros((len(asked.generators), PROBLEM.dimension))
    return [opened(asked(point).rows) for _ in range(steps)]


@pytest.mark.parametrize("bins", SCHEMES, ids=str)
def test_the_law_of_the_draws_is_the_one_that_is_accounted(bins):
    """Two records, two bins, two epochs: every sequence of visits as often as enumeration says."""
    small, runs, scheme = realisable(2, 2), 1600, Bins(2, bins.redraw)
    law = Counter()
    for thrown in itertools.product((0, 1), repeat=4 if bins.redraw else 2):
        law[thrown[:2] + thrown[-2:]] += 1
    asked = oracle(scheme, repetitions=runs, problem=small)
    rows = [opened(asked(np.zeros((runs, 2))).rows) for _ in range(4)]
    seen = Counter()
    for r in range(runs):
        places = {
            (epoch, i): place for epoch, place in itertools.product((0, 1), (0, 1)) for i in rows[2 * epoch + place][r]
        }
        assert len(places) == 4
        seen[tuple(places[epoch, i] for epoch in (0, 1) for i in (0, 1))] += 1
    assert set(seen) == set(law)
    expected = runs / len(law)
    assert all(abs(count - expected) < 6 * expected**0.5 for count in seen.values())


@pytest.mark.parametrize("steps", [1, 4, 6, 8])
@pytest.mark.parametrize("bins", SCHEMES, ids=str)
def test_visits_are_one_entry_that_grows_and_comes_back_from_its_file(bins, steps):
    pen = OpenLedger()
    asked = oracle(bins, pen)
    visits(asked, steps)
    (release,) = pen.close().releases
    written = release.mechanism()
    assert isinstance(written, BallsInBins)
    assert (written.bins, written.epochs, written.redraw) == (4, Fraction(steps, 4), bins.redraw)
    assert written.mechanism == Gaussian(Fraction(asked.noise_stddev) / asked.per_record_bound)
    assert Ledger.from_json(pen.close().to_json()) == pen.close()
    assert pen.taken == steps


def test_a_bin_is_summed_and_divided_by_a_public_number():
    asked, sizes = oracle(Bins(4)), []
    x = np.full((1, 2), 0.1)
    for _ in range(4):
        given = asked(x)
        (rows,) = opened(given.rows)
        sizes.append(len(rows))
        every = np.array([PROBLEM.batch_gradient(x, np.array([[row]]))[0] for row in rows])
        assert opened(given.exact)[0] == pytest.approx(every.sum(axis=0) / 15)
    assert sizes != [15] * 4  # so that a division by the size would show


def test_what_has_no_account_is_refused_and_nothing_is_written():
    pen = OpenLedger()
    first = oracle(Bins(4), pen)
    visits(first, 2)
    second = oracle(Bins(4), pen, seed=4)
    visits(second, 3)  # other bins: an entry of their own
    with pytest.raises(UnsupportedMechanism, match="one after the other"):
        visits(first, 1)
    pen.release(Gaussian(9))
    with pytest.raises(UnsupportedMechanism, match="one after the other"):
        visits(second, 1)
    epochs = [release.mechanism().epochs for release in pen.close().releases[:2]]
    assert epochs == [Fraction(1, 2), Fraction(3, 4)]
    assert len(pen.close().releases) == 3
    for pen in (BudgetedLedger(ZCDPFilter(100, relation="replace-one")), ReservedLedger()):
        with pytest.raises(UnsupportedMechanism, match="filter"):
            visits(oracle(Bins(4), pen), 1)
        assert pen.taken == 0
        assert not pen.close().releases
    for noise in ("ball", "sphere", "none"):
        with pytest.raises(InvalidValue, match="noise"):
            oracle(Bins(4), noise=noise)
    for fields in ((0, True), (2, "yes"), ("x", True)):
        with pytest.raises(InvalidValue):
            Bins(*fields)


@pytest.mark.parametrize("bins", SCHEMES, ids=str)
def test_dp_sgd_is_held_against_its_plan(bins):
    method = StochasticGradientDescent(4, 10, sampling=bins)
    run = method.run(PROBLEM, seed=1, repetitions=4, guarded=True)
    run.ledger.check_plan(method.planned)
    other = Bins(4, redraw=not bins.redraw)
    for less in (StochasticGradientDescent(5, 10, sampling=bins), StochasticGradientDescent(4, 10, sampling=other)):
        with pytest.raises((BudgetExceeded, UnsupportedMechanism)):
            run.ledger.check_plan(less.planned)
    with pytest.raises(InvalidValue, match="depend"):
        method.bound(PROBLEM)


BUGS = {
    "kept where fresh ones are accounted": Bins(4),
    "fresh where kept ones are accounted": Bins(4, redraw=False),
    "unequal": Bins(4),
    "in two bins": Bins(4),
    "divided by the size": Bins(4),
}


@pytest.mark.parametrize("bug", BUGS)
def test_a_guard_catches_what_is_drawn_otherwise(bug, monkeypatch):
    module = sys.modules[VisitGradientOracle.__module__]
    answer, drawn, thrown, means = VisitGradientOracle._answer, {}, module.dealt, module.batch_means

    def otherwise(self, X):
        if bug == "fresh where kept ones are accounted" and self._pen.steps % 4 == 0:
            self._dealt.clear()
        if bug == "in two bins" and self._pen.steps % 4 == 2:
            self._dealt.clear()
        return answer(self, X)

    def throw(bins, records, generator, kind):
        if bug == "kept where fresh ones are accounted":
            return drawn.setdefault(id(generator), thrown(bins, records, generator, kind))
        if bug == "unequal":
            return np.minimum(thrown(bins, records, generator, kind), 2)
        return thrown(bins, records, generator, kind)

    def by_size(problem, X, rows, by):
        found = means(problem, X, rows, by)
        return found * np.array([[float(by) / max(1, len(each))] for each in rows])

    monkeypatch.setattr(VisitGradientOracle, "_answer", otherwise)
    monkeypatch.setattr(module, "dealt", throw)
    if bug == "divided by the size":
        monkeypatch.setattr(module, "batch_means", by_size)
    with pytest.raises(NoiseWrong):
        StochasticGradientDescent(4, 16, sampling=BUGS[bug]).run(PROBLEM, seed=1, repetitions=32, guarded=True)


@pytest.mark.minutes
@pytest.mark.parametrize("relation", ["add-or-remove-one", "replace-one"])
@pytest.mark.parametrize("bins", SCHEMES, ids=str)
def test_calibrated_noise_keeps_the_budget_by_the_ledger(bins, relation):
    method = StochasticGradientDescent.calibrated(PROBLEM, 2, "1e-5", steps=10, relation=relation, sampling=bins)
    run = method.run(PROBLEM, repetitions=1)
    assert run.spent.upper > 1.9
    assert run.spent.exact_upper <= 2
    assert run.budget == PrivacyBudget.of(2, "1e-5", relation)
    read = Ledger.from_json(run.ledger.to_json())
    assert read == run.ledger
    assert dp.delta(read.mechanism(), epsilon=2, relation=relation).at_most("1e-5")  # epsilon is a tie


def test_secure_noise_takes_the_same_account():
    pytest.importorskip("opendp")
    run = StochasticGradientDescent(4, 6, sampling=Bins(4), noise="secure").run(PROBLEM, repetitions=2, guarded=True)
    (release,) = run.ledger.releases
    assert release.mechanism() == BallsInBins(Gaussian(4), 4, Fraction(3, 2), redraw=True)
