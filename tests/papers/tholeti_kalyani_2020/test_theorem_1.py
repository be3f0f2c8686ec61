"""Theorem 1: what composition really gives."""

import itertools
from fractions import Fraction
from math import prod

import pytest

from dpbounds.privacy.accountants.certified import delta
from dpbounds.privacy.mechanisms import ApproximateDP, Composed
from dpbounds.theorems.registry import theorem
from dpbounds.theorems.spending import spending
from tests.papers.twins import evaluated

STATEMENT = theorem("tholeti-kalyani-2020/theorem-1")
evaluate = evaluated("tholeti-kalyani-2020/theorem-1")


def total_variation(first, second):
    return sum(abs(p - q) for p, q in zip(first, second, strict=True)) / 2


def test_the_sum_is_not_what_optimal_composition_gives():
    failures = [Fraction(1, 10), Fraction(1, 4), Fraction(1, 3)]
    # three mechanisms that reveal the data set with these probabilities: answers "hidden", "it is S", "it is S'"
    laws = [((1 - p, p, 0), (1 - p, 0, p)) for p in failures]
    ours, theirs = ([prod(law) for law in itertools.product(*side)] for side in zip(*laws, strict=True))
    composed = total_variation(ours, theirs)
    assert composed == 1 - prod(1 - p for p in failures)
    assert composed < sum(failures)
    boxes = Composed(tuple((ApproximateDP(0, p, relation="replace-one"), 1) for p in failures))
    certified = delta(boxes, 0, relation="replace-one")
    assert certified.lower <= composed <= certified.upper * (1 + 1e-9)
    assert certified.upper < sum(failures)


@pytest.mark.parametrize("dimension", [1, 8])
def test_the_promise_is_kept(dimension):
    values = {"steps": 40, "dataset_size": 500, "sensitivity": "0.5", "radius": 1, "dimension": dimension}
    promised = evaluate(**values).value
    found = spending(STATEMENT, {**values, "delta": promised.exact_upper})
    assert found.kept is True
    assert 0.9 * promised.lower < found.spent.upper < promised.upper


def test_one_differing_record_keeps_one_nth_of_its_distance():
    # laws on four cells: a mixture over three records against the same with one record replaced
    shared = [[Fraction(1, 2), Fraction(1, 2), 0, 0], [0, Fraction(1, 3), Fraction(2, 3), 0]]
    before, after = [Fraction(1, 4)] * 4, [0, 0, Fraction(1, 5), Fraction(4, 5)]
    mixtures = [[sum(column) / 3 for column in zip(*shared, one, strict=True)] for one in (before, after)]
    assert total_variation(*mixtures) == total_variation(before, after) / 3
