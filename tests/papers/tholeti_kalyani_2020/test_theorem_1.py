"""Theorem 1: what composition really gives.

With constants: against exact small runs, and against the closed forms of the accountant.
"""

import itertools
from fractions import Fraction
from math import prod

import pytest

from dpbounds.privacy.accountants.certified import delta
from dpbounds.privacy.budgets.ball_noise import BallDescent
from dpbounds.privacy.mechanisms import ApproximateDP, Composed
from dpbounds.theorems.registry import theorem
from dpbounds.theorems.spending import spending
from tests.papers.reference_formulas import evaluated

EXPLICIT = theorem("tholeti-kalyani-2020/theorem-1/explicit")
explicit = evaluated("tholeti-kalyani-2020/theorem-1/explicit")
STATEMENT = theorem("tholeti-kalyani-2020/theorem-1")
evaluate = evaluated("tholeti-kalyani-2020/theorem-1")


def total_variation(first, second):
    return sum(abs(p - q) for p, q in zip(first, second, strict=True)) / 2


def test_the_sum_is_not_what_optimal_composition_gives():
    failures = [Fraction(1, 10), Fraction(1, 4), Fraction(1, 3)]
    # three mechanisms that reveal the dataset with these probabilities: answers "hidden", "it is S", "it is S'"
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


VALUES = {"sensitivity": "0.9", "radius": "1.3", "dimension": 4, "dataset_size": 30, "steps": 50}


def cells(gradient, shared, records):
    """Uniform noise on [-2, 2], whole gradients: P of each unit cell when one record out of some is drawn."""
    law = dict.fromkeys(range(-4, 4), Fraction(0))
    for one in (gradient, *shared):
        for cell in range(one - 2, one + 2):
            law[cell] += Fraction(1, 4 * records)
    return law


@pytest.mark.parametrize("level", [1, Fraction(3, 2), 20])  # e^ε
def test_an_exact_run_of_three_steps_attains_it(level):
    first, second = cells(1, (0, 0), 3), cells(0, (0, 0), 3)
    worst = Fraction(0)
    for path in itertools.product(first, repeat=3):
        p = first[path[0]] * first[path[1]] * first[path[2]]
        q = second[path[0]] * second[path[1]] * second[path[2]]
        worst += max(Fraction(0), p - level * q)
    value = explicit(Delta=1, r_u=2, d=1, n=3, T=3).value
    assert float(worst) == pytest.approx(value.upper)
    assert worst == 1 - Fraction(11, 12) ** 3


def test_it_is_the_closed_form_of_the_accountant_and_what_is_spent():
    descent = BallDescent("0.9", 4, 30, 50)
    value = explicit(**VALUES).value
    assert value.overlaps(descent.delta("1.3"))
    found = spending(EXPLICIT, {**VALUES, "delta": "0.5"})
    assert found.spent.overlaps(value)
    printed = evaluated("tholeti-kalyani-2020/theorem-1")(**VALUES).value
    assert value.upper < printed.lower


@pytest.mark.parametrize("dimension", [1, 2, 3, 50, 10_000])
def test_the_elementary_bound(dimension):
    for distance in ("1e-6", "0.1", "1", "5"):
        values = {**VALUES, "d": dimension, "Delta": distance, "T": 1, "n": 100}
        exact, bound = (explicit(name, **values).value for name in ("bound", "elementary"))
        assert exact.upper <= bound.lower
        if distance == "1e-6":
            assert bound.upper < 1.13 * exact.lower


def test_the_steps_for_a_delta():
    values = {**VALUES, "delta": "0.2"}
    most = int(explicit("steps", **values).value.lower)
    assert explicit("bound", **{**values, "steps": most}).value.upper <= 0.2
    assert explicit("bound", **{**values, "steps": most + 1}).value.lower > 0.2
