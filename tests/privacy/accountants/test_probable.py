"""Bounds by sampling: against closed forms and certified values, in both orders, and what may not take them."""

from __future__ import annotations

import inspect
import itertools
import math
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import dpbounds
from dpbounds.errors import DpboundsError, InvalidValue, NotCertified, UnsupportedMechanism
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.exact import exact
from dpbounds.privacy.accountants.certified import Account, account, delta, epsilon, prove_delta
from dpbounds.privacy.accountants.probable import (
    Apart,
    Bins,
    Mixture,
    Probable,
    Subsets,
    bounds as drawn_bounds,
    mean_at_most,
    probable_delta,
    probable_epsilon,
)
from dpbounds.privacy.accountants.probable.bounds import upper_bounds, weighted_draws
from dpbounds.privacy.accountants.probable.drawing import Bits, Floats, normal, uniform
from dpbounds.privacy.accountants.probable.sampled import in_few_dimensions
from dpbounds.privacy.domination.composition import neighbour_classes
from dpbounds.privacy.mechanisms import (
    BallsInBins,
    Gaussian,
    Laplace,
    MatrixMechanism,
    PoissonSampled,
    RandomlyAllocated,
)
from dpbounds.privacy.mechanisms.schemes.encoders import BinaryTree, Encoder, Toeplitz
from dpbounds.privacy.publishing import certificates, statements
from dpbounds.privacy.publishing.certificates import write_certificate
from dpbounds.privacy.publishing.statements import statement
from dpbounds.privacy.relations import Relation

GAUSSIAN = Bins(np.array([[1.0]]))
OVERLAPPING = Bins(np.array([[1.0, 0.5, 0.0], [0.0, 0.8, 0.4]]))
COLUMNS = np.array(
    [[0.8, 0.4, 0, 0, 0], [0, 0.8, 0.4, 0, 0], [0, 0, 0.7, 0.5, 0], [0, 0, 0, 0.8, 0.4], [0, 0, 0, 0, 0.8]]
)
SEPARATED = Apart(COLUMNS, 2, 0.3)
THREE = RandomlyAllocated(Gaussian(1), 10, 3)


def bits(seed: int) -> Bits:
    return np.random.default_rng(seed).bytes


def at_epsilon(
    mixture: Mixture, tilt: float, seed: int, *, adding: bool, at: float = 0.5, epochs: int = 1
) -> tuple[float, float]:
    """The mean of the weighted values, and its standard error; none is above the bound on all."""
    largest = drawn_bounds.log_largest(mixture, epochs, at, tilt, adding=adding)
    found = []
    for ratios, weights in weighted_draws(mixture, epochs, tilt, 40_000, bits(seed), adding=adding):
        share = -np.expm1(np.minimum(at + (ratios if adding else -ratios), 0))
        values = np.exp(weights + (0 if adding else ratios)) * share
        assert values.max() <= math.exp(largest) * (1 + 1e-9)
        found.append(values)
    values = np.concatenate(found)
    return float(values.mean()), float(values.std() / math.sqrt(len(values)))


# --- From a mean to a bound -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("risk", [Fraction(1, 2), Fraction(1, 20)])
def test_a_mean_fails_no_oftener_than_it_says(risk: Fraction) -> None:
    """Zeros and ones, all outcomes: what is left out is at most the risk, and the mean itself would leave out more."""
    n = 12
    bounds = [mean_at_most(Fraction(k, n), n, risk) for k in range(n + 1)]
    assert bounds == sorted(bounds)
    assert bounds[-1] == 1
    worst = 0.0
    for p in np.linspace(0.01, 0.99, 99):
        masses = [math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]
        failing = sum(mass for mass, bound in zip(masses, bounds, strict=True) if bound < p)
        assert failing <= risk
        worst = max(worst, sum(masses[k] for k in range(n + 1) if k / n < p))
    assert worst > risk


def test_the_least_bound_is_nearly_found() -> None:
    """No draw that counts: (1 - p)^n is the risk."""
    found = mean_at_most(Fraction(0), 1000, Fraction(1, 10**6))
    assert 1 - 10 ** (-6 / 1000) <= found <= (1 - 10 ** (-6 / 1000)) * (1 + 1e-6)


# --- What is drawn ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("adding", [False, True])
@pytest.mark.parametrize("tilt", [0.0, 0.7, 2.0])
def test_weighted_draws_of_a_gaussian_have_the_mean_of_its_curve(adding: bool, tilt: float) -> None:
    mean, error = at_epsilon(GAUSSIAN, tilt, 1, adding=adding)
    assert abs(mean - delta(Gaussian(1), "0.5").upper) <= 5 * error


@pytest.mark.seconds_cases("0.0")
@pytest.mark.parametrize("tilt", [0.0, 1.0])
def test_both_orders_of_random_allocation_have_their_own_means(tilt: float) -> None:
    found = {}
    for each in neighbour_classes(RandomlyAllocated(Gaussian(1), 3), Relation.ADD_OR_REMOVE_ONE).every():
        expected = prove_delta(each.product, Fraction(3, 2), 1e-3).enclosure.upper
        mean, error = at_epsilon(Subsets(3, 1, 1.0), tilt, 2, adding=each.name == "add", at=1.5)
        assert abs(mean - expected) <= 5 * error + 1e-3 * expected
        found[each.name] = expected
    assert found["remove"] > 1.2 * found["add"]  # what tells them apart


@pytest.mark.seconds_cases("apart-False")
@pytest.mark.parametrize("adding", [False, True])
@pytest.mark.parametrize("mixture", [OVERLAPPING, Subsets(5, 3, 0.6), SEPARATED], ids=["bins", "subsets", "apart"])
def test_tilted_draws_estimate_what_plain_ones_do(mixture: Mixture, adding: bool) -> None:
    plain = at_epsilon(mixture, 0.0, 3, adding=adding, epochs=2)
    tilted = at_epsilon(mixture, 1.3, 4, adding=adding, epochs=2)
    assert abs(plain[0] - tilted[0]) <= 5 * math.hypot(plain[1], tilted[1])


@pytest.mark.parametrize("power", [1.0, 2.5])
def test_ratios_are_means_over_all_sets(power: float) -> None:
    draws = np.random.default_rng(5).normal(size=(4, 6))
    shift = 0.9
    for taken in range(1, 6):
        expected = [
            np.mean(
                [
                    math.exp(power * sum(shift * row[i] - shift**2 / 2 for i in chosen))
                    for chosen in itertools.combinations(range(6), taken)
                ]
            )
            for row in draws
        ]
        assert np.exp(Subsets(6, taken, shift).log_ratio(draws, power)) == pytest.approx(expected, rel=1e-12)


def test_sets_are_drawn_uniformly() -> None:
    draws = Subsets(4, 2, 1000.0).shifted(bits(6), 6000, 0.0) > 500
    assert (draws.sum(axis=1) == 2).all()
    counts = np.unique(draws @ (1 << np.arange(4)), return_counts=True)[1]
    assert len(counts) == 6
    assert abs(counts - 1000).max() < 5 * math.sqrt(1000)


def test_normal_numbers_are_normal() -> None:
    found = np.sort(normal(bits(7), 1, 40_001).ravel())
    levels = (np.arange(len(found)) + 0.5) / len(found)
    expected = np.array([math.erfc(-value / math.sqrt(2)) / 2 for value in found])
    assert abs(expected - levels).max() < 2 / math.sqrt(len(found))  # Kolmogorov and Smirnov


def test_fewer_dimensions_have_gram_entries_no_smaller() -> None:
    shifts = np.abs(np.random.default_rng(8).normal(size=(3, 40)))
    found = in_few_dimensions(shifts)
    assert found.shape == (3, 4)
    excess = found @ found.T - shifts @ shifts.T
    assert (excess > 0).all()
    assert (excess < 1e-7 * (shifts**2).sum()).all()


# --- How often it fails -----------------------------------------------------------------------------------------------


@pytest.mark.seconds
def test_it_fails_no_oftener_than_it_says() -> None:
    """Of a bound with confidence 0.9 on the curve of a Gaussian, 40 times."""
    least = delta(Gaussian(1), 1).exact_lower
    found = (upper_bounds(GAUSSIAN, 1, [1.0], Fraction(1, 10), 300, bits(seed))[0] for seed in range(40))
    assert sum(bound < least for bound in found) <= 4


class Lopsided(Subsets):
    """R is 0.01 or 1.99, each with chance 1/2: E (R - 2)_+ = 0, and E (1 - 2R)_+ = 0.49."""

    def normaliser(self, tilt: float) -> float:
        return 1e9 * tilt

    @property
    def moments(self) -> tuple[float, float]:
        return 1e9, 0.0

    def shifted(self, bits: Bits, rows: int, tilt: float) -> Floats:
        assert tilt == 0
        return np.where(uniform(bits, rows, 1) < 0.005, -1.0, 1.0)

    def log_ratio(self, draws: Floats, power: float) -> Floats:
        found: Floats = np.log(np.where(draws[:, 0] < 0, 0.01, 1.99))
        return found


def test_both_orders_count() -> None:
    (bound,) = upper_bounds(Lopsided(1, 1, 1.0), 1, [math.log(2)], Fraction(1, 100), 2000, bits(9))
    assert 0.49 < bound < 0.56
    mean, _ = at_epsilon(Lopsided(1, 1, 1.0), 0.0, 10, adding=False, at=math.log(2))
    assert mean == 0  # one order alone says that nothing is spent


# --- The answers ------------------------------------------------------------------------------------------------------


@pytest.mark.seconds
@pytest.mark.parametrize("relation", ["add-or-remove-one", "zero-out-one"])
def test_it_lies_between_what_an_attack_attains_and_what_is_certified(relation: str) -> None:
    found = probable_epsilon(THREE, "1e-4", relation, confidence="0.999", samples=60_000, seed=1)
    proven = epsilon(THREE, "1e-4", relation, tolerance=1e-2)
    assert proven.exact_lower < found.upper < proven.exact_upper
    back = probable_delta(THREE, found.upper, relation, confidence="0.999", samples=60_000, seed=2)
    assert Fraction(1, 10**5) < back.upper < Fraction(2, 10**4)


@pytest.mark.seconds
def test_a_full_matrix_with_balls_in_bins() -> None:
    mechanism = MatrixMechanism(6, Toeplitz("square-root", steps=40), "balls-in-bins", separation=10)
    found = probable_epsilon(mechanism, "1e-4", confidence="0.999", samples=60_000, seed=1)
    proven = epsilon(mechanism, "1e-4", tolerance=1e-2)
    assert proven.exact_lower < found.upper < proven.exact_upper


@pytest.mark.seconds
@pytest.mark.parametrize("epochs", [1, 3])
def test_one_of_several_steps_is_not_below_what_is_proven(epochs: int) -> None:
    mechanism = RandomlyAllocated(Gaussian(1), 10) ** epochs
    found = probable_epsilon(mechanism, "1e-4", confidence="0.999", samples=60_000, seed=1)
    proven = epsilon(mechanism, "1e-4", tolerance=1e-2)
    assert proven.exact_lower <= found.upper <= Fraction("1.5") * proven.exact_upper


def test_one_bin_is_a_gaussian() -> None:
    mechanism = MatrixMechanism(2, [[1], [0, 1]], "balls-in-bins", separation=1)
    found = probable_delta(mechanism, "0.5", confidence="0.999", samples=20_000, seed=1)
    exactly = delta(Gaussian(2) ** 2, "0.5").upper
    assert exactly < found.upper < 1.3 * exactly


def test_a_seed_repeats_a_run_and_says_so() -> None:
    one, other, third = (probable_delta(THREE, 2, confidence="0.99", samples=2000, seed=seed) for seed in (1, 1, None))
    assert one == other != third
    assert "given that the seed 1 was not chosen by its answer" in str(one)
    assert "seed" not in str(third)
    assert "confidence 0.99 over 2000 samples, not certified" in str(third)


def test_tries_share_the_risk(monkeypatch: pytest.MonkeyPatch) -> None:
    risks = []
    monkeypatch.setattr(
        drawn_bounds, "mean_at_most", lambda mean, count, risk: risks.append(risk) or mean_at_most(mean, count, risk)
    )
    probable_epsilon(THREE, "1e-2", confidence="0.99", samples=2000, seed=1)
    assert len(risks) > 2
    assert sum(risks) == Fraction(1, 100)


@pytest.mark.parametrize(
    ("kind", "mechanism", "given"),
    [
        (UnsupportedMechanism, RandomlyAllocated(Laplace(1), 10, 3), {}),
        (UnsupportedMechanism, RandomlyAllocated(Gaussian(1), 10, 10), {}),
        (UnsupportedMechanism, RandomlyAllocated(Gaussian(1), 10), {"relation": "replace-one"}),
        (UnsupportedMechanism, THREE, {"relation": "replace-one"}),
        (UnsupportedMechanism, Gaussian(1), {}),
        (UnsupportedMechanism, BallsInBins(Gaussian(1), 10, 2, redraw=True), {}),
        (UnsupportedMechanism, THREE @ Gaussian(1), {}),
        (NotCertified, RandomlyAllocated(Gaussian("1e-9"), 10), {}),
        (InvalidValue, THREE, {"confidence": 1}),
        (InvalidValue, THREE, {"confidence": 0}),
        (InvalidValue, THREE, {"samples": 0}),
        (InvalidValue, THREE, {"samples": 10**18}),
        (InvalidValue, THREE, {"seed": -1}),
        (InvalidValue, THREE, {"seed": 0.5}),
        (InvalidValue, THREE, {"delta": 0}),
    ],
)
def test_what_is_refused(kind: type[DpboundsError], mechanism: object, given: dict[str, object]) -> None:
    asked = {"delta": "1e-3", "relation": "add-or-remove-one", "confidence": "0.9", "samples": 1000, **given}
    with pytest.raises(kind):
        probable_epsilon(mechanism, **asked)  # type: ignore[arg-type]


# --- What may not take it ---------------------------------------------------------------------------------------------

FOUND = Probable(
    THREE, Relation.ADD_OR_REMOVE_ONE, "delta", Fraction(1, 1000), Fraction(3), Fraction(9, 10), 1000, None
)


def test_nothing_that_certifies_takes_it(tmp_path: Path) -> None:
    calls = {
        "a certificate": lambda: write_certificate(tmp_path / "file.json", FOUND),  # type: ignore[arg-type]
        "a statement": lambda: statement(FOUND),  # type: ignore[arg-type]
        "an enclosure's sum": lambda: Enclosure(1, 2, "") + FOUND,  # type: ignore[operator]
        "an enclosure's comparison": lambda: Enclosure(1, 2, "") < FOUND,  # type: ignore[operator]
        "an exact number": lambda: exact(FOUND),  # type: ignore[arg-type]
        "a float": lambda: float(FOUND),  # type: ignore[arg-type]
        "a mechanism": lambda: epsilon(FOUND, "1e-5"),  # type: ignore[arg-type]
        "a budget": lambda: dpbounds.calibrate(Gaussian, FOUND, "1e-5"),  # type: ignore[arg-type]
        "a claim": lambda: dpbounds.ApproximateDP(FOUND, "1e-5", relation="replace-one"),  # type: ignore[arg-type]
        "a proof's account": lambda: Account(
            THREE,
            Relation.ADD_OR_REMOVE_ONE,
            "delta",
            Fraction(1, 1000),
            FOUND,
            (),  # type: ignore[arg-type]
        ),
    }
    for what, call in calls.items():
        with pytest.raises((DpboundsError, TypeError, AttributeError)):
            print(what, "took it:", call())
    assert not list(tmp_path.iterdir())


@pytest.mark.seconds
def test_every_function_that_publishes_refuses_it(tmp_path: Path) -> None:
    """All that say that they take what was proven; nothing public says that it takes this."""
    members = {name: getattr(dpbounds, name) for name in dpbounds.__all__} | vars(certificates) | vars(statements)
    taken = set()
    for name, member in members.items():
        if name.startswith("_") or not inspect.isfunction(member):
            continue
        for parameter in inspect.signature(member).parameters.values():
            told = str(parameter.annotation)
            assert "Probable" not in told, name
            if re.search(r"\b(Account|Calibration|Enclosure|Remaining)\b", told):
                taken.add(name)
                others = [tmp_path / "file.json"] if "path" in inspect.signature(member).parameters else []
                with pytest.raises((DpboundsError, TypeError)):
                    member(*others, FOUND)
    assert {"statement", "write_certificate", "certificate"} <= taken


# --- Steps that are drawn apart ---------------------------------------------------------------------------------------


def drawn_sets() -> dict[tuple[int, ...], float]:
    """All sets of steps and their chances, by walking through the coins."""
    found: dict[tuple[int, ...], float] = {}

    def walk(step: int, taken: tuple[int, ...], chance: float) -> None:
        if step == len(COLUMNS):
            found[taken] = found.get(taken, 0.0) + chance
        elif taken and step - taken[-1] < SEPARATED.separation:
            walk(step + 1, taken, chance)
        else:
            walk(step + 1, (*taken, step), chance * SEPARATED.rate)
            walk(step + 1, taken, chance * (1 - SEPARATED.rate))

    walk(0, (), 1.0)
    return found


def test_sums_over_sets_of_steps_are_those_of_enumeration() -> None:
    law = drawn_sets()
    assert math.isclose(sum(law.values()), 1)
    shift = {each: COLUMNS[list(each)].sum(axis=0) for each in law}
    draws = np.random.default_rng(0).normal(size=(7, 5))
    for power in (1.0, 2.5):
        sums = [
            sum(chance * math.exp(power * (shift[a] @ y - shift[a] @ shift[a] / 2)) for a, chance in law.items())
            for y in draws
        ]
        assert SEPARATED.log_ratio(draws, power) == pytest.approx(np.log(sums), rel=1e-12)
    for tilt in (0.0, 1.5):
        weights = [chance * math.exp(tilt * (1 + tilt) * shift[a] @ shift[a] / 2) for a, chance in law.items()]
        assert SEPARATED.normaliser(tilt) == pytest.approx(math.log(sum(weights)), rel=1e-12, abs=1e-12)
    mean = sum(chance * shift[a] for a, chance in law.items())
    assert SEPARATED.mean_shift() == pytest.approx(mean, rel=1e-12)
    half = sum(chance * shift[a] @ shift[a] / 2 for a, chance in law.items())
    assert SEPARATED.moments == pytest.approx((mean @ mean, half), rel=1e-12)


@pytest.mark.parametrize("tilt", [0.0, 1.0])
def test_steps_are_drawn_by_their_tilted_law(tilt: float) -> None:
    far = Apart(COLUMNS * 40, 2, 0.3) if not tilt else SEPARATED  # far enough to read the set off a draw
    law, rows = drawn_sets(), 4000
    draws = far.shifted(bits(1), rows, tilt)
    weights = {
        a: chance * math.exp(tilt * (1 + tilt) * (far.shifts[list(a)].sum(axis=0) ** 2).sum() / 2)
        for a, chance in law.items()
    }
    total = sum(weights.values())
    mean = sum(weight / total * (1 + tilt) * far.shifts[list(a)].sum(axis=0) for a, weight in weights.items())
    spread = draws.std(axis=0) / math.sqrt(rows)
    assert (np.abs(draws.mean(axis=0) - mean) < 5 * spread).all()
    if not tilt:
        read: dict[tuple[int, ...], int] = {}
        for draw in draws:
            rest, taken = draw.copy(), []
            for step in range(5):
                if rest[step] > 14:
                    taken.append(step)
                    rest -= far.shifts[step]
            read[tuple(taken)] = read.get(tuple(taken), 0) + 1
        assert set(read) <= set(law)
        assert all(abs(read.get(a, 0) - rows * c) < 6 * math.sqrt(rows * c) + 3 for a, c in law.items())


@pytest.mark.seconds
@pytest.mark.parametrize("relation", ["add-or-remove-one", "zero-out-one"])
def test_steps_one_apart_are_poisson_samples(relation: str) -> None:
    """Without separation, and without bands, they are; certified values stand beside them."""
    drawn = MatrixMechanism(2, Toeplitz([1], 8), "minimum-separation", separation=1, sample_rate="1/4")
    certified = epsilon(PoissonSampled(Gaussian(2), "1/4") ** 8, "1e-3", relation)
    found = probable_epsilon(drawn, "1e-3", relation, confidence="0.999", samples=40_000, seed=3)
    assert certified.lower <= found.upper <= 1.1 * certified.upper
    assert epsilon(drawn, "1e-3", relation).lower <= found.upper


@pytest.mark.seconds
def test_separation_gains_and_what_is_certified_does_not_know_it() -> None:
    matrix = Toeplitz([1, "1/2"], 12)
    drawn = MatrixMechanism(2, matrix, "minimum-separation", separation=3, sample_rate="1/4")
    chosen = MatrixMechanism(2, matrix, "minimum-separation", separation=3, groups="independent")
    any_steps = epsilon(chosen, "1e-4")
    assert epsilon(drawn, "1e-4").upper == any_steps.upper
    once = epsilon(PoissonSampled(Gaussian("1.788"), "1/4"), "1e-4")  # 2/√(1 + 1/4), the first step alone
    assert epsilon(drawn, "1e-4").lower == pytest.approx(once.lower, rel=1e-2)
    found = probable_epsilon(drawn, "1e-4", confidence="0.999", samples=40_000, seed=3)
    assert epsilon(drawn, "1e-4").lower < found.upper < 0.8 * any_steps.upper


@pytest.mark.parametrize(
    ("matrix", "options", "told"),
    [
        (Toeplitz([1, 1, 1], 9), {}, "3 bands"),
        (BinaryTree(9), {}, "a tree"),
        (Toeplitz([1], 9), {"at_most": 2}, "at_most"),
        (Toeplitz([1], 9), {"groups": "position"}, "groups"),
    ],
)
def test_what_is_not_sampled_apart(matrix: Encoder, options: dict[str, object], told: str) -> None:
    def ask() -> None:
        drawn = MatrixMechanism(2, matrix, "minimum-separation", separation=2, sample_rate="1/4", **options)
        probable_epsilon(drawn, "1e-3", confidence="0.99", samples=1000)

    with pytest.raises(DpboundsError, match=told):
        ask()


def test_steps_drawn_apart_have_no_certificate_but_say_which_holds(tmp_path: Path) -> None:
    drawn = MatrixMechanism(4, Toeplitz([1], 8), "minimum-separation", separation=2, sample_rate="1/4")
    with pytest.raises(DpboundsError, match="leave the rate out"):
        write_certificate(tmp_path / "c.json", account(drawn, delta="1e-3"))
    assert "a record in steps 2 or more apart, drawn with probability 0.25 each" in statement(
        account(drawn, delta="1e-3")
    )


def test_delta_is_sampled_at_an_epsilon_that_is_no_larger_than_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The nearest double may lie above, where δ is smaller."""
    asked: list[float] = []
    monkeypatch.setattr(
        "dpbounds.privacy.accountants.probable.answers.upper_bounds",
        lambda mixture, epochs, planned, risk, count, bits: asked.extend(planned) or [Fraction(1, 2)],
    )
    mechanism = RandomlyAllocated(Gaussian(2), 4, 2)
    for value in (Fraction(1, 3), Fraction(2, 3), 1 + Fraction(1, 2**52) - Fraction(1, 2**80)):
        dpbounds.probable_delta(mechanism, value, confidence="0.9", samples=10)
        assert Fraction(asked[-1]) <= value < Fraction(math.nextafter(asked[-1], math.inf))
    with pytest.raises(NotCertified, match="not sampled at an ε above"):
        dpbounds.probable_delta(mechanism, 10**400, confidence="0.9", samples=10)
