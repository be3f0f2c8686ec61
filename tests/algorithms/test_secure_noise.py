"""Secure noise: each step of its proof against direct sums, exactness of the sums, and what OpenDP draws."""

import importlib.util
import math
import sys
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import sympy
from scipy import stats

from dpbounds.algorithms import noise, problems, secure_noise
from dpbounds.algorithms.ledger import OpenLedger
from dpbounds.algorithms.oracles import (
    BatchGradientOracle,
    GradientDifferenceOracle,
    GradientOracle,
    HessianOracle,
    as_vectors,
    choice,
)
from dpbounds.algorithms.oracles.secured import secured_choice
from dpbounds.algorithms.problems.finite_sum import record_gradients
from dpbounds.algorithms.sampling import Batch, Poisson
from dpbounds.algorithms.spider.population_stochastic_spider import Block, OnBlock
from dpbounds.algorithms.unreleased import opened
from dpbounds.errors import BudgetExceeded, InvalidValue
from dpbounds.privacy.mechanisms import Gaussian
from dpbounds.privacy.relations import Relation
from tests.algorithms.shared import pretend

installed = pytest.mark.skipif(importlib.util.find_spec("opendp") is None, reason="the extra 'secure' is missing")
NEVER = 1e-10  # OpenDP has no seed: how often a right sampler may fail a test


# --- the proof -------------------------------------------------------------------------------------------------------


def test_the_constants_leave_room_for_every_dimension_and_shift():
    eta = mpmath.mpf(2) ** 60 * 9 * mpmath.exp(-2 * mpmath.pi**2 * secure_noise._SMOOTHING**2)
    worst, kappa = secure_noise._LARGEST_SHIFT, mpmath.mpf(2) ** -60
    assert Fraction(1, 2**60) == secure_noise._MORE
    assert kappa * mpmath.mpf(2) ** -60 >= 8 * eta * mpmath.exp(mpmath.mpf(worst) ** 2 / 8 + 1)
    assert kappa * mpmath.mpf(2) ** -113 >= 12 * eta * mpmath.exp(mpmath.mpf(worst) ** 2 / 2)


@pytest.mark.parametrize("multiplier", [Fraction(1, 128), Fraction(1), Fraction(10, 3), Fraction(65536)])
@pytest.mark.parametrize("most", [1, 2**24 + 1, 2**37])
def test_the_scale_is_that_of_the_proof_rounded_up(multiplier, most):
    scale = Fraction(secure_noise.scale_of(multiplier, most))
    wanted = ((1 + Fraction(1, 2**60)) * multiplier * most) ** 2 + 64**2
    assert wanted <= scale**2 <= wanted * (1 + Fraction(1, 2**50))


# --- sums of whole numbers -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bound", [Fraction(1), Fraction(1, 3), Fraction(10) ** 40, Fraction(1, 10**250)])
@pytest.mark.parametrize("dimension", [1, 2, 100, 10_001])
def test_the_grid_is_fine_and_no_finer_than_it_need_be(bound, dimension):
    k, most = secure_noise.grid(bound, dimension)
    h = Fraction(2) ** k
    assert dimension * h**2 <= (bound / 2**24) ** 2 < dimension * (2 * h) ** 2
    assert (most - bound / h) ** 2 >= dimension
    assert most * h <= bound * (1 + Fraction(1, 2**22))


@pytest.mark.parametrize("dimension", [1, 3, 50])
def test_a_sum_is_exact_and_the_same_in_any_order(dimension):
    rng, bound = np.random.default_rng(dimension), Fraction(1, 4)
    parts = rng.standard_normal((400, dimension)) * rng.exponential(1, (400, 1)) ** 6  # of very different sizes
    parts *= np.minimum(1, 0.25 / np.linalg.norm(parts, axis=1))[:, None]
    k, most = secure_noise.grid(bound, dimension)
    total = secure_noise.whole_sum([parts], k, most)
    h = Fraction(2) ** k
    assert total.tolist() == [sum(round(Fraction(float(v)) / h) for v in column) for column in parts.T]
    shuffled = rng.permutation(parts)
    assert (secure_noise.whole_sum(np.array_split(shuffled, 7), k, most) == total).all()


@pytest.mark.parametrize("factor", [0.3, 1.0, 1 + 1e-7, 3.0, 1e300])
@pytest.mark.parametrize("dimension", [1, 2, 40])
def test_no_record_moves_a_sum_by_more_than_is_allowed_whatever_the_problem_claims(factor, dimension):
    rng, bound = np.random.default_rng(7), Fraction(1)
    k, most = secure_noise.grid(bound, dimension)
    others = rng.standard_normal((20, dimension))
    for _ in range(30):
        one, two = rng.standard_normal((2, dimension))
        one, two = (v / np.linalg.norm(v) * factor for v in (one, two))
        sums = [
            secure_noise.whole_sum([rows], k, most)
            for rows in (others, np.vstack([others, one]), np.vstack([others, two]))
        ]
        added, replaced = (sum(int(v) ** 2 for v in sums[1] - sums[i]) for i in (0, 2))
        assert added <= most**2
        assert replaced <= (2 * most) ** 2
        assert factor < 1 or added >= (most * (1 - 2.0**-20)) ** 2  # and no shorter than it has to be


def test_what_cannot_be_added_is_refused():
    for wrong in (math.nan, math.inf):
        with pytest.raises(InvalidValue, match="not finite"):
            secure_noise.whole_sum([np.array([[wrong, 0.0]])], -24, 2**25)
    with pytest.raises(InvalidValue, match="records"):
        secure_noise.whole_sum([np.zeros((3, 2))], 0, 2**61)
    with pytest.raises(InvalidValue, match="records"):
        secure_noise.whole_sum([], 0, 1)
    with pytest.raises(InvalidValue, match="answer"):
        secure_noise.whole(np.array([1e30]), 0)


class Careless:
    """A sum in single precision, one record after the other: what is wrong with it is there at few records already."""

    lipschitz, smoothness, hessian_lipschitz, dimension = sympy.Rational(1, 4), sympy.Integer(1), sympy.Integer(1), 1

    def __init__(self, slopes):
        self.slopes, self.records = slopes, len(slopes)

    def objective_and_gradient(self, X):
        total = np.float32(0)
        for slope in self.slopes.astype(np.float32):
            total += slope
        return np.zeros(len(X)), np.full(X.shape, float(total) / self.records)

    def batch_gradient(self, X, rows):
        return self.slopes[rows].mean(axis=1, keepdims=True) + 0 * X


def test_the_attack_on_running_sums_has_nothing_to_work_on(monkeypatch):
    """Casacuberta et al. 2022: small records change a sum below a power of two, and not one above it."""
    monkeypatch.setattr(secure_noise, "library", lambda: None)
    monkeypatch.setattr(secure_noise, "_sampler", lambda scale, dimension: lambda row: row)  # no noise: the sums
    half = 2048
    slopes = np.full(2 * half, 0.25)
    slopes[half + 1 :] = -(2.0**-15)  # in single precision half a unit in the last place above 512, and one below
    other = slopes.copy()
    other[0] = -0.25
    computed, noisy = [], []
    for each in (slopes, other):
        problem = Careless(each)
        computed.append(problem.objective_and_gradient(np.zeros((1, 1)))[1][0, 0])
        oracle = GradientOracle(problem, Fraction(1), noise.streams(0, 1), Uncounted(), noise="secure")
        noisy.append(oracle(np.zeros((1, 1))).noisy[0, 0])
    allowed = 2 * (Fraction(1, 4) + Fraction(1, 2**24)) / len(slopes)
    assert abs(computed[0] - computed[1]) > 1.01 * allowed  # what a float sum does
    assert abs(Fraction(noisy[0]) - Fraction(noisy[1])) <= allowed


class Uncounted(OpenLedger):
    """For samplers without noise."""

    def added(self, *_):
        pass

    waited = added


@pytest.mark.parametrize("gumbel", [True, False])
def test_a_choice_is_among_sums_of_which_a_record_moves_every_entry_by_no_more_than_is_allowed(gumbel, monkeypatch):
    asked, best = pretend(monkeypatch), np.array([5, 2**40, 7])
    pen, bound = OpenLedger(), Fraction(1, 3)
    chosen = secured_choice(
        lambda r: iter([np.full((2, 3), 7.0), np.array([[1e300, -0.1, 0.1]])]),
        2,
        bound=bound,
        public=np.array([0.0, 5.0, 0.0]),
        epsilon=Fraction(1, 2),
        relation=Relation.REPLACE_ONE,
        method="exponential" if gumbel else "noisy-max",
        ledger=pen,
    )
    k, most = secure_noise.grid(bound, 1)
    for scale, _ in asked:
        assert Fraction(scale) >= 2 * 2 * most / Fraction(1, 2) * (1 - Fraction(1, 2**60))
    assert chosen.shape == (2,)
    (release,) = pen.close().releases
    assert release.described == choice(Fraction(1, 2), Relation.REPLACE_ONE, "exponential" if gumbel else "noisy-max")
    kept = secure_noise.whole_sum([np.array([[1e300, -0.1, -9.0]])], k, most, entries=True)
    assert kept.tolist() == [most, round(-0.1 / 2.0**k), -most]
    monkeypatch.setattr(secure_noise, "_chooser", lambda scale: lambda scores: int(np.argmax(scores)))
    monkeypatch.setattr(secure_noise, "_laplace", lambda scale, dimension: lambda scores: scores)
    rest = {"factor": 2, "epsilon": Fraction(1), "ledger": Uncounted()}
    assert secure_noise.choice(best, most, gumbel=gumbel, **rest) == 1
    with pytest.raises(InvalidValue, match="epsilon"):
        secure_noise.choice(best, most, gumbel=gumbel, **{**rest, "epsilon": Fraction(1, 10**20)})


# --- oracles ---------------------------------------------------------------------------------------------------------


def smooth(records=50, dimension=3):
    rows = np.random.default_rng(1).standard_normal((records, dimension)) / 3
    return problems.sigmoid_loss(rows, np.ones(records), l1=0)


PROBLEM = smooth()
KINDS = {
    "full": lambda *rest: GradientOracle(PROBLEM, *rest, noise="secure"),
    "poisson": lambda *rest: BatchGradientOracle(PROBLEM, Poisson("0.3"), *rest, noise="secure"),
    "batch": lambda *rest: BatchGradientOracle(PROBLEM, Batch(7, 50, False), *rest, noise="secure"),
    "difference": lambda *rest: GradientDifferenceOracle(PROBLEM, *rest, noise="secure"),
    "difference kept": lambda *rest: GradientDifferenceOracle(PROBLEM, *rest, noise="secure", kept=Fraction(3, 4)),
    "difference batch": lambda *rest: GradientDifferenceOracle(
        PROBLEM, *rest, noise="secure", sampling=Batch(7, 50, False)
    ),
    "hessian": lambda *rest: HessianOracle(PROBLEM, *rest, 1, noise="secure"),
}
LEDGER = {
    "poisson": Poisson("0.3").sample(Gaussian(3)),
    "batch": Batch(7, 50, False).sample(Gaussian(3)),
    "difference batch": Batch(7, 50, False).sample(Gaussian(3)),
}


@pytest.mark.parametrize("kind", KINDS)
def test_an_oracle_answers_around_the_exact_value_and_writes_the_gaussian_that_dominates(kind, monkeypatch):
    asked, pen = pretend(monkeypatch), OpenLedger()
    repetitions = 300
    rng = np.random.default_rng(2)
    points = [rng.standard_normal((repetitions, 3)) for _ in range(1 + ("difference" in kind))]
    answer = KINDS[kind](Fraction(3), noise.streams(0, repetitions), pen)(*points)
    (release,) = pen.close().releases
    assert release.described == LEDGER.get(kind, Gaussian(3))
    left = (answer.noisy - opened(answer.exact)).reshape(repetitions, -1)
    bounds = {"full": 0.25 / 50, "poisson": 0.25 / 15, "batch": 0.25 / 7, "hessian": math.sqrt(3) / 18 / 50}
    stddev = np.full(repetitions, 3 * bounds[kind]) if kind in bounds else answer.noise_stddev
    left = as_vectors(left.reshape(-1, 3, 3)) if kind == "hessian" else left
    assert stats.kstest((left / stddev[:, None]).ravel(), "norm").pvalue > 1e-3
    assert len({dimension for _, dimension in asked}) == 1
    assert all(scale > 3 * 2**24 for scale, _ in asked)


def test_a_part_of_a_problem_is_summed_over_its_own_records(monkeypatch):
    pretend(monkeypatch)
    rows = np.array([[3, 7, 11, 40], [49, 0, 2, 5]])
    block, X = Block(PROBLEM, 4, rows), np.array([[0.1, 0.2, 0.3], [1.0, -1.0, 0.5]])
    oracle = GradientOracle(block, Fraction(1, 100), noise.streams(0, 2), OpenLedger(), "secure", OnBlock(block))
    assert oracle(X).noisy == pytest.approx(PROBLEM.batch_gradient(X, rows), abs=0.25 / 4 / 10)
    assert np.abs(PROBLEM.batch_gradient(X, rows) - PROBLEM.gradient(X)).max() > 0.25 / 4 / 5


def test_a_difference_at_one_point_is_zero_and_gets_no_noise(monkeypatch):
    assert pretend(monkeypatch) == []
    X = np.ones((2, 3))
    answer = KINDS["difference"](Fraction(3), noise.streams(0, 2), pen := OpenLedger())(X, X)
    assert not answer.noisy.any()
    assert pen.close().releases


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_written_where_nothing_can_be_drawn(kind, monkeypatch):
    pen, X = OpenLedger(), np.zeros((1, 3))
    points = (X, X + 1) if "difference" in kind else (X,)
    for multiplier, message in ((Fraction(1, 200), "noise_multiplier"), (Fraction(10**6), "noise_multiplier")):
        with pytest.raises(InvalidValue, match=message):
            KINDS[kind](multiplier, noise.streams(0, 1), pen)(*points)
    monkeypatch.setitem(sys.modules, "opendp.prelude", None)
    with pytest.raises(secure_noise.MissingSampler, match=r"dpbounds\[secure\]"):
        KINDS[kind](Fraction(3), noise.streams(0, 1), pen)(*points)
    assert pen.close().releases == ()


@pytest.mark.seconds
def test_too_little_noise_is_found(monkeypatch):
    pretend(monkeypatch)
    real = secure_noise.scale_of
    monkeypatch.setattr(secure_noise, "scale_of", lambda *args: 0.9 * real(*args))
    pen = OpenLedger()
    KINDS["full"](Fraction(3), noise.streams(0, 1000), pen)(np.zeros((1000, 3)))
    with pytest.raises(BudgetExceeded, match="less noise"):
        pen.close()


@pytest.mark.parametrize(
    "problem",
    [
        PROBLEM,
        problems.geman_mcclure(PROBLEM.signed_features, np.linspace(-1, 1, 50)),
        problems.landscape(problems.WAVY, 50, [1.0, 0.5, 0.2], 3),
    ],
    ids=lambda problem: type(problem).__name__,
)
def test_the_parts_of_a_sum_are_records_gradients_with_the_same_bits_wherever_they_stand(problem):
    x = np.array([0.3, -0.2, 0.7])
    everyone = np.arange(problem.records)
    parts = record_gradients(problem, x, everyone)
    assert parts.mean(axis=0) == pytest.approx(problem.gradient(x[None])[0], rel=1e-12, abs=1e-15)
    losses = problem.record_losses(np.array([x, 2 * x]), everyone)
    assert losses.mean(axis=0) == pytest.approx(problem.objective_at(np.array([x, 2 * x])), rel=1e-12)
    assert (problem.record_losses(np.array([x, 2 * x]), everyone[9:]) == losses[9:]).all()
    for rows in (everyone[::-1], everyone[1:], np.repeat(everyone, 3), everyone[17:18]):
        assert (record_gradients(problem, x, rows) == parts[rows]).all()


# --- what is drawn from the operating system -------------------------------------------------------------------------


@installed
@pytest.mark.parametrize("scale", [0.8, 5.0])
def test_opendp_draws_the_discrete_gaussian(scale):
    drawn = np.array(secure_noise._sampler(scale, 4000)([3] * 4000)) - 3
    reach = round(3 * scale)
    x = np.arange(-60, 61)
    mass = np.exp(-(x**2) / (2 * scale**2))
    inside = mass[np.abs(x) <= reach] / mass.sum()
    seen = [(drawn == k).sum() for k in range(-reach, reach + 1)]
    expected = 4000 * np.append(inside, 1 - inside.sum())
    assert stats.chisquare([*seen, 4000 - sum(seen)], expected).pvalue > NEVER


@installed
def test_opendp_draws_at_the_scale_of_a_run_and_never_the_same():
    totals, (k, most) = [np.zeros(500, np.int64)] * 2, secure_noise.grid(Fraction(1, 4), 500)
    noisy = secure_noise.gaussian(totals, [most] * 2, [k] * 2, noise_multiplier=Fraction(2), ledger=OpenLedger())
    assert stats.kstest(noisy.ravel() / 0.5, "norm").pvalue > NEVER
    assert (noisy[0] != noisy[1]).mean() > 0.99


@pytest.mark.seconds
@installed
@pytest.mark.parametrize("gumbel", [True, False])
def test_opendp_chooses_by_the_law_of_the_proof(gumbel):
    scores, draws = np.array([0, 3, 5]), 6000  # exponential noise in place of Gumbel noise fails but once in 1e10
    rest = {"factor": 1, "epsilon": Fraction(2), "gumbel": gumbel, "ledger": Uncounted()}  # b = 4 for M = 4
    seen = np.bincount([secure_noise.choice(scores, 4, **rest) for _ in range(draws)], minlength=3)
    if gumbel:
        law = np.exp(scores / 4) / np.exp(scores / 4).sum()
    else:  # discrete Laplace, by summing; the first of equals is chosen
        k = np.arange(-150, 151)
        mass = np.exp(-np.abs(k) / 4) / np.exp(-np.abs(k) / 4).sum()
        below = np.concatenate([[0], np.cumsum(mass)])

        def at_most(limit):  # P(noise <= limit)
            return below[np.clip(limit + 151, 0, 301)]

        law = np.array(
            [
                sum(
                    mass[i]
                    * math.prod(
                        at_most(k[i] + own - other - (rank < y)) for rank, other in enumerate(scores) if rank != y
                    )
                    for i in range(301)
                )
                for y, own in enumerate(scores)
            ]
        )
    assert law.sum() == pytest.approx(1)
    assert stats.chisquare(seen, draws * law).pvalue > NEVER


@installed
def test_opendp_draws_the_discrete_laplace_law():
    drawn = np.array(secure_noise._laplace(3.0, 4000)([7] * 4000)) - 7
    k = np.arange(-9, 10)
    inside = np.exp(-np.abs(k) / 3) * math.tanh(1 / 6)
    seen = [(drawn == each).sum() for each in k]
    expected = 4000 * np.append(inside, 1 - inside.sum())
    assert stats.chisquare([*seen, 4000 - sum(seen)], expected).pvalue > NEVER
