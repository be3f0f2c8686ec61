"""Oracles whose batches depend on each other, and samples that are cut: written as accounted, watched, or refused."""

import math
import sys
from fractions import Fraction

import numpy as np
import pytest

import dpbounds as dp
from dpbounds.algorithms.descents.stochastic_gradient_descent import StochasticGradientDescent
from dpbounds.algorithms.guards.residuals import NoiseWrong
from dpbounds.algorithms.ledger import BudgetedLedger, Ledger, OpenLedger, PrivacyBudget, Release
from dpbounds.algorithms.noise import streams
from dpbounds.algorithms.oracles import BatchGradientOracle, VisitGradientOracle
from dpbounds.algorithms.oracles.batches import draw_rows
from dpbounds.algorithms.oracles.visits import dealt, in_batch
from dpbounds.algorithms.sampling import Allocated, Bins, Cyclic, Shuffle, Truncated
from dpbounds.algorithms.second_order.reserved import ReservedLedger
from dpbounds.algorithms.unreleased import opened
from dpbounds.algorithms.verification.studies.stochastic import realisable
from dpbounds.errors import BudgetExceeded, InvalidValue, UnsupportedMechanism
from dpbounds.privacy.budgets.filters import ZCDPFilter
from dpbounds.privacy.mechanisms import (
    BallsInBins,
    Gaussian,
    MatrixMechanism,
    RandomlyAllocated,
    Shuffled,
    TruncatedPoisson,
)
from dpbounds.privacy.mechanisms.schemes.encoders import Toeplitz

PROBLEM = realisable(60, 2)
G = 3 * math.sqrt(3) / 8
VISITED = {
    "bins": Bins(4),
    "kept bins": Bins(4, redraw=False),
    "sets": Allocated(4, 2),
    "shuffled": Shuffle(4),
    "fixed order": Cyclic(4),
    "secret order": Cyclic(4, "secret"),
}
SCHEMES = {**VISITED, "cut": Truncated("1/4", 12, 60)}
every_visited = pytest.mark.parametrize("name", VISITED)
every_scheme = pytest.mark.parametrize("name", SCHEMES)


def oracle(scheme, pen=None, seed=3, **options):
    kind = BatchGradientOracle if isinstance(scheme, Truncated) else VisitGradientOracle
    return kind(PROBLEM, scheme, Fraction(2), streams(seed, 1), OpenLedger() if pen is None else pen, **options)


def visits(asked, steps):
    return [asked(np.full((1, 2), 0.1)) for _ in range(steps)]


def divisor(name):
    """What the sum over a batch is divided by."""
    return 30 if name == "sets" else 15


def written(name, z, steps):
    """What the ledger holds of so many answers with noise multiplier z, and how often."""
    epochs = -(-steps // 4)  # an epoch that is begun counts, but for bins
    match name:
        case "bins" | "kept bins":
            return BallsInBins(Gaussian(z), 4, Fraction(steps, 4), redraw=name == "bins"), 1
        case "sets":
            return RandomlyAllocated(Gaussian(z), 4, 2), epochs
        case "shuffled":
            return Shuffled(Gaussian(z), 4), epochs
        case "fixed order" | "secret order":
            return MatrixMechanism(z, Toeplitz([1], steps), "fixed-order", separation=4), 1
    return TruncatedPoisson(Gaussian(z), "1/4", 12, 60), steps


@every_scheme
def test_answers_are_one_entry_that_grows_and_comes_back_from_its_file(name):
    for steps in (1, 4, 6, 8):
        pen = OpenLedger()
        asked = oracle(SCHEMES[name], pen)
        visits(asked, steps)
        (release,) = pen.close().releases
        z = Fraction(asked.noise_stddev) / asked.per_record_bound
        assert (release.mechanism(), release.count) == written(name, z, steps)
        assert isinstance(release, Release) == (name == "cut")
        assert Ledger.from_json(pen.close().to_json()) == pen.close()
        assert pen.taken == steps


@every_scheme
def test_a_batch_is_summed_and_divided_by_a_public_number(name):
    asked, sizes = oracle(SCHEMES[name]), []
    assert asked.divisor == divisor(name)
    for given in visits(asked, 4):
        (rows,) = opened(given.rows)
        sizes.append(len(rows))
        each = np.array([PROBLEM.batch_gradient(np.full((1, 2), 0.1), np.array([[row]]))[0] for row in rows])
        assert opened(given.exact)[0] == pytest.approx(each.sum(axis=0) / divisor(name))
    if name in ("bins", "kept bins", "sets", "cut"):  # so that a division by the size would show
        assert sizes != [divisor(name)] * 4


@every_scheme
def test_dp_sgd_on_them_step_by_step(name):
    scheme = SCHEMES[name]
    method = StochasticGradientDescent(4, 8, "1/2", scheme, output="last")
    run = method.run(PROBLEM, seed=5, repetitions=3)
    sigma = 4 * G / divisor(name)
    spread = {"shuffled": 0, "fixed order": 0, "secret order": 0, "sets": 1 / 2}.get(name, 3 / 4)  # of batch sizes
    eta = 0.5 / math.sqrt(8 * (G**2 * (1 + spread / divisor(name)) + 2 * sigma**2))
    assert run.step_size == pytest.approx(eta, rel=1e-9)
    for r, generator in enumerate(streams(5, 3)):
        generator.integers(1, 8, endpoint=True)  # the walk's own: of which iterate, had it not been asked for the last
        generator.random()
        w, places = np.zeros(2), None
        for t in range(8):
            if name == "cut":
                rows = draw_rows(scheme, 60, generator)
            else:
                if t == 0 or (t == 4 and scheme.redraw):
                    places = dealt(scheme, 60, generator)
                rows = in_batch(places, t % 4)
            a = PROBLEM.features[rows]
            u = a @ w - PROBLEM.targets[rows]
            gradient = (a * (2 * u / (1 + u**2) ** 2)[:, None]).sum(axis=0) / divisor(name)
            w = w - eta * (gradient + sigma * generator.standard_normal(2))
            w *= min(1.0, 0.5 / np.linalg.norm(w))
        assert run.output[r] == pytest.approx(w, abs=1e-12)
        assert run.output_step[r] == 9
    with pytest.raises(InvalidValue, match=r"sampling must be|depend"):
        method.bound(PROBLEM)


def test_the_last_iterate_has_no_bound():
    with pytest.raises(InvalidValue, match="output must be"):
        StochasticGradientDescent(4, 8, output="last").bound(PROBLEM)


@every_scheme
def test_runs_keep_their_plan_under_guard_and_no_cheaper_one(name):
    method = StochasticGradientDescent(4, 8, sampling=SCHEMES[name])
    run = method.run(PROBLEM, seed=1, repetitions=4, guarded=True)
    run.ledger.check_plan(method.planned)
    other = {
        "bins": VISITED["kept bins"],
        "kept bins": VISITED["bins"],
        "sets": Allocated(4, 1),
        "cut": Truncated("1/4", 13, 60),
    }
    cheaper = (5, 8, SCHEMES[name]), (4, 4, SCHEMES[name]), (4, 8, other.get(name, Cyclic(5)))
    for multiplier, steps, scheme in cheaper:
        with pytest.raises((BudgetExceeded, UnsupportedMechanism)):
            run.ledger.check_plan(StochasticGradientDescent(multiplier, steps, sampling=scheme).planned)


def test_a_guard_lets_right_sets_pass():
    for scheme in (Allocated(4, 1), Allocated(4, 3), Allocated(4, 4), Allocated(6, 2)):
        StochasticGradientDescent(4, 18, sampling=scheme).run(PROBLEM, seed=2, repetitions=4, guarded=True)


def test_a_filter_prices_a_cut_sample_as_all_records():
    """By 2/z² for z = 2, as in a batch a record may displace another, or be replaced."""
    pen = BudgetedLedger(ZCDPFilter(100, relation="add-or-remove-one"))
    visits(oracle(SCHEMES["cut"], pen), 1)
    assert pen.privacy_filter.spent == pytest.approx(Fraction(1, 2))


# --- what is drawn otherwise ------------------------------------------------------------------------------------------


def kept_places():
    store = {}
    return lambda scheme, n, generator, kind: store.setdefault(id(generator), dealt(scheme, n, generator, kind))


def with_repetition(scheme, n, generator, kind):
    return generator.integers(0, scheme.bins, (n, scheme.participations))


def in_a_row(scheme, n, generator, kind):
    """Batches in a row, around the end: each as likely as it should be, but not each set."""
    return (generator.integers(0, scheme.bins, (n, 1)) + np.arange(scheme.participations)) % scheme.bins


def floyd_with_the_next(scheme, n, generator, kind):
    first, second = generator.integers(0, scheme.bins - 1, n), generator.integers(0, scheme.bins, n)
    return np.stack([first, np.where(second == first, (first + 1) % scheme.bins, second)], axis=1)


def of_size(k):
    return lambda scheme, n, generator, kind: dealt(Allocated(scheme.bins, k), n, generator, kind)


def cut_to_the_first(sampling, n, generator, kind):
    return np.flatnonzero(generator.random(n) < float(sampling.sample_rate))[: sampling.size]


DRAWN_OTHERWISE = {  # by a replacement of `dealt`, or of `draw_rows` for the samples that are cut
    "sets: drawn with repetition": with_repetition,
    "sets: one too few": of_size(1),
    "sets: one too many": of_size(3),
    "sets: in a row": in_a_row,
    "sets: the next where one is taken": floyd_with_the_next,
    "sets: kept": kept_places(),
    "sets: all records alike": lambda s, n, g, kind: np.repeat(dealt(s, 1, g, kind), n, axis=0),
    "bins: kept": kept_places(),
    "bins: the last never": lambda s, n, g, kind: np.minimum(dealt(s, n, g, kind), 2),
    "shuffled: once": kept_places(),
    "shuffled: within a buffer": lambda s, n, g, kind: np.arange(n) // 15,  # as loaders do that read a stream
    "shuffled: the last records never": lambda s, n, g, kind: np.append(dealt(s, n - 3, g, kind), [-1] * 3),
    "fixed order: another": lambda s, n, g, kind: dealt(s, n, g, kind)[::-1],
    "secret order: none": lambda s, n, g, kind: np.arange(n) % 4,
    "cut: to the first": cut_to_the_first,
    "cut: not at all": lambda s, n, g, kind: np.flatnonzero(g.random(n) < 0.25),
}


def anew_at(place):
    def change(asked):
        if asked._pen.steps % 4 == place:
            asked._dealt.clear()

    return change


def moved_on(asked):
    if asked._pen.steps % 4 == 0 and asked._pen.steps:
        asked._dealt[:] = [(each + 1) % 4 for each in asked._dealt]


def one_batch_twice(asked):
    if asked._pen.steps % 4 == 2:
        asked._dealt[:] = [np.where(each == 2, 1, np.where(each == 1, 2, each)) for each in asked._dealt]


CHANGED_BETWEEN_ANSWERS = {
    "sets: anew within an epoch": anew_at(2),
    "bins: anew within an epoch": anew_at(2),
    "kept bins: anew": anew_at(0),
    "shuffled: a batch twice": one_batch_twice,
    "fixed order: another each epoch": moved_on,
}


def guarded(bug):
    name = bug.partition(":")[0]
    repetitions = 32 if name in ("cut", "secret order") else 8  # sets of bins are drawn often; an order only once
    method = StochasticGradientDescent(4, 16, sampling=SCHEMES[name])
    with pytest.raises(NoiseWrong):
        method.run(PROBLEM, seed=1, repetitions=repetitions, guarded=True)


@pytest.mark.seconds
@pytest.mark.parametrize("bug", DRAWN_OTHERWISE)
def test_a_guard_finds_another_distribution(bug, monkeypatch):
    kind, name = (BatchGradientOracle, "draw_rows") if bug.startswith("cut") else (VisitGradientOracle, "dealt")
    monkeypatch.setattr(sys.modules[kind.__module__], name, DRAWN_OTHERWISE[bug])
    guarded(bug)


@pytest.mark.parametrize("bug", CHANGED_BETWEEN_ANSWERS)
def test_a_guard_finds_batches_that_change(bug, monkeypatch):
    answer = VisitGradientOracle._answer

    def otherwise(self, X):
        CHANGED_BETWEEN_ANSWERS[bug](self)
        return answer(self, X)

    monkeypatch.setattr(VisitGradientOracle, "_answer", otherwise)
    guarded(bug)


def test_a_guard_finds_a_division_by_the_size(monkeypatch):
    module = sys.modules[VisitGradientOracle.__module__]
    means = module.batch_means

    def by_size(problem, X, rows, by):
        return means(problem, X, rows, by) * np.array([[float(by) / max(1, len(each))] for each in rows])

    monkeypatch.setattr(module, "batch_means", by_size)
    guarded("bins: divided by the size")


def test_a_guard_finds_an_epoch_that_is_not_written(monkeypatch):
    monkeypatch.setattr(Shuffle, "visited", lambda scheme, mechanism, steps: Shuffled(mechanism, 4) ** 1)
    guarded("shuffled: an epoch for nothing")


# --- what is refused --------------------------------------------------------------------------------------------------


@every_visited
def test_what_has_no_account_is_refused_and_nothing_is_written(name):
    scheme = VISITED[name]
    for pen in (BudgetedLedger(ZCDPFilter(100, relation="replace-one")), ReservedLedger()):
        with pytest.raises(UnsupportedMechanism, match="filter"):
            visits(oracle(scheme, pen), 1)
        assert pen.taken == 0
        assert not pen.close().releases
    pen = OpenLedger()
    first, second = oracle(scheme, pen), oracle(scheme, pen, seed=4)
    visits(first, 2)
    visits(second, 3)  # another draw: an entry of its own
    with pytest.raises(UnsupportedMechanism, match="one after the other"):
        visits(first, 1)
    pen.release(Gaussian(9))
    with pytest.raises(UnsupportedMechanism, match="one after the other"):
        visits(second, 1)
    z = Fraction(first.noise_stddev) / first.per_record_bound
    expected = [*(written(name, z, steps) for steps in (2, 3)), (Gaussian(9), 1)]
    assert [(release.mechanism(), release.count) for release in pen.close().releases] == expected
    for noise in ("ball", "sphere", "none"):
        with pytest.raises(InvalidValue, match="noise"):
            oracle(scheme, noise=noise)


@pytest.mark.parametrize("name", ["shuffled", "fixed order", "secret order"])
def test_batches_of_one_size_have_no_account_where_records_come_and_go(name):
    run = StochasticGradientDescent(2, 4, sampling=VISITED[name]).run(PROBLEM, repetitions=1)
    with pytest.raises(UnsupportedMechanism, match="add-or-remove-one"):
        run.ledger.spent("1e-5", "add-or-remove-one")
    with pytest.raises(InvalidValue, match="bins"):  # nor have batches without a record
        VisitGradientOracle(realisable(3, 2), VISITED[name], Fraction(2), streams(3, 1), OpenLedger())


@pytest.mark.parametrize(
    ("make", "values"),
    [
        *((Bins, values) for values in ((0, True), (2, "yes"), ("x", True))),
        *((Allocated, values) for values in ((0, 1), (4, 0), (4, 5), ("x", 1))),
        *((Shuffle, values) for values in ((0,), ("x",))),
        *((Cyclic, values) for values in ((0,), (2.5,), (2, "shuffled"))),
        *((Truncated, values) for values in ((0, 5, 60), ("1/2", 0, 60), ("1/2", 5, 0))),
        (lambda *cut: oracle(Truncated(*cut)), ("1/4", 5, 61)),  # of other records than the problem's
    ],
)
def test_schemes_that_are_none_are_refused(make, values):
    with pytest.raises(InvalidValue):
        make(*values)


@every_visited
def test_secure_noise_takes_the_same_account(name):
    pytest.importorskip("opendp")
    method = StochasticGradientDescent(4, 6, sampling=VISITED[name], noise="secure", output="last")
    run = method.run(PROBLEM, repetitions=2, guarded=True)
    run.ledger.check_plan(method.planned)
    (release,) = run.ledger.releases
    assert (release.mechanism(), release.count) == written(name, Fraction(4), 6)
    assert run.ledger.descent is None  # a discrete Gaussian is not what the last iterate's proof is about


@pytest.mark.minutes
@pytest.mark.parametrize("relation", ["add-or-remove-one", "replace-one"])
@pytest.mark.parametrize("name", ["bins", "kept bins", "sets"])
def test_calibrated_noise_keeps_the_budget_by_the_ledger(name, relation):
    method = StochasticGradientDescent.calibrated(
        PROBLEM, 2, "1e-5", steps=8, relation=relation, sampling=SCHEMES[name]
    )
    run = method.run(PROBLEM, repetitions=1)
    assert run.spent.upper > 1.9
    assert run.spent.exact_upper <= 2
    assert run.budget == PrivacyBudget.of(2, "1e-5", relation)
    read = Ledger.from_json(run.ledger.to_json())
    assert read == run.ledger
    assert dp.delta(read.mechanism(), epsilon=2, relation=relation).at_most("1e-5")  # epsilon is a tie
