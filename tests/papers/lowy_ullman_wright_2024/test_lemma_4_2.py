"""Lemma 4.2: the printed bound fails on a net of an interval, the repaired one holds."""

from itertools import pairwise

import pytest
import sympy
from mpmath import exp, ln

from dpbounds.expressions.symbols import Unit
from dpbounds.expressions.units import scaling_defects
from dpbounds.papers.lowy_ullman_wright_2024.lemma_4_2 import candidates, printed_candidates
from tests.papers.reference_formulas import evaluated

evaluate = evaluated("lowy-ullman-wright-2024/lemma-4.2")


def risks(size, points, cap):
    """A 1-Lipschitz and smooth loss of all records at the points j/points of [0, 1]: a slope from 0 up to a plateau.

    Its two corners (at 0, left of which it is constant, and at the plateau) are rounded within ``width``, which is less
    than half of the distance between two points of the net.
    """
    width = 1 / (100.0 * points)

    def huber(x):
        return 0.0 if x <= 0 else x * x / (2 * width) if x < width else x - width / 2

    return [max(0.0, huber(j / points) - huber(j / points - cap)) for j in range(points)]


def chance_to_exceed(bound, size, points):
    """The probability that the mechanism with scale εn/(4GD) returns a point of larger risk, for the worst plateau."""
    plateau = bound * (1 + 1e-6) + 2 / (100.0 * points)
    values = risks(size, points, plateau)
    weights = [float(exp(-size * value / 4)) for value in values]
    return sum(w for w, value in zip(weights, values, strict=True) if value > bound) / sum(weights)


@pytest.mark.parametrize(("points", "expected", "t"), [(10_000, 0.066, 5), (2_500, 0.056, 2.9)])
def test_the_printed_bound_is_missed_too_often(points, expected, t):
    size = 5_000  # εn, with G = D = d = 1: a net of radius 1/5000 has at least 2 500 points, and is allowed 10 000
    printed = 4 / size * float(ln(2 * size + t)) + 2 / size
    missed = chance_to_exceed(printed, size, points)
    assert missed == pytest.approx(expected, abs=1e-3)
    assert missed > float(exp(-t))
    repaired = float(evaluate("bound", G=1, D=1, epsilon=1, n=size, d=1, tail_exponent=str(t)).value.lower)
    assert chance_to_exceed(repaired, size, points) < float(exp(-t))


def test_the_loss_of_the_example_is_lipschitz():
    values = risks(5_000, 10_000, 0.01)
    assert max(abs(b - a) for a, b in pairwise(values)) <= (1 + 1e-9) / 10_000
    assert values[0] == 0


def test_the_printed_size_of_the_net_has_a_unit():
    assert scaling_defects(candidates, Unit(), bases=("loss", "length")) == ()
    assert len(scaling_defects(printed_candidates, Unit(), bases=("length",))) == 1
    # for a short interval the printed one is too small: a net of radius D/(εn) needs εn/2 points whatever D is
    values = {"diameter": sympy.Rational(1, 10), "epsilon": 1, "dataset_size": 1000, "dimension": 1}
    names = {symbol: values[symbol.name] for symbol in printed_candidates.free_symbols}
    assert printed_candidates.subs(names) < 1000 / 2 <= candidates.subs(names)
