"""Tree-SPIDER on fresh records: its records, its error, its parameters, and where the order wins."""

import math
from fractions import Fraction

import numpy as np
import pytest

from dpbounds.rates.promises import promises
from dpbounds.rates.regimes import regimes
from dpbounds.rates.spaces import at_epsilon
from tests.papers.reference_formulas import evaluated

NAME = "dpbounds/population-tree-spider"
evaluate = evaluated(f"{NAME}/explicit")
G = L = 1


def blocks_of(t, levels):
    """The dyadic blocks that cut [0, t), from the largest: (j, i) for [i 2^j, (i+1) 2^j)."""
    found, at = [], 0
    for j in reversed(range(levels)):
        if t >> j & 1:
            found.append((j, at >> j))
            at += 2**j
    return found


def mean_square_error(levels, segments_first, leaf, r, rho, d, runs, rng):
    """Of e_t over a segment, in runs with means of the largest variances: of ±G, and of ±L|x - y| along a line."""
    m, total = 2**levels, 0.0
    first = rng.choice([-1.0, 1.0], size=(runs, segments_first)).mean(axis=1)
    errors = {}
    noise = rng.standard_normal((runs, d)) * math.sqrt(2 / rho) * G / segments_first
    noise[:, 0] += G * first
    for t in range(m):
        for j, i in blocks_of(t, levels):
            if (j, i) not in errors:
                records = 2**j * leaf
                signs = rng.choice([-1.0, 1.0], size=(runs, records)).mean(axis=1)
                made = rng.standard_normal((runs, d)) * math.sqrt(2 / rho) * L * 2**j * r / records
                made[:, 0] += L * signs * 2**j * r
                errors[j, i] = made
        e = noise + sum((errors[block] for block in blocks_of(t, levels)), np.zeros((runs, d)))
        total += float((e * e).sum(axis=1).mean()) / m
    return total


def test_the_error_is_what_its_largest_variances_add_up_to():
    levels, b1, b2, r, rho, d = 4, 12, 3, 0.1, 0.5, 2
    found = mean_square_error(levels, b1, b2, r, rho, d, 4000, np.random.default_rng(0))
    given = {"levels": levels, "first_batch": b1, "leaf_batch": b2, "move_length": "1/10", "d": d, "G": G, "L": L}
    noises = {"sigma": math.sqrt(2 / rho) * G / b1, "sigma_2": math.sqrt(2 / rho) * L / b2}
    claimed = evaluate("error", **given, **{name: str(one) for name, one in noises.items()}).value.upper ** 2
    assert found == pytest.approx(claimed, rel=0.03)


@pytest.mark.parametrize(
    ("n", "d", "rho", "psi"),
    [
        (1e6, 10, 1, 0.01),
        (1e7, 10, 0.1, 1),
        (1e8, 1000, 0.5, 0.1),
        (1e9, 10**5, 1, 1),
        (1e12, 10, 1e-3, 1),
        (1e10, 3, 1, 1e-9),
    ],
)
def test_the_parameters_of_the_closed_form_fit_and_give_less(n, d, rho, psi):
    sizes = {"n": int(n), "d": d, "rho": str(rho)}
    problem = {"G": G, "L": L, "psi": str(psi)}
    A = evaluate("tree_accuracy", **sizes, **problem).value.upper
    assert A < G
    J = max(1, math.ceil(math.log2(G / A)))
    m = 2**J
    b1 = math.ceil(max((G / A) ** 2, G / A * math.sqrt(2 * d / rho)))
    b2 = math.ceil(max(m / 2, math.sqrt(J * d / rho)))
    S = max(1, math.ceil(psi * L / (A * A * m)))
    assert S * (b1 + J * m * b2 / 2) <= n
    shape = {"levels": J, "first_batch": b1, "leaf_batch": b2, "segments": S, "move_length": repr(A / L)}
    noises = {"sigma": repr(math.sqrt(2 / rho) * G / b1), "sigma_2": repr(math.sqrt(2 / rho) * L / b2)}
    bound = evaluate(**shape, **noises, **problem, d=d, n=int(n))
    assert bound.applies
    tuned = evaluate("tuned", **sizes, **problem).value
    assert bound.value.upper <= 5.5 * A * (1 + 1e-12) <= tuned.upper * (1 + 1e-9)


@pytest.mark.seconds
def test_where_it_wins_at_a_constant_epsilon():
    """Strictly for d < n < d^(11/6), and tied with the disputed second-order rate beyond."""
    space = at_epsilon(Fraction(0))
    for disputed in (False, True):
        statuses = ["proved", "proved here", "claimed", *(["disputed"] if disputed else [])]
        found = promises("population-gradient-norm", space=space, statuses=statuses)
        regions = regimes({one.id: one.order for one in found.uppers}, {}, space)
        for power, alone in (("9/10", None), ("11/10", True), ("3/2", True), ("9/5", True), ("2", False), ("3", False)):
            point = (Fraction(power), Fraction(1))
            (regime,) = [one for one in regions if one.cone.contains(point)]
            assert (NAME in regime.best) == (alone is not None), power
            if alone is not None:
                assert (regime.best == (NAME,)) == (alone or not disputed), power
