"""matrices.md, section 7: one secret group per record, two bins and two steps, against an adversary who looks back."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

ALPHAS = (0.5, 1.0, 1.7, 3.0)
ORDERS = ("remove", "add", "replace")
_POINTS = np.linspace(-7.5, 7.5, 121)
_MASS = np.exp(-(_POINTS**2) / 2) * (_POINTS[1] - _POINTS[0]) / math.sqrt(2 * math.pi)
_WEIGHTS = np.outer(_MASS, _MASS)
_X, _Y = np.meshgrid(_POINTS, _POINTS, indexing="ij")


def profile(covariance: np.ndarray, alpha: float, order: str) -> float:
    """H_α of the mean of e^(Y_j - G_jj/2) over two bins, by midpoint sums; replaced, against e^(-Y_j - G_jj/2)."""
    root = np.linalg.cholesky(covariance + 1e-12 * np.eye(2))
    first = np.exp(root[0, 0] * _X - covariance[0, 0] / 2)
    second = np.exp(root[1, 0] * _X + root[1, 1] * _Y - covariance[1, 1] / 2)
    ratio = (first + second) / 2
    gains = {"remove": ratio - alpha, "add": 1 - alpha * ratio, "replace": ratio - alpha * ratio[::-1, ::-1]}[order]
    return float((_WEIGHTS * np.maximum(gains, 0)).sum())


def answered(corner: float, z: float, alpha: float, order: str) -> float:
    """C = [[1, 0], [c, 1]] and two bins: the record is in step 1 or in step 2, where it answers the first row."""
    step = _POINTS[1] - _POINTS[0]

    def normal(mean: float) -> np.ndarray:
        return np.exp(-((_POINTS - mean / z) ** 2) / 2) / math.sqrt(2 * math.pi)

    def present(first: float, second: float) -> np.ndarray:
        return 0.5 * np.outer(normal(first), normal(first * corner)) + 0.5 * np.outer(normal(0), normal(second))

    nothing = np.outer(normal(0), normal(0))
    options = []
    for u, v in itertools.product((-1.0, 1.0), (-1.0, 1.0) if order == "replace" else (0.0,)):
        with_, without = present(1, u), present(-1, v) if order == "replace" else nothing
        difference = without - alpha * with_ if order == "add" else with_ - alpha * without
        options.append(np.maximum(difference, 0).sum(axis=1) * step)
    return float(np.max(options, axis=0).sum() * step)


@pytest.mark.parametrize("corner", [0.5, -0.5, -1.0])
def test_looking_back_gains_nothing_on_secret_bins(corner: float) -> None:
    columns = np.array([[1, 0], [abs(corner), 1]])
    for z, alpha, order in itertools.product((1.0, 2.0), ALPHAS, ORDERS):
        best, claimed = answered(corner, z, alpha, order), profile(columns.T @ columns / z**2, alpha, order)
        assert best < claimed + 2e-3 * claimed + 1e-6
        if corner > 0:
            assert best == pytest.approx(claimed, rel=5e-3, abs=1e-6)
