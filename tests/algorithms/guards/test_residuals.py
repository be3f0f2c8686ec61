"""Residuals: right noise passes, and each way of being wrong is found by the test that is meant for it."""

import sys
from fractions import Fraction
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from dpbounds.algorithms import noise
from dpbounds.algorithms.guards.guarded import examined, rehearsed
from dpbounds.algorithms.guards.residuals import FALSE_ALARM, NoiseWrong, Residuals, seen_below
from dpbounds.algorithms.ledger import OpenLedger, PrivacyBudget
from dpbounds.algorithms.oracles import (
    BatchGradientOracle,
    GradientDifferenceOracle,
    GradientOracle,
    HessianOracle,
    Poisson,
    choose,
)
from dpbounds.algorithms.oracles.watching import watched_by
from dpbounds.algorithms.run import SEEN
from dpbounds.algorithms.sampling import Batch
from dpbounds.algorithms.verification.catalogue import example
from dpbounds.privacy.relations import Relation
from tests.algorithms.oracles.test_oracles import PROBLEM, N, P

R = 120
POINTS = np.random.default_rng(1).standard_normal((R, P))
SAMPLINGS = {
    "poisson": Poisson("1/8"),
    "without": Batch(7, N, replacement=False),
    "with": Batch(7, N, replacement=True),
}


def asking(kind, pen, generators, shape="gaussian"):
    common = PROBLEM, Fraction(3), generators, pen
    if kind == "full":
        return partial(GradientOracle(*common, noise=shape), POINTS)
    if kind == "hessian":
        return partial(HessianOracle(*common), POINTS)
    if kind == "difference":
        return partial(GradientDifferenceOracle(*common), POINTS, POINTS[::-1])
    if kind == "choice":
        scores = np.random.default_rng(2).standard_normal((R, 7))
        terms = {"epsilon": 3, "sensitivity": 1, "relation": Relation.REPLACE_ONE, "records": PROBLEM.records}
        return partial(choose, scores, **terms, generators=generators, ledger=pen)
    return partial(BatchGradientOracle(PROBLEM, SAMPLINGS[kind], *common[1:], noise=shape), POINTS)


def heard(kind, calls=6, seed=5, **options):
    """What residuals say of some calls of an oracle."""
    residuals, pen = Residuals(), OpenLedger()
    ask = asking(kind, pen, noise.streams(seed, R), **options)
    with watched_by(residuals):
        for _ in range(calls):
            ask()
    return residuals.findings()


def wrong(found):
    """The names of the tests that say no."""
    return [finding.name for finding in found if finding.probability < FALSE_ALARM / len(found)]


KINDS = ("full", "hessian", "difference", "choice", *SAMPLINGS)


@pytest.mark.parametrize("kind", KINDS)
def test_right_noise_passes(kind):
    found = heard(kind)
    assert min(finding.probability for finding in found) > 1e-4
    assert len(found) >= (2 if kind == "choice" else 6)


def test_noise_in_the_ball_passes():
    (found,) = heard("full", shape="ball")
    assert found.probability > 1e-4


@pytest.mark.seconds
@pytest.mark.one_in(4)
def test_probabilities_are_those_of_chance():
    """Over 60 seeds a test's probability is below 1/20 in few: bounds on tails may be rarer, never more frequent."""
    below = {}
    for seed in range(60):
        for place, finding in enumerate(heard("full", seed=seed, calls=2)):
            below[place] = below.get(place, 0) + (finding.probability < 0.05)
    assert len(below) == 6
    assert max(below.values()) <= 12  # binomial(60, 1/20): 1e-5 each


def scaled(factor):
    real = noise.standard_gaussian
    return lambda generators, dimension: factor * real(generators, dimension)


def shifted(by):
    real = noise.standard_gaussian
    return lambda generators, dimension: real(generators, dimension) + by


def signs(generators, dimension):
    return np.stack([generator.choice([-1.0, 1.0], dimension) for generator in generators])


def repeated(generators, dimension):
    return np.stack([np.random.default_rng(place).standard_normal(dimension) for place in range(len(generators))])


def shared(generators, dimension):
    return np.tile(generators[0].standard_normal(dimension), (len(generators), 1))


@pytest.mark.parametrize(
    ("kind", "draw", "found"),
    [
        ("full", scaled(0.9), "variance"),
        ("full", scaled(1.1), "variance"),
        ("difference", scaled(0.9), "variance"),
        ("hessian", scaled(0.9), "variance"),
        ("full", shifted(0.2), "mean"),
        ("full", signs, "distribution"),
        ("full", repeated, "calls in a row"),
        ("full", shared, "repetitions"),
    ],
)
def test_wrong_noise_is_found(kind, draw, found, monkeypatch):
    monkeypatch.setattr(noise, "standard_gaussian", draw)
    assert any(name.endswith(found) for name in wrong(heard(kind, calls=12)))


@pytest.mark.parametrize(
    ("kind", "draw"),
    [
        ("poisson", lambda sampling, n, g, *kind: np.flatnonzero(g.random(n) < 1.5 / 8)),
        ("poisson", lambda sampling, n, g, *kind: g.choice(n, size=7, replace=False)),
        ("poisson", lambda sampling, n, g, *kind: np.flatnonzero(g.random(n) < np.linspace(0.05, 0.2, n))),
        ("without", lambda sampling, n, g, *kind: g.choice(n, size=6, replace=False)),
        ("without", lambda sampling, n, g, *kind: g.choice(n, size=7)),
        ("without", lambda sampling, n, g, *kind: np.arange(7)),
        ("with", lambda sampling, n, g, *kind: np.arange(7)),
    ],
)
def test_batches_that_are_drawn_otherwise_are_found(kind, draw, monkeypatch):
    monkeypatch.setattr(sys.modules[BatchGradientOracle.__module__], "draw_rows", draw)
    assert any(name.startswith("batches") for name in wrong(heard(kind, calls=12)))


@pytest.mark.seconds
def test_scores_that_are_doubled_are_found(monkeypatch):
    from dpbounds.algorithms.oracles import choices

    monkeypatch.setattr(choices, "_used", lambda unit, scale: unit * scale / 2)
    assert wrong(heard("choice", calls=30))


def test_a_record_beyond_the_bound_is_found():
    class Steep(type(PROBLEM)):
        """As the other, with gradients longer than it says."""

        def __init__(self):
            super().__init__()
            self.z = 1.01 * self.z / np.linalg.norm(self.z, axis=1).max()

    oracle = GradientOracle(Steep(), Fraction(3), noise.streams(0, 1), OpenLedger())
    residuals = Residuals()
    with watched_by(residuals):
        oracle(100 * Steep().z[np.linalg.norm(Steep().z, axis=1).argmax()][None])
    with pytest.raises(NoiseWrong, match=r"records of the noise .* one moves the sum by 1\.0"):
        residuals.demand_right()


@pytest.mark.seconds
@pytest.mark.parametrize("name", ["dp-pgd", "dp-spider"])
def test_examined_passes_what_is_right(name):
    examined(*example(name).calibrated(PrivacyBudget.of(1, "1e-5")))


# --- what could have been seen


@pytest.mark.parametrize("numbers", [20, 80, 4000, 40_000])
def test_a_factor_is_seen_with_the_probability_that_is_said(numbers):
    """Exactly, by the distribution of a sum of squares; and not far below it."""
    alarm = FALSE_ALARM / 8
    factor = seen_below(numbers, alarm)

    def chance(of):
        """That twice the lower tail of f² χ² is at most the alarm."""
        return stats.chi2.cdf(stats.chi2.ppf(alarm / 2, numbers) / of**2, numbers)

    assert chance(factor) >= SEEN > chance(factor + 0.002)


def test_few_numbers_exclude_no_factor():
    assert seen_below(1, FALSE_ALARM) == 0


@pytest.mark.parametrize("kind", ["full", "difference", "poisson"])
def test_noise_that_is_too_small_by_what_is_said_is_found(kind, monkeypatch):
    def seen(factor):
        residuals, pen = Residuals(), OpenLedger()
        ask = asking(kind, pen, noise.streams(5, R))
        with monkeypatch.context() as patched, watched_by(residuals):
            patched.setattr(noise, "standard_gaussian", scaled(factor))
            for _ in range(3):
                ask()
        return residuals

    (said,) = seen(1).tested()
    assert said.numbers == 3 * R * P
    assert not wrong(seen(1).findings())
    assert any(name.endswith("variance") for name in wrong(seen(said.seen_below).findings()))


def test_noise_in_a_ball_and_choices_are_tested_by_their_distribution():
    for kind, options in (("full", {"shape": "ball"}), ("choice", {})):
        residuals = Residuals()
        ask = asking(kind, OpenLedger(), noise.streams(5, R), **options)
        with watched_by(residuals):
            ask()
        (said,) = residuals.tested()
        assert (said.numbers, said.seen_below) == (R, None)


def test_a_guarded_run_says_what_it_could_have_seen():
    algorithm, problem = example("dp-pgd").calibrated(PrivacyBudget.of(1, "1e-5"))
    assert algorithm.run(problem, seed=1, repetitions=2).tested == ()
    (said,) = algorithm.run(problem, seed=1, repetitions=2, guarded=True).tested
    assert said.kind == f"gradient {problem.dimension}"
    assert said.numbers == 2 * algorithm.steps * problem.dimension


@pytest.mark.parametrize(
    ("numbers", "steps", "repetitions"),
    [(80, 10, 500), (1, 10, 512), (30_000, 10, 2), (39_999, 10, 2), (40_000, 10, 0), (1, 10**8, 3), (1, 10**12, 1)],
)
def test_a_rehearsal_has_as_many_repetitions_as_are_needed_and_take_no_hours(numbers, steps, repetitions, monkeypatch):
    asked = []
    module = sys.modules[rehearsed.__module__]
    monkeypatch.setattr(module, "_heard", lambda *given: asked.append(given[-1]) or ("tested",))
    about = SimpleNamespace(records=3, dimension=2)
    count, tested = rehearsed(SimpleNamespace(steps=steps), about, numbers)
    assert (count, tested) == (repetitions, ("tested",) if repetitions else ())
    assert asked == ([repetitions] if repetitions else [])
