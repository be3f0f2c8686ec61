"""Correlated noise with one secret group per record: exact overlaps, and two bins by quadrature."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import dpbounds as dp
from dpbounds.errors import InvalidValue, UnsupportedMechanism
from dpbounds.privacy.domination.composition import neighbour_classes
from dpbounds.privacy.mechanisms.schemes import bins, streams
from dpbounds.privacy.mechanisms.schemes.encoders import LowerTriangular
from dpbounds.privacy.pairs.pairs import Allocated, Combined, Direction, Pair, ShiftedGaussians
from dpbounds.privacy.relations import Order
from tests.privacy.pairs.test_streams import dense, random_matrices

AR, RE, ZO = dp.Relation
ALPHAS = (0.5, 1.0, 1.7, 3.0)
Gram = np.ndarray


def gram(matrix: streams.Encoder, count: int, *, signed: bool = False) -> Gram:
    full = dense(matrix) if signed else np.abs(dense(matrix))
    columns = np.stack([full[:, j::count].sum(axis=1) for j in range(count)], axis=1)
    return columns.T @ columns


@pytest.mark.parametrize("index", range(14))
def test_overlaps_are_exact(index: int) -> None:
    matrix, _ = random_matrices()[index]
    for count in (1, 2, 3, 4, 9):
        found, full = bins.bins_of(matrix, count), gram(matrix, count)
        assert float(found.largest) == pytest.approx(full.diagonal().max())
        for d in range(1, count):
            assert float(found.overlaps[d - 1]) == pytest.approx(np.diagonal(full, d).max(), abs=1e-12)
        assert float(found.smallest) <= gram(matrix, count, signed=True).diagonal().min() + 1e-9
        assert float(found.shared) <= full.min() + 1e-9
        assert found.shared == 0 or not (dense(matrix) < 0).any()
        for stride in (s for s in range(1, count + 1) if count % s == 0):
            common, own = map(float, found.at(stride))
            for j, k in itertools.product(range(count), repeat=2):
                if (j - k) % stride == 0:
                    assert full[j, k] <= common + (own if j == k else 0) + 1e-9


# --- Two bins, in two dimensions --------------------------------------------------------------------------------------

_POINTS = np.linspace(-7.5, 7.5, 121)
_MASS = np.exp(-(_POINTS**2) / 2) * (_POINTS[1] - _POINTS[0]) / math.sqrt(2 * math.pi)
_WEIGHTS = np.outer(_MASS, _MASS)
_X, _Y = np.meshgrid(_POINTS, _POINTS, indexing="ij")


def profile(covariance: Gram, alpha: float, order: Order) -> float:
    """H_α of the mean of e^(Y_j - G_jj/2) over two bins, by midpoint sums; the least eigenvalue is lifted by 1e-12.

    Replaced: of that mean against the one of e^(-Y_j - G_jj/2).
    """
    root = np.linalg.cholesky(covariance + 1e-12 * np.eye(2))
    first = np.exp(root[0, 0] * _X - covariance[0, 0] / 2)
    second = np.exp(root[1, 0] * _X + root[1, 1] * _Y - covariance[1, 1] / 2)
    ratio = (first + second) / 2
    if order is Order.REPLACE:
        return float((_WEIGHTS * np.maximum(ratio - alpha * ratio[::-1, ::-1], 0)).sum())
    return float((_WEIGHTS * np.maximum(1 - alpha * ratio if order is Order.ADD else ratio - alpha, 0)).sum())


def as_gram(pair: Pair, order: Order) -> Gram:
    """The covariance that a pair for two bins stands for; replaced, a Gaussian goes from one side to the other."""
    parts = [part for part, _ in pair.product] if isinstance(pair, Combined) else [pair]
    found = np.zeros((2, 2))
    for part in parts:
        if isinstance(part, ShiftedGaussians):
            found += float(part.squared_shift) / (4 if order is Order.REPLACE else 1)
        else:
            assert isinstance(part, Allocated)
            assert (part.direction is Direction.REPLACE) is (order is Order.REPLACE)
            ((base, count),) = part.shares
            assert isinstance(base, ShiftedGaussians)
            assert (part.bins, count) == (2, 2)
            found += float(base.squared_shift) * np.eye(2)
    return found


def two_bins() -> list[dp.MatrixMechanism]:
    matrices = (
        dp.Toeplitz("square-root", 4, 2),
        dp.Toeplitz([1, "-1/2"], 6),
        dp.BinaryTree(4),
        LowerTriangular([[1], ["1/2", 1], [0, "-1/4", 2]]),
    )
    return [dp.MatrixMechanism(z, matrix, "balls-in-bins", separation=2) for matrix in matrices for z in (2, 4)]


@pytest.mark.seconds
def test_two_bins_lie_between_the_ends() -> None:
    """The pair of two bins is below what is said to dominate, and what is said to be attained is not above it."""
    for mechanism, order in itertools.product(two_bins(), (Order.REMOVE, Order.ADD, Order.REPLACE)):
        ((bound, _),) = bins.bins_steps(mechanism, order)
        true = gram(mechanism.matrix, 2) / float(mechanism.noise_multiplier) ** 2
        at_right_angles = np.diag(gram(mechanism.matrix, 2, signed=True).diagonal())
        attained = [true] if not (dense(mechanism.matrix) < 0).any() else []
        attained.append(at_right_angles / float(mechanism.noise_multiplier) ** 2)
        for alpha in ALPHAS:
            assert profile(true, alpha, order) <= profile(as_gram(bound.pair, order), alpha, order) + 1e-6
            best = max(profile(each, alpha, order) for each in attained)
            said = [profile(as_gram(attack, order), alpha, order) for attack in bound.attacks]
            assert max(said) <= best + 1e-6


# --- Whole answers ----------------------------------------------------------------------------------------------------


def banded(bands: int, z: int = 3) -> dp.MatrixMechanism:
    root = [math.comb(2 * k, k) / 4**k for k in range(bands)]
    norm = math.sqrt(sum(c * c for c in root))
    matrix = dp.Toeplitz([c / norm for c in root], steps=200)
    return dp.MatrixMechanism(z, matrix, "balls-in-bins", separation=20)


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("bands", "upper", "lower"),
    [(4, 2.986, 1.72), (20, 3.77, 1.74), pytest.param(200, 8.10, 7.2, marks=pytest.mark.minutes)],
)
def test_numbers_of_a_second_computation(bands: int, upper: float, lower: float) -> None:
    """Worked out before by plain floating-point grids: 2.985, 3.760 and 8.089 from above."""
    found = dp.epsilon(banded(bands), "1e-5", tolerance=1e-2)
    assert lower < found.exact_lower < found.exact_upper < upper * 1.01
    replaced = dp.epsilon(banded(bands), "1e-5", RE, tolerance=1e-2)
    assert replaced.exact_lower > found.exact_lower  # ±v, not v and nothing
    fixed = dp.MatrixMechanism(3, banded(bands).matrix, "fixed-order", separation=20)
    assert replaced.at_most(dp.epsilon(fixed, "1e-5", RE).exact_upper)


@pytest.mark.seconds
def test_the_identity_is_balls_in_the_same_bins() -> None:
    matrix = dp.MatrixMechanism(4, dp.Toeplitz([1], 100), "balls-in-bins", separation=10)
    same = dp.BallsInBins(dp.Gaussian(4), bins=10, epochs=10, redraw=False)
    for relation in dp.Relation:
        kept, plain = (dp.epsilon(m, "1e-5", relation, tolerance=1e-3) for m in (matrix, same))
        assert kept.overlaps(plain)
        assert neighbour_classes(matrix, relation).tight


def test_bins_are_drawn_independently() -> None:
    assert banded(4).groups == "independent"
    with pytest.raises(InvalidValue, match="independent"):
        dp.MatrixMechanism(1, [[1]], "balls-in-bins", separation=1, groups="content")
    with pytest.raises(InvalidValue, match="separation"):
        dp.MatrixMechanism(1, [[1]], "balls-in-bins")


def test_one_bin_is_no_secret() -> None:
    one = dp.MatrixMechanism(3, dp.Toeplitz([1, "1/2"], 9), "balls-in-bins", separation=1)
    fixed = dp.MatrixMechanism(3, dp.Toeplitz([1, "1/2"], 9), "fixed-order", separation=1)
    for relation in (ZO, RE):
        assert dp.epsilon(one, "1e-5", relation).exact_upper == dp.epsilon(fixed, "1e-5", relation).exact_upper
    assert dp.epsilon(one, "1e-5").exact_upper == dp.epsilon(fixed, "1e-5", ZO).exact_upper


def test_large_trees_with_bins_are_refused() -> None:
    with pytest.raises(UnsupportedMechanism, match="fixed-order"):
        bins.bins_of(dp.BinaryTree(10_000), 4)
