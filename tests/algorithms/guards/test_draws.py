"""Joint distributions of two draws, as a user's guard sees them: independent batches, and one batch for both points."""

import itertools
import math
import sys
from collections import defaultdict
from fractions import Fraction
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import special, stats

from dpbounds.algorithms import noise
from dpbounds.algorithms.guards.counting import Count
from dpbounds.algorithms.guards.draws import LAGS, Overlaps, Tails, tails_of
from dpbounds.algorithms.guards.guarded import examined
from dpbounds.algorithms.guards.residuals import FALSE_ALARM, NoiseWrong, Residuals
from dpbounds.algorithms.ledger import OpenLedger, PrivacyBudget
from dpbounds.algorithms.oracles import (
    BatchGradientOracle,
    CorrelatedGradientOracle,
    GradientDifferenceOracle,
    QuantileClippedOracle,
    VisitGradientOracle,
)
from dpbounds.algorithms.oracles.watching import watched_by
from dpbounds.algorithms.problems import Clipped
from dpbounds.algorithms.sampling import Allocated, Batch, Bins, Correlated, Poisson, Shuffle, Truncated
from dpbounds.algorithms.unreleased import Unreleased
from dpbounds.algorithms.verification.catalogue import example
from dpbounds.errors import BudgetExceeded
from dpbounds.privacy.mechanisms import Gaussian
from dpbounds.privacy.mechanisms.schemes.encoders import Toeplitz
from tests.algorithms.oracles.test_answers import Curved
from tests.algorithms.shared import pretend

N, P, R, CALLS = 60, 3, 16, 12


class Cut(Curved):
    """It clips each record's difference, at L = 1, where nothing is longer."""

    difference_clip = Fraction(1)

    def summed_gradients(self, x, rows):
        return self.each(x)[rows].sum(axis=0)

    def summed_differences(self, x, y, rows):
        return self.summed_gradients(x, rows) - self.summed_gradients(y, rows)


PROBLEM, CUT = Curved(N, P), Cut(N, P)
X = np.random.default_rng(1).standard_normal((R, P))
Y = X[::-1].copy()
INDEPENDENT = {
    "poisson": Poisson("1/6"),
    "cut poisson": Truncated("1/6", 12, N),
    "without replacement": Batch(8, N, replacement=False),
    "with replacement": Batch(8, N, replacement=True),
}
DEALT = {"bins": Bins(4), "sets": Allocated(4, 2), "shuffled": Shuffle(4)}
GROUPS = {"cyclic poisson": Correlated(Toeplitz([1], CALLS), 3, "cyclic-poisson", "1/3")}
KINDS = [f"batch, {name}" for name in (*INDEPENDENT, *DEALT, *GROUPS)]
KINDS += [f"{kind}, {name}" for kind in ("difference", "quantile") for name in INDEPENDENT if name != "cut poisson"]
KINDS += [f"{kind}, {name}" for kind in ("secure batch", "secure difference") for name in ("poisson",)]


def asking(kind, problem=PROBLEM, seed=5, **options):
    """A question, to be asked again and again, to an oracle of that kind that draws so."""
    what, _, scheme = kind.partition(", ")
    rest = Fraction(3), noise.streams(seed, R), OpenLedger()
    if what.startswith("secure"):
        options, what = {"noise": "secure", **options}, what.removeprefix("secure ")
    if what == "difference":
        return partial(GradientDifferenceOracle(problem, *rest, sampling=INDEPENDENT[scheme], **options), X, Y)
    if what == "quantile":
        asked = QuantileClippedOracle(Clipped(problem, "1/2"), INDEPENDENT[scheme], rest[0], Fraction(1, 10), *rest[1:])
        return partial(asked, X, np.full((R, 1), 0.3))
    if scheme in INDEPENDENT:
        return partial(BatchGradientOracle(problem, INDEPENDENT[scheme], *rest, **options), X)
    if scheme in DEALT:
        return partial(VisitGradientOracle(problem, DEALT[scheme], *rest), X)
    return partial(CorrelatedGradientOracle(problem, GROUPS[scheme], *rest), X)


def heard(kind, calls=CALLS, **options):
    """What residuals say of some calls of an oracle."""
    ask, residuals = asking(kind, **options), Residuals()
    with watched_by(residuals):
        for _ in range(calls):
            ask()
    return residuals.findings()


def wrong(found):
    return [each.name for each in found if each.probability < FALSE_ALARM / len(found)]


def module(kind):
    return sys.modules[kind.__module__]


@pytest.fixture
def plant(monkeypatch):
    """Plant a bug: every batch twice, or once every so many; or batches of one's own."""

    def planted(draw):
        of_groups, of_epochs = module(CorrelatedGradientOracle), module(VisitGradientOracle)
        monkeypatch.setattr(module(BatchGradientOracle), "_new_rows", draw(module(BatchGradientOracle)._new_rows, 2))
        monkeypatch.setattr(of_epochs, "dealt", draw(of_epochs.dealt, 2))
        monkeypatch.setattr(of_groups, "drawn", draw(of_groups.drawn, 4))

    return planted


def again(period, times=2):
    """Batches of the last so many calls come again, so many times in all; the stream is the argument at a place."""

    def planted(draw, place):
        held = defaultdict(list)

        def batch(*given):
            drawn = held[given[place], *map(str, given[1:2])]
            if len(drawn) == times * period:
                drawn.clear()
            drawn.append(draw(*given) if len(drawn) < period else drawn[len(drawn) - period])
            return drawn[-1]

        return batch

    return planted


@pytest.fixture(autouse=True)
def secure(monkeypatch):
    pretend(monkeypatch)


# --- right draws pass -------------------------------------------------------------------------------------------------


@pytest.mark.seconds_cases("batch, bins", "batch, sets")
@pytest.mark.parametrize("kind", KINDS)
def test_right_draws_pass(kind):
    found = heard(kind)
    names = [each.name for each in found]
    assert min(each.probability for each in found) > 1e-5
    assert any(name in names for name in ("batches: draws in a row", "batches: in the same bin again"))


def test_tails_are_those_of_the_gamma_distribution_and_add_up_far_out():
    tails = Tails()
    tails.add(np.full(3, 1e-5), np.full(3, 1 - 1e-5))
    assert tails.probability() == pytest.approx(2 * stats.gamma.sf(3 * 5 * math.log(10), 3))
    tails.add(np.array([0.0]), np.array([1.0]))
    assert 0 <= tails.probability() < 1e-300
    above, below = tails_of(np.array([0, 2]), stats.binom(3, 0.5), np.array([0.25, 1.0]))
    assert above == pytest.approx([7 / 8 + 1 / 32, 1 / 2])
    assert below == pytest.approx([3 / 32, 1 / 2])


@pytest.mark.parametrize("name", INDEPENDENT)
def test_tails_of_shared_records_are_uniform_whatever_came_before(name):
    drawn, generator, found = INDEPENDENT[name].sample(Gaussian(1)).one_batch, noise.streams(4, 1)[0], defaultdict(list)

    def tails(name):
        return SimpleNamespace(add=lambda above, below: found[name].extend(zip(above, below, strict=True)))

    overlaps = Overlaps(tails, generator)
    for _ in range(100):
        rows = [module(BatchGradientOracle).draw_rows(INDEPENDENT[name], N, generator) for _ in range(2)]
        overlaps.add(drawn, N, ["one", "another"], rows)
    assert len(found) == LAGS + 1
    for both in np.array(found["draws in a row"]).T:
        assert len(both) == 198
        assert stats.kstest(both, "uniform").pvalue > 1e-6


# --- bugs are found ---------------------------------------------------------------------------------------------------


@pytest.mark.seconds_cases("batch, bins", "batch, sets")
@pytest.mark.parametrize("kind", KINDS)
def test_every_batch_twice_is_found(kind, plant):
    period = 3 if kind.endswith("cyclic poisson") else 1  # there a group is drawn from at every third step
    plant(again(period))
    names = ("batches: draws in a row", "batches: in the same bin again")
    assert any(name in wrong(heard(kind, calls=2 * CALLS if period == 1 else CALLS)) for name in names)


@pytest.mark.parametrize("name", INDEPENDENT)
@pytest.mark.parametrize("period", range(2, LAGS + 1))
def test_batches_that_come_in_a_cycle_are_found(name, period, plant):
    plant(again(period))
    assert f"batches: draws {period} apart" in wrong(heard(f"batch, {name}", calls=2 * CALLS))


@pytest.mark.parametrize("name", INDEPENDENT)
def test_disjoint_batches_are_found(name, plant):
    """Shuffled passes over the records, where independent batches are accounted."""

    def passes(draw, place):
        left = defaultdict(list)

        def batch(sampling, records, generator, kind):
            size, own = len(draw(sampling, records, generator, kind)), left[generator]
            if len(own) < size:
                own[:] = generator.permutation(records).tolist()
            return np.array([own.pop() for _ in range(size)], dtype=np.int64)

        return batch

    plant(passes)
    assert "batches: draws in a row" in wrong(heard(f"batch, {name}", calls=6 * CALLS))


def test_sizes_that_come_twice_are_found(plant):
    def sized(draw, place):
        sizes = defaultdict(list)

        def batch(sampling, records, generator, kind):
            own = sizes[generator]
            size = own.pop() if own else len(draw(sampling, records, generator, kind))
            if len(own) == 0 and batch.calls % (2 * R) < R:
                own.append(size)
            batch.calls += 1
            return generator.choice(records, size, replace=False)

        batch.calls = 0
        return batch

    plant(sized)
    assert wrong(heard("batch, poisson", calls=2 * CALLS)) == ["batches: sizes: calls in a row"]


def test_batches_that_two_repetitions_share_are_found(plant):
    def shared(draw, place):
        def batch(sampling, records, generator, kind):
            batch.calls += 1
            if batch.calls % 2:
                batch.last = draw(sampling, records, generator, kind)
            return batch.last

        batch.calls = 0
        return batch

    plant(shared)
    assert "batches: repetitions" in wrong(heard("batch, without replacement"))


@pytest.mark.parametrize("kept", [Fraction(1), Fraction(3, 4)], ids=str)
@pytest.mark.parametrize("name", [name for name in INDEPENDENT if name != "cut poisson"])
@pytest.mark.parametrize("problem", [PROBLEM, CUT], ids=["plain", "cut"])
def test_another_batch_at_the_second_point_is_found(problem, name, kept, monkeypatch):
    kind = f"difference, {name}"
    assert not wrong(heard(kind, problem=problem, kept=kept))
    own, means = GradientDifferenceOracle._difference, module(GradientDifferenceOracle).batch_means

    def otherwise(self, here, before, rows):
        other, by = self._rows(), self._divisor
        return own(self, here, before, rows) + self._of(
            means(PROBLEM, before, rows, by) - means(PROBLEM, before, other, by)
        )

    monkeypatch.setattr(GradientDifferenceOracle, "_difference", otherwise)
    assert "difference: exact part" in wrong(heard(kind, problem=problem, kept=kept))


def test_the_exact_part_is_computed_again_later_and_for_other_repetitions(monkeypatch):
    """A batch that is another from the fourth answer on, in every second repetition."""
    means, calls = module(BatchGradientOracle).batch_means, []

    def otherwise(problem, at, rows, by):
        calls.append(rows)
        if len(calls) >= 4:
            rows = [each if r % 2 == 0 else calls[0][r] for r, each in enumerate(rows)]
        return means(problem, at, rows, by)

    monkeypatch.setattr(module(BatchGradientOracle), "batch_means", otherwise)
    assert "batch: exact part" in wrong(heard("batch, poisson", calls=10))


# --- one answer draws once --------------------------------------------------------------------------------------------


def counted(kind):
    ask = asking(kind)
    oracle = ask.func
    with watched_by(Count(oracle.generators, oracle.ledger)):
        return ask()


@pytest.mark.parametrize("kind", ["batch, poisson", "difference, poisson", "quantile, poisson"])
def test_every_run_counts_that_an_answer_draws_once(kind, monkeypatch):
    counted(kind)
    where = module(asking(kind).func.__class__)
    draw = where.draw_rows
    with monkeypatch.context() as planted:  # the larger of two samples
        planted.setattr(where, "draw_rows", lambda *given: max(draw(*given), draw(*given), key=len))
        with pytest.raises(BudgetExceeded, match=f"drew {2 * R} batches for {R} repetitions"):
            counted(kind)
    monkeypatch.setattr(where, "draw_rows", lambda *given: np.append(draw(*given), 0))
    with pytest.raises(BudgetExceeded, match="not use exactly the records that were drawn"):
        counted(kind)


def test_an_answer_says_which_batch_it_is_about(monkeypatch):
    module_of, answer = module(GradientDifferenceOracle), module(GradientDifferenceOracle).DifferenceAnswer
    monkeypatch.setattr(module_of, "DifferenceAnswer", lambda *given: answer(*given[:3]))
    with pytest.raises(BudgetExceeded, match="without the list of its records"):
        counted("difference, poisson")


@pytest.mark.parametrize("kind", KINDS)
def test_what_an_answer_says_of_the_records_is_unreleased(kind):
    answer = asking(kind)()
    assert isinstance(answer.exact, Unreleased)
    assert all(isinstance(each, Unreleased) for each in answer.rows)


def test_secure_noise_about_another_batch_than_the_exact_part_is_a_second_draw(monkeypatch):
    own = GradientDifferenceOracle._secured
    monkeypatch.setattr(
        GradientDifferenceOracle, "_secured", lambda self, x, y, bounds, rows: own(self, x, y, bounds, self._rows())
    )
    with pytest.raises(BudgetExceeded, match=f"drew {2 * R} batches"):
        counted("secure difference, poisson")


# --- by the commands --------------------------------------------------------------------------------------------------


def second_batch(monkeypatch):
    means = module(GradientDifferenceOracle).batch_means

    def otherwise(self, here, before, rows):
        by = self._divisor
        draw = module(BatchGradientOracle)._new_rows
        other = [draw(self.sampling, self.problem.records, each, self.noise) for each in self.generators]
        return means(self.problem, here, rows, by) - self._of(means(self.problem, before, other, by))

    monkeypatch.setattr(GradientDifferenceOracle, "_difference", otherwise)


BUGS = {"every batch twice": None, "second batch": second_batch}
EXAMPLES = [("dp-sgd-poisson", "every batch twice"), *itertools.product(["dp-storm-batches"], BUGS)]
EXAMPLES += [("training-quantile", "every batch twice"), ("clipped-gd-poisson", "every batch twice")]


@pytest.mark.seconds
@pytest.mark.parametrize(("name", "bug"), EXAMPLES)
def test_guarded_runs_and_examinations_see_them(name, bug, plant, monkeypatch):
    algorithm, problem = example(name).calibrated(PrivacyBudget.of(1, "1e-5"))
    algorithm.run(problem, seed=3, repetitions=1, guarded=True)
    plant(again(1)) if bug == "every batch twice" else BUGS[bug](monkeypatch)
    with pytest.raises(NoiseWrong):
        algorithm.run(problem, seed=3, repetitions=1, guarded=True)
    with pytest.raises(NoiseWrong):
        examined(algorithm, problem)


@pytest.mark.seconds
@pytest.mark.parametrize(
    "words",
    [("run", "dp-storm-batches", "--guarded", "--output", "out"), ("audit", "dp-storm-batches", "--runs", "100")],
    ids=["run", "audit"],
)
@pytest.mark.parametrize("bug", BUGS)
def test_the_commands_refuse_them(words, bug, plant, monkeypatch, tmp_path, capsys):
    from dpbounds.cli import main

    monkeypatch.chdir(tmp_path)
    plant(again(1)) if bug == "every batch twice" else BUGS[bug](monkeypatch)
    assert main([*words, "--epsilon", "1", "--delta", "1e-5"]) == 1
    said = capsys.readouterr().err
    assert "not as the ledger states" in said
    assert not (tmp_path / "out").exists()


def test_special_functions_of_the_sums_are_accurate_far_out():
    """SciPy's upper tail of Gamma(k, 1) against e^-x Σ x^j/j! for whole k."""
    for k, x in itertools.product((1, 5, 40), (1.0, 30.0, 300.0)):
        terms = math.fsum(math.exp(j * math.log(x) - math.lgamma(j + 1) - x) for j in range(k))
        assert special.gammaincc(k, x) == pytest.approx(terms, rel=1e-9)
