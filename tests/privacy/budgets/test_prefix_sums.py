"""The error of prefix sums against plain linear algebra, and coefficients that no small change improves."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import check_grad

import dpbounds as dp
from dpbounds.errors import InvalidValue, NotCertified
from dpbounds.privacy.budgets import prefix_sums
from dpbounds.privacy.mechanisms.schemes.streams import reach


def exactly(matrix, error):
    """The squared error in rational numbers, by forward substitution."""
    n, c = matrix.steps, matrix.coefficients
    r = []
    for i in range(n):
        pulled = sum(c[k] * r[i - k] for k in range(1, min(i, len(c) - 1) + 1))
        r.append(((1 if i == 0 else 0) - pulled) / c[0])
    sums = list(itertools.accumulate(r))
    if error == "largest":
        return sum(b * b for b in sums)
    return sum((n - j) * b * b for j, b in enumerate(sums)) / n


@pytest.mark.parametrize("error", ["mean", "largest"])
@pytest.mark.parametrize(
    "coefficients", [[1], [2, 1], [1, "-1/2"], [1, "1/2", "3/8", "5/16"], [1, 0, "9/10"], ["3", "-2", "1/7", "5"]]
)
def test_the_error_is_enclosed(coefficients, error):
    matrix = dp.Toeplitz(coefficients, 24)
    found = dp.prefix_error(matrix, error)
    truth = exactly(matrix, error)
    assert found.exact_lower**2 <= truth <= found.exact_upper**2
    assert found.exact_upper < found.exact_lower * (1 + Fraction(1, 10**12))


@pytest.mark.parametrize("size", [10, 60, 85, 95])
def test_a_wrong_inverse_is_no_proof(size, monkeypatch):
    """What the proof starts from may be off: the enclosure is then wider, or there is none."""
    matrix = dp.Toeplitz([1, "1/2", "3/8"], 24)
    truth = exactly(matrix, "mean")
    original = prefix_sums._nearest
    monkeypatch.setattr(prefix_sums, "_nearest", lambda value, unit: original(value, unit) + (1 << size))
    try:
        found = dp.prefix_error(matrix)
    except NotCertified:
        assert size > 80
    else:
        assert size < 95
        assert found.exact_lower**2 <= truth <= found.exact_upper**2


def test_a_wild_inverse_is_refused():
    with pytest.raises(NotCertified, match="fewer steps"):
        dp.prefix_error(dp.Toeplitz([1, 3], 3000))


def test_the_gradient_is_one():
    columns, weights = np.array([3.0, 3, 2, 2]), np.linspace(1, 0.1, 50)
    off = check_grad(
        lambda x: prefix_sums._cost(x, columns, weights)[0],
        lambda x: prefix_sums._cost(x, columns, weights)[1],
        np.array([0.5, 0.3, 0.1]),
    )
    assert off < 1e-5


def costs(matrix, separation, error):
    reached = reach(matrix, "fixed-order" if separation else "single", separation, None)
    return float(reached.upper) ** 0.5 * dp.prefix_error(matrix, error).upper


@pytest.mark.parametrize(
    ("steps", "bands", "separation", "error"),
    [(40, 3, None, "mean"), (40, 4, 8, "mean"), (42, 4, 5, "largest"), (30, 30, None, "largest")],
)
def test_no_small_change_does_better(steps, bands, separation, error):
    best = dp.optimal_toeplitz(steps, bands, separation=separation, error=error)
    cost = costs(best, separation, error)
    root = costs(dp.Toeplitz("square-root", steps, bands), separation, error)
    assert cost < root * (1 + 1e-9)
    assert cost < costs(dp.Toeplitz([1], steps), separation, error)
    for index, change in itertools.product(range(1, min(bands, 4)), ("0.02", "-0.02")):
        other = list(best.coefficients)
        other[index] += Fraction(change)
        assert cost < costs(dp.Toeplitz(other, steps), separation, error)


@pytest.mark.seconds
def test_two_bands_by_trying_all():
    best = dp.optimal_toeplitz(32, 2)
    tried = {k: costs(dp.Toeplitz([1, Fraction(k, 200)], 32), None, "mean") for k in range(200)}
    assert abs(best.coefficients[1] - Fraction(min(tried, key=tried.get), 200)) <= Fraction(1, 200)


@pytest.mark.parametrize(
    "given",
    [
        {"bands": 9, "separation": 8},
        {"bands": 0},
        {"error": "median"},
        {"steps": 0},
        {"steps": 10**9},
        {"steps": 50_000, "bands": 500},
        {"sampled": np.array([])},
    ],
)
def test_what_cannot_be_looked_for(given):
    with pytest.raises(InvalidValue):
        dp.optimal_toeplitz(**({"steps": 20, "bands": 2} | given))


def test_other_matrices_have_no_such_error():
    with pytest.raises(InvalidValue, match="Toeplitz"):
        dp.prefix_error(dp.BinaryTree(5))
