"""The map of open problems: gaps by size, against a search on a grid; what is tight or open is said."""

from fractions import Fraction
from itertools import product

import pytest
from attrs import evolve

from dpbounds.expressions.symbols import epsilon
from dpbounds.rates.open_problems import open_problems
from dpbounds.rates.promises import compared, promises
from dpbounds.rates.regimes import Verdict, verdict_in_words
from dpbounds.rates.spaces import in_letters, standard
from dpbounds.theorems.record import Metric
from dpbounds.theorems.registry import library, theorem

GRADIENT = "dpbounds/lower-bound/gradient-norm"


@pytest.fixture(scope="module")
def every():
    return open_problems()


def test_gaps_come_first_and_the_largest_of_them(every):
    sizes = [one.size for one in every]
    gaps = [one for one in sizes if one is not None]
    assert gaps == sorted(gaps, reverse=True)
    assert sizes[len(gaps) :] == [None] * (len(sizes) - len(gaps))
    assert all((one.size is None) == (one.regime.verdict is Verdict.OPEN) for one in every)


@pytest.mark.seconds_cases("24", "26", "30")
@pytest.mark.parametrize("n", [12, 24, 26, 30])
def test_a_size_is_the_largest_gap_of_a_grid(every, n):
    grid = [(Fraction(n), Fraction(d), Fraction(-e)) for d, e in product(range(3 * n + 1), range(n + 1))]  # logarithms
    for one in every:
        if one.size is None or one.space is not standard():
            continue
        form = one.space.form(one.regime.gap)
        inside = [point for point in grid if one.regime.cone.contains(point)]
        found = [sum(a * b for a, b in zip(form, point, strict=True)) / point[0] for point in inside]
        assert max(found) <= one.size  # attained in a corner, which need not be on the grid
        assert one.regime.cone.contains(tuple(map(Fraction, one.at)))
        assert sum(a * b for a, b in zip(form, one.at, strict=True)) == one.size * one.at[0]


def test_the_gaps_of_gradients(every):
    found = {(one.metric, in_letters(one.regime.gap)): one for one in every if one.regime.gap is not None}
    first = found[Metric.GRADIENT_NORM, "d^(1/6)"]
    assert first.size == Fraction(1, 6)
    assert GRADIENT in first.lowers
    second = found[Metric.SOSP, "n^(1/3) ε^(1/3)/d^(1/6)"]  # where a warm start is not better: n ε <= d
    assert (second.size, second.lowers) == (Fraction(1, 6), ("dpbounds/lower-bound/sosp",))
    third = found[Metric.SOSP, "d^(1/6)"]  # and where it is, a second-order point costs what a small gradient does
    assert (third.size, in_letters(third.regime.value)) == (Fraction(1, 6), "d^(2/3)/(n ε)")
    assert all(one.lowers for one in found.values())


def test_no_region_is_listed_twice_and_none_is_lost(every):
    for metric in (Metric.GRADIENT_NORM, Metric.POPULATION_SOSP):
        listed = [one.regime.cone for one in every if one.metric is metric]
        loose = [one.cone for one in compared(promises(metric)) if one.verdict is not Verdict.TIGHT]
        for cone in loose:
            assert sum(one.contains(cone.inside) for one in listed) == 1
        tight = [one.cone for one in compared(promises(metric)) if one.verdict is Verdict.TIGHT]
        assert not any(one.contains(cone.inside) for one in listed for cone in tight)


def test_without_its_lower_bounds_a_metric_is_open_and_not_tight():
    without = [one for one in library() if not one.id.startswith("dpbounds/lower-bound")]
    found = [one for one in open_problems(without) if one.metric is Metric.SOSP]
    assert {one.regime.verdict for one in found} == {Verdict.OPEN}
    assert verdict_in_words(found[0].regime.gap) == "open: no lower bound that compares is known"


def test_a_lower_bound_that_hides_what_decides_is_no_floor():
    record = theorem("cited/arora-et-al-2023/theorem-4.3")
    hiding = evolve(record, parts=(evolve(record.parts[0], hides=(epsilon,)),))
    rest = [one for one in library() if one.metric is Metric.GRADIENT_NORM and one.side.value == "upper"]
    found = compared(promises("gradient-norm", statements=[*rest, hiding]))
    assert {one.verdict for one in found} == {Verdict.OPEN}


def test_convex_problems_are_settled():
    """Up to logarithms: with them the map says tight, where a statement for convex losses exists."""
    for metric in ("gradient-norm", "population-gradient-norm", "excess-empirical-risk"):
        found = compared(promises(metric, assuming=["convex"]))
        assert {one.verdict for one in found} == {Verdict.TIGHT}, metric
