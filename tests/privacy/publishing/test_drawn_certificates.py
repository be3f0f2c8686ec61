"""Certificates of version 5: each kind's profile against brute force, groups, and what hints cannot do."""

from __future__ import annotations

import contextlib
import copy
import itertools
import json
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx
from scipy import stats

import dpbounds as dp
from dpbounds.errors import CertificateError
from dpbounds.expressions.working import working
from dpbounds.privacy.accountants.certified import account, prove_delta
from dpbounds.privacy.accountants.groups import group_products
from dpbounds.privacy.budgets.calibration import calibrate
from dpbounds.privacy.domination.composition import neighbour_classes
from dpbounds.privacy.mechanisms import Mechanism
from dpbounds.privacy.mechanisms.descriptions import digest
from dpbounds.privacy.mechanisms.schemes import truncated
from dpbounds.privacy.mechanisms.schemes.encoders import Toeplitz
from dpbounds.privacy.pairs import truncation
from dpbounds.privacy.pairs.losses import law_of
from dpbounds.privacy.pairs.truncation import Costs, cut_of, moved_of
from dpbounds.privacy.publishing import standalone_checker as checker
from dpbounds.privacy.publishing.certificates import (
    account_of_group,
    certificate,
    check_certificate,
)
from dpbounds.privacy.publishing.hints import _least as least_confirmed, _sizes as sizes_of
from dpbounds.privacy.relations import Order, Relation
from tests.privacy.publishing.certified import ADD, CASES, REPLACE, ZERO, G, plain, spent, unproven, walk, written

# --- What is claimed --------------------------------------------------------------------------------------------------


ONLY_DOMINATED = {
    "cut samples": (dp.TruncatedPoisson(G(2), "0.1", 10, 60), REPLACE),
    "cut samples of any size": (dp.TruncatedPoisson(G(2), "0.1", 3, 60), ADD),
    "a shuffled epoch": (dp.Shuffled(G(3), 10), REPLACE),
    "batches in turn": (walk("fixed"), REPLACE),
    "batches in turn, scheduled": (walk("fixed", smoothness_step=["0.1", "0.2", "0.05"]), REPLACE),
    "noise that takes back": (dp.MatrixMechanism(3, Toeplitz(["1", "-1/2"], 6), "fixed-order", separation=2), REPLACE),
}


@pytest.mark.seconds_cases("cut samples of any size", "a shuffled epoch")
@pytest.mark.parametrize("name", ONLY_DOMINATED)
def test_what_only_dominates_shows_no_lower_end(name: str) -> None:
    mechanism, relation = ONLY_DOMINATED[name]
    subject = account(mechanism, delta="1e-4", relation=relation)
    document = plain(subject)
    claim = document["accounts"][0]["claim"]
    assert claim["lower"] == "0"
    assert checker.check(document)[0] == checker.CONFIRMED
    attack = subject.enclosure.exact_lower * Fraction(9999, 10_000)
    for lower, status, holds in ((attack, checker.NOT_COVERED, True), (claim["upper"], checker.NOT_COVERED, False)):
        claim["lower"] = str(lower)
        found, lines = checker.check(document)
        assert found == status, lines
        if document["version"] < 5:  # where dpbounds has the attack at hand
            assert check_certificate(document).holds is holds


@pytest.mark.seconds
@pytest.mark.parametrize("name", ["fixed size", "discrete Laplace"])
def test_a_delta_is_certified_as_well(name: str) -> None:
    mechanism, relation = CASES[name]
    subject = account(mechanism, epsilon=1, relation=relation)
    document = plain(subject)
    assert checker.check(document)[0] == checker.CONFIRMED
    claimed = checker.rational(document["accounts"][0]["claim"]["upper"])
    assert subject.enclosure.exact_upper <= claimed <= subject.enclosure.exact_upper * Fraction("1.01")


def test_one_release_shows_its_lower_end_too() -> None:
    subject = spent("discrete Laplace")
    single = account(dp.SampledWithoutReplacement(G(2), 5, 50), delta="1e-4", relation=REPLACE)
    assert plain(subject)["accounts"][0]["claim"]["lower"] == "0"
    document = plain(single)
    claim = document["accounts"][0]["claim"]
    assert checker.rational(claim["lower"]) == single.enclosure.exact_lower > 0
    assert checker.check(document)[0] == checker.CONFIRMED
    claim["lower"] = claim["upper"] = str(single.enclosure.exact_upper * Fraction(11, 10))
    assert checker.check(document)[0] == checker.WRONG


def test_what_is_assumed_of_a_last_iterate_fits_its_order() -> None:
    public, secret = (" ".join(checker.assumptions_of(version)) for version in (4, 5))
    assert "public positions, the same in each epoch. The sum" in public
    assert "secret: by one such permutation, kept" in secret
    assert "permutation" not in public


def test_the_digest_is_that_of_ledgers() -> None:
    for mechanism, relation in CASES.values():
        assert checker.digest(written(mechanism, relation)) == digest(mechanism), mechanism


# --- Groups -----------------------------------------------------------------------------------------------------------

GROUPS: dict[str, tuple[Mechanism, int, Relation]] = {
    "all records": (G(9) ** 4, 3, ADD),
    "a Poisson sample": (dp.PoissonSampled(G(4), "0.1"), 3, ADD),
    "Poisson samples, replaced": (dp.PoissonSampled(G(4), "0.1") ** 5 @ G(20), 2, REPLACE),
    "Poisson samples, zeroed": (dp.PoissonSampled(G(4), "0.1") ** 5, 2, ZERO),
    "batches": (dp.SampledWithoutReplacement(G(8), 5, 50) ** 5, 3, ADD),
    "batches, replaced": (dp.SampledWithoutReplacement(G(8), 5, 50) ** 5, 3, REPLACE),
    "draws": (dp.SampledWithReplacement(G(8), 5, 50) ** 5, 2, ADD),
    "draws, replaced": (dp.SampledWithReplacement(G(8), 5, 50) ** 5, 2, REPLACE),
    "single draws, replaced": (dp.SampledWithReplacement(G(8), 1, 50) ** 5, 2, REPLACE),
}


@pytest.mark.seconds_cases("*samples*", "batches*", "draws*", "single*")
@pytest.mark.parametrize("name", GROUPS)
def test_groups_have_certificates(name: str) -> None:
    mechanism, k, relation = GROUPS[name]
    subject = account_of_group(mechanism, k, delta="1e-4", relation=relation)
    document = plain(subject)
    assert document["version"] == 5
    claim = document["accounts"][0]["claim"]
    proven = subject.enclosure.exact_upper
    assert claim["group_size"] == k
    assert proven <= checker.rational(claim["upper"]) <= proven * Fraction("1.002")
    status, lines = checker.check(document)
    assert status == checker.CONFIRMED, lines
    assert f"groups of {k} records" in lines[1]
    assert any(f"here for up to {k} records at once" in line for line in lines)
    report = check_certificate(document)
    assert report.holds
    assert f"here for up to {k}" in str(report.claims[0]["relation_in_words"])
    for changed in (k + 1, None, 1, True, "2"):  # more records spend more; fewer have no such field
        wrong = copy.deepcopy(document)
        wrong["accounts"][0]["claim"]["group_size"] = changed
        assert checker.check(wrong)[0] == (checker.WRONG if changed == k + 1 else checker.MALFORMED), changed
    del claim["group_size"]
    assert account(mechanism, delta="1e-4", relation=relation).enclosure.exact_upper < proven
    document["version"], document["assumptions"] = 4, list(checker.assumptions_of(4))
    claim["group_size"] = k
    assert checker.check(document)[0] == checker.MALFORMED


@pytest.mark.seconds
def test_a_group_of_one_sample_against_sums_over_a_line() -> None:
    """Profiles by how many of the group a sample holds, and that of a group replaced in a batch above its attacks."""
    axis = np.linspace(-14, 16, 60_001)

    def law(chances: Any, step: float) -> Any:
        return sum(p * stats.norm.pdf(axis - step * j) for j, p in enumerate(chances)) * (axis[1] - axis[0])

    def found(mechanism: Mechanism, relation: Relation, order: str, loss: Fraction) -> float:
        (release,) = (checker.read_release(each) for each in written(mechanism, relation))
        aim = checker.Aim(Fraction(1, 10**6), 1, {}, {})
        with ctx.workprec(256):
            ((own, _),), _ = checker.steps_of([release], order, str(relation), aim, 3)
            return float(own(checker.number(loss).exp()).mid())

    poisson, batch = stats.binom.pmf(range(4), 3, 0.2), stats.hypergeom.pmf(range(4), 12, 3, 4)
    draws = stats.binom.pmf(range(5), 4, 0.25)
    for loss in LOSSES:
        alpha, still = math.exp(loss), law([1.0], 1)
        for sample, chances, step in (
            (dp.PoissonSampled(G(2), "0.2"), poisson, 0.5),
            (dp.SampledWithoutReplacement(G(2), 4, 12), batch, 1.0),
            (dp.SampledWithReplacement(G(2), 4, 12), draws, 1.0),
        ):
            moved = law(chances, step)
            for order, one, other in (("remove", moved, still), ("add", still, moved)):
                exact = np.maximum(one - alpha * other, 0).sum()
                assert found(sample, ADD, order, loss) == pytest.approx(exact, abs=1e-6)
            bound = found(sample, REPLACE, "replace", loss)
            if isinstance(sample, dp.PoissonSampled):
                exact = np.maximum(moved - alpha * law(chances, -step), 0).sum()
                assert bound == pytest.approx(exact, abs=1e-6)
                continue
            attack = max(np.maximum(one - alpha * other, 0).sum() for one, other in ((moved, still), (still, moved)))
            assert attack - 1e-7 <= bound <= attack + 0.02
            ((pair, _),) = group_products(sample, REPLACE, 3)[0][0]
            with working(160):  # the same bound, by its law
                assert float(law_of(pair).delta(checker.number(loss)).mid()) == pytest.approx(bound, abs=1e-9)
    for mechanism, relation in ((dp.SampledWithoutReplacement(G(2), 4, 6), ADD), (dp.Laplace(2), ADD)):
        with pytest.raises(checker.NotCovered):
            found(mechanism, relation, "remove", Fraction(1))


@pytest.mark.seconds
def test_a_calibration_for_a_group_has_a_certificate() -> None:
    found = calibrate(lambda z: G(z) ** 10, 1, "1e-4", group_size=3)
    document = plain(found)
    assert checker.check(document)[0] == checker.CONFIRMED
    assert document["calibration"]["fails_at"] is None
    assert check_certificate(document).holds
    with pytest.raises(CertificateError, match=r"groups of records with .* has a certificate"):
        certificate(account_of_group(dp.Laplace(9), 2, delta="1e-4"))


# --- Other relations, and halves --------------------------------------------------------------------------------------

HALVES = {"parameters": {"halves": [{}, {}], "first": "25"}}  # which have curves of their own


@pytest.mark.parametrize(
    ("name", "relation", "proof"),
    [
        ("shuffled", "add-or-remove-one", {"parameters": {}}),
        ("shuffled", "add-or-remove-one", HALVES),
        ("last, secret", "add-or-remove-one", {"parameters": {}}),
        ("responses", "zero-out-one", {"parameters": {}}),
    ],
)
def test_another_relation_has_no_pair(name: str, relation: str, proof: dict[str, Any]) -> None:
    releases = [checker.read_release(each) for each in written(*CASES[name])]
    claim = {"relation": relation, "given": "delta", "target": Fraction(1, 1000)}
    claim |= {"lower": Fraction(0), "upper": Fraction(50)}
    with pytest.raises(checker.Malformed, match=r"no pair|under replace-one only"):
        checker.check_drawn(releases, claim, {"remove": proof, "add": proof})


def test_halves_are_for_replaced_records() -> None:
    releases = [checker.read_release(each) for each in written(*CASES["shuffled, no clones"])]
    claim = {"given": "delta", "target": Fraction(1, 1000), "lower": Fraction(0), "upper": Fraction(50)}
    zeroed = checker.check_drawn(releases, {"relation": "zero-out-one", **claim}, {"remove": HALVES, "add": HALVES})
    assert [below for below, *_ in zeroed] == [None, None]
    ((below, *_),) = checker.check_drawn(releases, {"relation": "replace-one", **claim}, {"replace": HALVES})
    assert below


# --- Profiles, against dpbounds' own laws and plain sums --------------------------------------------------------------

LOSSES = [Fraction(-3), Fraction(-1, 7), Fraction(0), Fraction(1, 100), Fraction(1, 3), Fraction(2)]


def profile(
    case: tuple[Mechanism, Relation],
    order: str,
    precision: int = 256,
    moved: Fraction = Fraction(0),
    sizes: tuple[int, int] | None = None,
) -> Callable[[Fraction], arb]:
    mechanism, relation = case
    releases = [checker.read_release({**each, "count": 1}) for each in written(mechanism, relation)]
    hints = {"spacing": "1/64"}
    aim = checker.Aim(Fraction(1, 10**6), 1, hints, {})
    aim.moved, aim.sizes = [str(moved)] if moved else [], {releases[0].get("dataset_size", 0): sizes} if sizes else {}
    with ctx.workprec(precision):
        ((found, _),), _ = checker.steps_of(releases, order, str(relation), aim)

    def at(loss: Fraction) -> arb:
        with ctx.workprec(precision):
            return found(checker.number(loss).exp())

    return at


ORDERS = {"remove": (Order.REMOVE, Order.ZERO), "add": (Order.ADD, Order.RESTORE), "replace": (Order.REPLACE,)}
EXACT = [  # of one release: two derivations of one profile
    *("fixed size", "fixed size, added", "fixed size, zeroed", "truncated", "truncated, zeroed"),
    *("discrete Gaussian", "discrete Laplace", "discrete Laplace, sampled", "Laplace", "Laplace, distance"),
    *("Laplace, sampled", "mixture", "mixture, replaced", "responses", "last, secret"),
    *("Laplace on a line, sampled", "responses, sampled", "Laplace, distance, sampled", "Laplace, fixed size"),
    *("whole numbers, fixed size", "Skellam", "Skellam, sampled", "Skellam, fixed size"),
]


@pytest.mark.parametrize("name", EXACT)
def test_profiles_are_those_of_the_pairs(name: str) -> None:
    mechanism, relation = CASES[name]
    (single, _), *_ = mechanism.parts if isinstance(mechanism, dp.Composed) else ((mechanism, 1),)
    classes = neighbour_classes(single, relation)
    moved = Fraction(0)
    if isinstance(single, dp.TruncatedPoisson):
        cut = cut_of(single.sample_rate, single.max_batch_size, single.dataset_size, single.dataset_size)
        moved = moved_of(cut, single.sample_rate, Costs(0.25, 1, relation is REPLACE, relation is ZERO))
        assert moved
    for order in checker.RECORD[str(relation)]:
        own = profile((single, relation), order, moved=moved)
        (of_class,) = {each.product for way in ORDERS[order] for each in classes.along(way)}
        ((pair, count),) = of_class
        assert count == 1
        law = law_of(pair)
        for loss in LOSSES:
            with ctx.workprec(256):
                theirs, ours = law.delta(checker.number(loss)), own(loss)
            assert abs(float(theirs.mid()) - float(ours.mid())) < 1e-9, (order, loss, theirs, ours)
            assert ours.rad() < 1e-20, (order, loss)


def test_a_replaced_record_on_a_sample_against_sums_over_a_line() -> None:
    """Laplace noise: what two records on either side attain; and the bound from what holds of one record."""
    q, s = 0.2, 0.5
    axis = np.linspace(-40, 40, 160_001)

    def noise(at: float) -> Any:
        return np.exp(-np.abs(axis - at)) / 2 * (axis[1] - axis[0])

    line = profile(CASES["Laplace on a line, sampled"], "replace")
    bound = profile(CASES["Laplace, sampled, replaced"], "replace")
    for loss in LOSSES:
        alpha = math.exp(loss)
        exact = np.maximum((1 - q) * noise(0) + q * noise(s) - alpha * ((1 - q) * noise(0) + q * noise(-s)), 0).sum()
        inner = 1 + (max(alpha, 1 / alpha) - 1) / q
        one, two = (np.maximum(noise(k * s) - inner * noise(0), 0).sum() for k in (1, 2))
        share = max(alpha, 1 / alpha) / inner
        wide = q * ((1 - share) * one + share * two)
        wide = wide if loss >= 0 else 1 - alpha + alpha * wide
        assert float(line(loss).mid()) == pytest.approx(exact, abs=1e-6), loss
        assert float(bound(loss).mid()) == pytest.approx(wide, abs=1e-6), loss
        assert float(bound(loss).mid()) >= exact - 1e-7


def test_the_bound_by_divergences_holds_of_all_vectors_and_is_the_best_of_its_kind() -> None:
    sigma, squared = 1.5, 4
    rho = Fraction(squared) / (2 * Fraction("2.25"))
    with ctx.workprec(256):
        found = checker.concentrated_profile(rho)
        values = {loss: float(found(checker.number(loss).exp()).mid()) for loss in LOSSES}
    axis = np.arange(-12, 13)
    law = np.exp(-(axis**2) / (2 * sigma**2))
    law /= law.sum()
    orders = 1 + np.geomspace(1e-6, 1e4, 400_000)
    for loss, value in values.items():
        alpha = math.exp(loss)
        for moved in ((2,), (1, 1), (1, 1, 1), (1, 1, 1, 1)):
            p, q = np.ones(1), np.ones(1)
            for k in moved:
                p, q = np.outer(p, np.roll(law, k)).ravel(), np.outer(q, law).ravel()
            assert np.maximum(p - alpha * q, 0).sum() <= value + 1e-9, (loss, moved)
        u = orders - 1
        logs = u * (orders * float(rho) - abs(float(loss))) - np.log1p(u) - u * np.log1p(1 / u)
        best = min(1.0, float(np.exp(logs.min())))
        assert value == pytest.approx(best if loss >= 0 else 1 - alpha + alpha * best, rel=1e-6)


@pytest.mark.seconds_cases("1.0-3-remove", "1.0-3-add")
@pytest.mark.parametrize(("z", "bins", "order"), [(1.0, 3, "remove"), (1.0, 3, "add"), (2.0, 2, "remove")])
def test_means_of_ratios_lie_a_little_above_an_integral(z: float, bins: int, order: str) -> None:
    case = (dp.RandomlyAllocated(G(z), bins), ADD)
    found = profile(case, order)
    axis = np.linspace(-8, 8, 401 if bins == 3 else 2001)
    weights = stats.norm.pdf(axis) * (axis[1] - axis[0])
    ratios = np.exp(axis / z - 1 / (2 * z * z))
    grids = np.meshgrid(*[ratios] * (bins - 1), indexing="ij")
    masses = np.meshgrid(*[weights] * (bins - 1), indexing="ij")
    others, mass = sum(grids).ravel(), np.prod(masses, axis=0).ravel()
    for loss in (0.0, 0.3, 1.0):
        alpha = math.exp(loss)
        # the last ratio in closed form: E (x + X - mα)_+, or (m - α(x + X))_+
        edge = np.maximum((bins * alpha if order == "remove" else bins / alpha) - others, 1e-300)
        at = z * np.log(edge) + 1 / (2 * z)
        upper, shifted = stats.norm.sf(at), stats.norm.sf(at - 1 / z)
        call = shifted - edge * upper
        call = np.where(edge > 1e-299, call, 1 + others - (bins * alpha if order == "remove" else bins / alpha))
        put = np.where(edge > 1e-299, call + edge - 1, 0.0)
        exact = float(np.dot(mass, call)) / bins if order == "remove" else float(np.dot(mass, put)) * alpha / bins
        got = float(found(Fraction(loss).limit_denominator(10)).mid())
        assert exact - 1e-7 <= got <= exact + 2e-3, (loss, exact, got)


def exchanged(bases: list[tuple[Fraction, int]], bins: int, points: int = 256) -> checker.Profile:
    return checker.allocated(bases, bins, "replace", checker.Aim(Fraction(1, 10**6), 1, {"exchange": points}, {}))


@pytest.mark.seconds
@pytest.mark.parametrize("idle", [0, 1])
def test_a_replaced_record_in_secret_steps_lies_a_little_above_an_integral(idle: int) -> None:
    axis = np.linspace(-9, 9, 4001)
    weights = stats.norm.pdf(axis) * (axis[1] - axis[0])
    bases = [(Fraction(1), 2 - idle), *([(Fraction(0), 1)] if idle else [])]
    with ctx.workprec(256):
        found = exchanged(bases, 2)
        for alpha in (0.6, 1.0, 2.5):
            first = np.exp(axis - 0.5) - alpha * np.exp(-axis - 0.5)
            if idle:
                exact = float(np.dot(weights, np.maximum(first + 1 - alpha, 0))) / 2
            else:
                w = (-first + np.sqrt(first**2 + 4 * alpha * math.exp(-1))) / (2 * math.exp(-0.5))
                t = np.log(w)
                rest = stats.norm.sf(t - 1) - alpha * stats.norm.sf(t + 1) + first * stats.norm.sf(t)
                exact = float(np.dot(weights, rest)) / 2
            got = float(found(arb(alpha)).mid())
            assert exact - 1e-6 <= got <= exact + 2e-3, (alpha, exact, got)


def test_values_that_are_lowered_keep_their_mass_and_stay_on_points() -> None:
    grid = checker.Grid(8, 1, 6, 40)
    found = checker.Ratios([[3] * 16, *([0] * 8 + [each] * 8 for each in (5, 7, 2, 1))], 11)
    by = 64
    moved = grid.lowered(found, by)

    def points(ratios: checker.Ratios) -> list[tuple[int, int]]:
        return [(k << level, mass) for level, row in enumerate(ratios.levels) for k, mass in enumerate(row) if mass]

    expected: dict[int, int] = {}
    for place, mass in points(found):
        expected[max(0, place - by)] = expected.get(max(0, place - by), 0) + mass
    assert dict(points(moved)) == expected
    assert moved.lost == 11
    with pytest.raises(checker.Unproven, match="whole number of spacings"):
        grid.lowered(found, 5)


@pytest.mark.parametrize("name", ["matrix in bins", "tree in bins", "rows in bins"])
def test_overlaps_of_bins_against_plain_sums(name: str) -> None:
    mechanism: Any = CASES[name][0]
    bins, matrix = mechanism.separation, checker.read_release(written(mechanism, ZERO)[0])["matrix"]
    if matrix["kind"] == "binary-tree":
        steps = matrix["steps"]
        blocks = [range(n << h, n + 1 << h) for h in range(steps.bit_length()) for n in range(steps >> h)]
        rows = [[Fraction(int(step in block)) for step in range(steps)] for block in blocks]
    elif matrix["kind"] == "toeplitz":
        steps, values = matrix["steps"], [*matrix["coefficients"], *[Fraction(0)] * matrix["steps"]]
        rows = [[values[i - j] if i >= j else Fraction(0) for j in range(steps)] for i in range(steps)]
    else:
        rows = [[*row, *[Fraction(0)] * (len(matrix["rows"]) - len(row))] for row in matrix["rows"]]
        steps = len(rows)
    summed = [[sum(abs(row[j]) for j in range(bin_, steps, bins)) for row in rows] for bin_ in range(bins)]
    gram = [[sum(a * b for a, b in zip(one, two, strict=True)) for two in summed] for one in summed]
    exact = [max(gram[j][j + d] for j in range(bins - d)) for d in range(bins)]
    assert checker.overlaps(matrix, steps, bins) == exact


@pytest.mark.parametrize("checkpoints", [(), (1,)])
def test_costs_of_steps_that_change_against_plain_sums(checkpoints: tuple[int, ...]) -> None:
    m, epochs, sizes = 4, 3, [0.1, 0.5, 0.05]
    run = walk("fixed", batches=m, smoothness_step=[str(each) for each in sizes], checkpoints=checkpoints)
    found = checker.scheduled_costs(checker.read_release(written(run, ZERO)[0]))
    steps = [size for size in sizes for _ in range(m)]
    for place, cost in enumerate(found):
        exact = 0.0
        for epoch in range(epochs):
            i = epoch * m + place
            end = (epoch + 1) * m if epoch + 1 in (*checkpoints, epochs) else i + m
            spread, scale = 0.0, 1.0
            for j in range(i, end):
                scale /= 1 + steps[j] if j > i else 1
                spread += scale**2 * steps[j] ** 2
            exact += steps[i] ** 2 / spread
        assert float(cost) == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize("order", ["remove", "add"])
def test_draws_with_replacement_against_plain_sums(order: str) -> None:
    found = profile((dp.SampledWithReplacement(G(2), 3, 4), ADD), order)
    law = stats.binom.pmf(range(4), 3, 0.25)
    axis = np.linspace(-12, 14, 20001)
    moved = sum(p * stats.norm.pdf(axis - k) for k, p in enumerate(law))
    one, other = (moved, stats.norm.pdf(axis)) if order == "remove" else (stats.norm.pdf(axis), moved)
    for loss in (-0.5, 0.0, 0.7):
        exact = float(np.maximum(one - math.exp(loss) * other, 0).sum()) * (axis[1] - axis[0])
        assert float(found(Fraction(loss).limit_denominator(100)).mid()) == pytest.approx(exact, abs=1e-6)


@pytest.mark.parametrize(
    ("draws", "records", "z", "relation"),
    [
        *((2, 4, 2, REPLACE), (5, 30, 1, REPLACE), (40, 200, 3, REPLACE), (1, 5, 2, REPLACE), (1, 5, 2, ZERO)),
        pytest.param(2, 4, 2, ZERO, marks=pytest.mark.seconds),
    ],
)
def test_draws_with_replacement_against_the_accountant(draws: int, records: int, z: int, relation: Any) -> None:
    """Nothing of it is shared: the profile of every order, and the largest of them at each loss."""
    one = dp.SampledWithReplacement(G(z), draws, records)
    orders = [profile((one, relation), order) for order in checker.RECORD[str(relation)]]
    for loss in (0, 0.03, 0.4, 1.1, 2.5):
        found = max(
            (each(Fraction(loss).limit_denominator(100)) for each in orders), key=lambda ball: float(ball.mid())
        )
        proven = dp.delta(one, epsilon=Fraction(loss).limit_denominator(100), relation=str(relation))
        assert float(found.upper()) >= proven.upper * (1 - 1e-9) - 1e-15
        assert float(found.mid()) == pytest.approx(proven.upper, rel=1e-6, abs=1e-15)


def test_as_many_coordinates_move_as_may() -> None:
    """So many releases of one coordinate each, or None: one profile for all that moves."""
    for bound, dimension, relation, many in (
        *(("1.9", None, ADD, 3), ("1.9", 2, ADD, 2), ("1.5", 9, ZERO, 2), ("1.9", 3, ZERO, 3)),
        *(("1.4", None, ADD, 1), ("2", 5, ADD, None), ("1.9", 1, ADD, 1), ("1", 2, REPLACE, None)),
    ):
        (release,) = (checker.read_release(each) for each in written_freely(bound, dimension))
        aim = checker.Aim(Fraction(1, 1000), 1, {}, {})
        with ctx.workprec(200):
            order = checker.RECORD[str(relation)][0]
            ((found, count),), _ = checker.steps_of([release], order, str(relation), aim)
        assert found.exact is (many is not None)
        assert count == (many or 1)
        assert checker.is_attained(release) or float(bound) >= 2


def written_freely(bound: str, dimension: int | None) -> list[Any]:
    noise = {"kind": "discrete-gaussian", "noise_stddev": "3", "bound": str(Fraction(bound)), "dimension": dimension}
    return [{"kind": "full-batch", "mechanism": noise, "count": 1}]


@pytest.mark.parametrize("order", ["replace", "remove", "add"])
def test_clones_against_all_their_outcomes(order: str) -> None:
    record = {"odds": "3", "shares": ["1/10", "1/10"], "clone_odds": ["2", "2"]}
    if order != "replace":
        record["shares"] = ["1/20", "1/5"]
    batches = 6
    with ctx.workprec(256):
        clones = checker.Clones(record)
        found = clones.profile(batches, order, arb(2) ** -60)
        p, unlike = (float(x) for x in clones.shares)
        theta, s = (p * 3 + unlike) / ((p + unlike) * 4), 3.0
        laws = []
        for chance in (s / (1 + s), 1 / (1 + s)):
            law = {}
            for c, k, own in itertools.product(range(batches), range(batches), (0, 1)):
                mass = stats.binom.pmf(c, batches - 1, p + unlike) * stats.binom.pmf(k, c, theta)
                law[c, k + own] = law.get((c, k + own), 0.0) + mass * (chance if own else 1 - chance)
            laws.append(law)
        one, other = laws if order != "add" else laws[::-1]
        for alpha in (0.2, 0.5, 0.9, 1.0, 1.4, 2.9, 3.5):
            exact = sum(max(0.0, one[key] - alpha * other[key]) for key in one)
            assert abs(float(found(arb(alpha)).mid()) - exact) < 1e-12, alpha


def test_what_clones_cost_is_counted() -> None:
    record = {"odds": "3", "shares": ["0", "1/3"], "clone_odds": ["2", "3"]}
    squared = 1 / 16
    with ctx.workprec(128):
        lost = float(checker.Clones(record).lost(Fraction(1, 16), 10, "remove"))
    own = checker.gaussian_profile(Fraction(1, 16))
    delta = float(own(arb(3)).mid())
    assert lost == pytest.approx(delta + 9 * (delta + delta) / 3)
    assert squared < 1
    for wrong in ({"odds": "1"}, {"shares": ["0", "1/2"]}, {"shares": ["1", "1"]}, {"clone_odds": ["1/2", "3"]}):
        with pytest.raises((checker.Unproven, checker.Malformed)):
            checker.Clones({**record, **wrong})
    both = checker.Clones(record)
    with pytest.raises(checker.Unproven, match="neither content"):
        both.profile(10, "replace", arb(2) ** -60)


def profile_of(law: list[tuple[float, float]], alpha: float) -> float:
    total = 0.0
    for chance, cost in law:
        mu = math.sqrt(cost)
        near = math.log(alpha) / mu
        total += chance * (stats.norm.sf(near - mu / 2) - alpha * stats.norm.sf(near + mu / 2))
    return total


CHANGING = ["0.1", "0.4", "0.02"], ["0.3", "0.1", "0.2", "0.5", "0.1", "0.1", "0.4", "0.2", "0.6", "0.1", "0.02", "0.3"]


@pytest.mark.parametrize(
    ("order", "sizes", "checkpoints"),
    [
        *(
            ("secret", ["0.1"], ()),
            ("shuffled", ["0.1"], ()),
            ("shuffled", ["0.1"], (1,)),
            ("shuffled", ["0.1"], (1, 2)),
        ),
        *(("shuffled", sizes, after) for sizes in CHANGING for after in ((), (2,), (1, 2))),
    ],
    ids=str,
)
def test_costs_of_secret_positions_against_all_of_them(order: str, sizes: list[str], checkpoints: Any) -> None:
    """Every permutation, each window step by step."""
    m, epochs = 4, 3
    run = walk(order, batches=m, smoothness_step=sizes if len(sizes) > 1 else sizes[0], checkpoints=checkpoints)
    release = checker.read_release(written(run, ZERO)[0])
    one = Fraction(1, 4)
    with ctx.workprec(256):
        found = checker.secret_costs(release, one)
    assert 1 <= sum(chance for chance, _ in found) <= 1 + Fraction(1, 10**6)
    steps = [float(size) for size in sizes for _ in range(m * epochs // len(sizes))]

    def window(first: int, end: int) -> float:
        held, scale = 0.0, 1.0
        for j in range(first, end):
            scale /= 1 + steps[j] if j > first else 1
            held += (scale * steps[j] / steps[first]) ** 2
        return 1 / held

    exact = []
    for places in itertools.product(range(m), repeat=epochs if order == "shuffled" else 1):
        p, cost = places if order == "shuffled" else places * epochs, 0.0
        for e in range(epochs):
            published = e + 1 in (*checkpoints, epochs)
            cost += window(e * m + p[e], (e + 1) * m + (0 if published else p[e + 1]))
        exact.append((m ** -float(len(places)), float(one) * cost))
    for alpha in (1.0, 1.3, 2.0):
        true, got = profile_of(exact, alpha), profile_of([(float(a), float(b)) for a, b in found], alpha)
        assert true - 1e-12 <= got <= true * (1 + (1e-12 if order == "secret" else 1e-3)), alpha


@pytest.mark.parametrize("sizes", [["0.1"], CHANGING[0]], ids=str)
def test_blocks_of_positions_and_cuts_of_long_runs_only_add(sizes: list[str]) -> None:
    """Few blocks spend a little more than one position each; a run of 70 epochs is cut into three."""
    m = 12
    run = walk("shuffled", batches=m, smoothness_step=sizes if len(sizes) > 1 else sizes[0])
    release = checker.read_release(written(run, ZERO)[0])

    def spent(alpha: float) -> float:
        with ctx.workprec(256):
            return profile_of([(float(a), float(b)) for a, b in checker.secret_costs(release, Fraction(1, 4))], alpha)

    true = spent(1.3)
    blocks = checker.blocks_of(m, 0.1, 5)
    assert [start for start, _ in blocks] == [0, *(end for _, end in blocks[:-1])]
    assert blocks[-1][1] == m
    assert len(blocks) < m
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(checker, "blocks_of", lambda *_: blocks)
        assert true < spent(1.3) < true * 1.5
    long = walk("shuffled", batches=m, epochs=70, checkpoints=(1,))
    with ctx.workprec(256):
        found = checker.Shuffles(checker.read_release(written(long, ZERO)[0]), Fraction(1, 4))
    assert sorted(found.pieces.items()) == [((0, 1), 1), ((0, 23), 3)]


@pytest.mark.parametrize("size", [5, 10, 11, 40])
def test_chances_of_cuts_against_plain_sums(size: int) -> None:
    rate, most = Fraction(1, 10), 10
    with ctx.workprec(256):
        often, kept = checker.cut_chances(rate, most, size)
        seldom, _ = checker.cut_chances(rate, most, size, least=True)
    tau = float(stats.binom.sf(most - 1, size - 1, 0.1))
    assert float(seldom) == pytest.approx(tau, rel=1e-9)
    assert seldom <= often
    assert float(often) == pytest.approx(tau, rel=1e-9)
    beyond = float(stats.binom.sf(most, size, 0.1))
    assert float(kept) == pytest.approx(min(0.1, most / size * beyond / tau) if tau > 1e-50 else 0.1, rel=1e-9)


# --- Sums of ratios: exact integers -----------------------------------------------------------------------------------


def test_sums_on_levels_keep_the_mean_and_never_lose_mass() -> None:
    grid = checker.Grid(8, 1, 6, 40)
    one = checker.Ratios([[0, 5, 0, 7] + [0] * 12, [0] * 9 + [3] + [0] * 6], 11)
    other = grid.constant(13)
    total = grid.sum(one, other)

    def moments(found: checker.Ratios) -> tuple[int, int]:
        points = [(k << level, mass) for level, row in enumerate(found.levels) for k, mass in enumerate(row)]
        return sum(mass for _, mass in points), sum(place * mass for place, mass in points) + found.lost

    (mass, mean), (certain, at) = moments(one), moments(other)
    assert certain == 1 << 40
    assert at == 26 << 40
    got_mass, got_mean = moments(total)
    assert mass <= got_mass <= mass + 64
    exact = mean + 26 * mass
    assert exact <= got_mean <= exact + 64 * 200


def test_what_lies_beyond_the_grid_is_counted_at_infinity() -> None:
    grid = checker.Grid(4, 0, 1, 20)  # points 0 to 7
    one = checker.Ratios([[0] * 7 + [1 << 20]], 0)
    total = grid.sum(one, one)  # 14 = 7 and a mean of 7 at infinity
    assert total.levels == [[0] * 7 + [1 << 20]]
    assert total.lost == 7 << 20


# --- Hints prove nothing by themselves --------------------------------------------------------------------------------

HOSTILE: tuple[dict[str, Any], ...] = (
    *({"spacing": "0"}, {"spacing": "2"}, {"points": 10**6}, {"points": 1000}, {"shift": -1}, {"shift": 99}),
    *({"points": "many"}, {"spacing": 1}, {"points": True}),
)
HOSTILE_ELSEWHERE: tuple[tuple[str, dict[str, Any]], ...] = (
    *(
        ("allocation, replaced", hints)
        for hints in ({"exchange": 100}, {"exchange": "1"}, {"finer": -1}, {"finer": 99})
    ),
    *(("matrix in bins", {"strides": strides}) for strides in ([0], [4], ["1"], 1, [-1], [None])),
)


@pytest.mark.parametrize("hints", HOSTILE, ids=str)
def test_hostile_hints_are_refused(hints: dict[str, Any]) -> None:
    releases = [checker.read_release(each) for each in written(*CASES["allocation, zeroed"])]
    with pytest.raises((checker.Malformed, checker.NotCovered, checker.Unproven)):
        checker.curve_of(releases, "remove", "zero-out-one", hints, Fraction(1, 1000), {})(Fraction(1))


@pytest.mark.parametrize(("name", "hints"), HOSTILE_ELSEWHERE, ids=str)
def test_hostile_hints_of_other_kinds_are_refused(name: str, hints: dict[str, Any]) -> None:
    mechanism, relation = CASES[name]
    releases = [checker.read_release(each) for each in written(mechanism, relation)]
    order = checker.RECORD[str(relation)][0]
    with pytest.raises((checker.Malformed, checker.NotCovered, checker.Unproven)):
        checker.curve_of(releases, order, str(relation), hints, Fraction(1, 1000), {})(Fraction(1))


def test_hostile_hints_about_clones_are_refused() -> None:
    releases = [checker.read_release(each) for each in written(*CASES["shuffled"])]
    right = {"odds": "3", "shares": ["0", "1/3"], "clone_odds": ["2", "3"]}
    for hints in (
        *({"clones": 1}, {"clones": [1]}, {"clones": [{}]}, {"clones": [{**right, "odds": 3}]}),
        *({"halves": []}, {"halves": [1, 2]}, {"halves": [{}, {"clones": "x"}]}, {"halves": [{}, {}], "first": "-1"}),
        {"halves": [{}, {}], "first": "2"},
    ):
        proofs = {"replace": {"parameters": hints}}
        claim = {"relation": "replace-one", "given": "delta", "target": Fraction(1, 1000)}
        with contextlib.suppress(checker.Malformed):
            ((below, above, _),) = checker.check_drawn(
                releases, {**claim, "lower": Fraction(0), "upper": Fraction(1, 9)}, proofs
            )
            assert (below, above) == (None, None), hints


def test_what_is_moved_in_a_range_of_sizes_is_what_the_pair_says() -> None:
    (single, _), *_ = CASES["truncated, added"][0].parts  # type: ignore[attr-defined]
    cut = cut_of(single.sample_rate, single.max_batch_size, 50, 60)
    moved = cut.surely / 2
    for order, ours in (("remove", Order.REMOVE), ("add", Order.ADD)):
        own = profile((single, ADD), order, moved=moved, sizes=(50, 60))
        with ctx.workprec(256):
            law = law_of(truncated._tagged_cut(single.mechanism, single.sample_rate, ours, cut, moved))
            for loss in LOSSES:
                assert abs(float(law.delta(checker.number(loss)).mid()) - float(own(loss).mid())) < 1e-9, (order, loss)


@pytest.mark.parametrize("share", [Fraction(11, 10), Fraction(1000)])
def test_no_more_is_moved_than_is_cut(share: Fraction) -> None:
    (single, _), *_ = CASES["truncated, added"][0].parts  # type: ignore[attr-defined]
    moved = cut_of(single.sample_rate, single.max_batch_size, 50, 60).surely * share
    with pytest.raises(checker.Unproven):
        profile((single, ADD), "remove", moved=moved, sizes=(50, 60))


@pytest.mark.parametrize("ends", [[], [10], [60, 10], [0, 60], [10, 10, 60], ["60"], [10, 70]])
def test_ranges_of_sizes_cover_all_sizes(ends: list[Any]) -> None:
    releases = [checker.read_release(each) for each in written(*CASES["truncated, added"])]
    for hint in (ends, [ends]):
        with pytest.raises(checker.Malformed):
            checker.size_classes(releases, "add-or-remove-one", {"sizes": hint})
        assert checker.size_classes(releases, "replace-one", {"sizes": hint}) == [{}]
    two = [{60: (1, 20)}, {60: (21, 60)}]
    assert checker.size_classes(releases, "add-or-remove-one", {"sizes": [20, 60]}) == two
    assert checker.size_classes(releases, "add-or-remove-one", {"sizes": [[20, 60]]}) == two
    assert checker.size_classes(releases, "add-or-remove-one", {}) == [{60: (1, 60)}]


UNLIKE = [dp.TruncatedPoisson(G(1), "1/2", 2, size) for size in (4, 3)]


def test_every_choice_of_a_range_for_each_promise_is_a_class() -> None:
    releases = [checker.read_release(each) for each in written(UNLIKE[0] ** 3 @ UNLIKE[1] ** 2, ADD)]
    found = checker.size_classes(releases, "add-or-remove-one", {"sizes": [[1, 4], [2, 3]]})
    assert found == [{3: three, 4: four} for three in ((1, 2), (3, 3)) for four in ((1, 1), (2, 4))]
    assert checker.size_classes(releases, "add-or-remove-one", {"sizes": [2, 3]}) == [
        {3: (1, 2), 4: (1, 4)},
        {3: (3, 3), 4: (1, 4)},
    ]
    for wrong in ([[1, 4], [2, 5]], [[1, 4], 3], [[1, 4], [2]], [[1, 4], []], [[4, 1], [3]]):
        with pytest.raises(checker.Malformed):
            checker.size_classes(releases, "add-or-remove-one", {"sizes": wrong})


def test_hints_have_ranges_of_sizes_for_each_promise() -> None:
    """The accountant's; what is moved is a list for each class, of one amount for each release."""
    mixed = UNLIKE[0] ** 3 @ UNLIKE[1] ** 2
    releases = [checker.read_release(each) for each in written(mixed, ADD)]
    hints = sizes_of(unproven(mixed, ADD), releases)
    assert hints["sizes"] == [[2, 3, 4], [2, 3]]
    assert [[amount != "0" for amount in each] for each in hints["moved"]] == [
        [four > 2, three > 2] for three in (2, 3) for four in (2, 3, 4)
    ]
    (alone,) = written(UNLIKE[0], ADD)
    assert sizes_of(unproven(UNLIKE[0], ADD), [checker.read_release(alone)])["sizes"] == [2, 3, 4]
    assert "sizes" not in sizes_of(unproven(mixed, REPLACE), releases)


@pytest.mark.seconds
def test_no_choice_of_sizes_spends_more_than_the_curve(monkeypatch: pytest.MonkeyPatch) -> None:
    """Against the accountant's pairs of two datasets, of which nothing is moved."""
    monkeypatch.setattr(truncation, "moved_of", lambda *_: Fraction(0))
    releases = [checker.read_release(each) for each in written(UNLIKE[0] @ UNLIKE[1], ADD)]
    hints, spent = {"sizes": [[1, 2, 3, 4], [1, 2, 3]], "spacing": "1/16"}, []
    for sizes in ((1, 3), (3, 3), (4, 2), (4, 3)):
        cut = [truncated._cut(each, Order.REMOVE, n, n, 2) for each, n in zip(UNLIKE, sizes, strict=True)]
        proof = prove_delta(tuple((each.pair, 1) for each in cut), Fraction(3), 1e-4)
        spent.append(float(proof.enclosure.exact_lower))
    found, _ = checker.curve_of(releases, "remove", str(ADD), hints, Fraction(1, 1000), {})(Fraction(3))
    assert max(spent) <= float(found) <= 1.01 * max(spent)
    del hints["sizes"]
    together, _ = checker.curve_of(releases, "remove", str(ADD), hints, Fraction(1, 1000), {})(Fraction(3))
    assert float(found) < float(together) / 2


def test_more_classes_of_sizes_than_are_looked_at_are_not_covered() -> None:
    many = dp.Composed(tuple((dp.TruncatedPoisson(G(1), "1/2", 2, size), 1) for size in range(20, 24)))
    releases = [checker.read_release(each) for each in written(many, ADD)]
    hints = {"sizes": [list(range(1, size + 1)) for size in range(20, 24)]}
    with pytest.raises(checker.NotCovered, match="classes of sizes"):
        checker.size_classes(releases, str(ADD), hints)


def test_work_is_counted_before_it_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    document = plain(spent("discrete Laplace"))
    monkeypatch.setattr(checker, "MOST_WORK", 5)
    status, lines = checker.check(document)
    assert status == checker.NOT_COVERED
    assert lines[0].endswith(checker.TOO_MUCH)
    report = check_certificate(document)  # accounted anew
    assert report.holds
    assert "accounted anew" in report.lines[-1]
    document["accounts"][0]["claim"]["upper"] = "1"
    assert not check_certificate(document).holds


@pytest.mark.parametrize("least", ["1", "1.00000004", "1.0041", "1.029", "1.031"])
def test_what_is_claimed_is_near_the_least_that_is_confirmed(least: str) -> None:
    asked: list[Fraction] = []

    def suffices(claim: Fraction) -> bool:
        asked.append(claim)
        return claim >= Fraction(least)

    found = least_confirmed(Fraction(1), suffices)
    if found is None:
        assert Fraction(least) > Fraction("1.03")
        return
    assert Fraction(least) <= found <= Fraction(least) + (Fraction(least) - 1) / 2 + Fraction("1e-6")
    assert len(asked) < 20


# --- Calibrations, and refusals -------------------------------------------------------------------------------


@pytest.mark.seconds
def test_a_calibration_claims_that_its_value_suffices() -> None:
    found = calibrate(lambda z: dp.SampledWithoutReplacement(G(z), 5, 50), 1, "1e-4", relation=REPLACE)
    document = plain(found)
    assert document["version"] == 5
    assert checker.check(document)[0] == checker.CONFIRMED
    assert check_certificate(document).holds
    document["calibration"]["value"] = str(checker.rational(document["calibration"]["value"]) + 1)
    assert checker.check(document)[0] == checker.WRONG


def test_what_is_refused_says_what_to_do() -> None:
    cases = {
        dp.SampledWithoutReplacement(
            dp.MixtureOfGaussians(3, {1: 1}), 1, 5
        ): "Gaussian noise, given by noise_multiplier",
        dp.SampledWithoutReplacement(dp.Laplace(noise_scale=2, sensitivity=1), 1, 5): "given by noise_multiplier",
        dp.SampledWithReplacement(dp.Laplace(2), 2, 5): "Gaussian noise, given by noise_multiplier",
        dp.PoissonSampled(dp.Skellam(30, 2), "0.1"): "bound each coordinate",
        dp.RandomlyAllocated(dp.Laplace(2), 2): "Gaussian noise, given by noise_multiplier",
        dp.UniformBall(9, 3): "publish the command and its output",
    }
    for mechanism, advice in cases.items():
        with pytest.raises(CertificateError, match=advice):
            certificate(unproven(mechanism, REPLACE))


@pytest.mark.minutes
def test_ten_epochs_of_one_of_a_hundred_replaced_have_a_certificate() -> None:
    """The checker's sums are coarser than the account, which is what the claim pays for."""
    told = account(dp.RandomlyAllocated(G(1), 100) ** 10, delta="1e-5", relation=REPLACE)
    (claim,) = certificate(told)["accounts"]
    upper = Fraction(claim["claim"]["upper"])
    assert told.enclosure.exact_upper <= upper <= told.enclosure.exact_upper * Fraction(103, 100)


@pytest.mark.seconds
def test_unlike_truncated_samples_claim_what_the_checker_confirms() -> None:
    """Each promise has its own ranges of sizes; with all sizes together the least that is confirmed is 19.7."""
    found = account(UNLIKE[0] ** 3 @ UNLIKE[1] ** 2, delta="1e-6")
    document = json.loads(json.dumps(certificate(found)))
    claim = document["accounts"][0]["claim"]
    assert found.enclosure.exact_upper <= Fraction(claim["upper"]) < Fraction("9.82")
    assert check_certificate(document).holds
    for proof in document["accounts"][0]["proofs"]:
        assert proof["parameters"].pop("sizes") == [[2, 3, 4], [2, 3]]
        del proof["parameters"]["moved"]
    assert checker.check(document)[0] == checker.WRONG
    claim["upper"] = "197/10"
    assert checker.check(document)[0] == checker.CONFIRMED


@pytest.mark.seconds
def test_what_ends_at_a_short_decimal_has_a_certificate() -> None:
    noise = Fraction(1.2484348459657177)  # calibrated to ε = 8 by version 0.2.0
    found = account(dp.Laplace(noise) ** 10, delta="1e-5")
    document = json.loads(json.dumps(certificate(found)))
    assert found.enclosure.exact_upper == 8
    assert 8 <= Fraction(document["accounts"][0]["claim"]["upper"]) <= Fraction("8.0001")
    assert check_certificate(document).holds
