"""Sums over records of φ(<a_i, x>, t_i): value, gradient and Hessian, without anything of size n p R."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dpbounds.algorithms.problems.finite_sum import Array

# From products u = <a_i, x>, shape (R, n) or (b,), and targets, shape (n,) or (b,), to φ and its derivatives in u.
Derivatives = Callable[[Array, Array], tuple[Array, Array, Array]]

# Numbers held at once in a block of products, so that memory is O(n p + R p) however many points there are.
_BLOCK_ENTRIES = 1 << 20
_BLOCK_RECORDS = 2048


def objective_and_gradient(derivatives: Derivatives, features: Array, targets: Array, X: Array) -> tuple[Array, Array]:
    """(1/n) Σ φ of shape (R,) and (1/n) Σ φ' a_i of shape (R, p), in one pass over blocks of records."""
    values, gradients = np.zeros(len(X)), np.zeros(X.shape)
    for start in range(0, len(features), _BLOCK_RECORDS):
        block = slice(start, start + _BLOCK_RECORDS)
        value, slope, _ = derivatives(X @ features[block].T, targets[block])
        values += value.sum(axis=1)
        gradients += slope @ features[block]
    return values / len(features), gradients / len(features)


def objective_in_blocks(objective: Callable[[Array], Array], X: Array, records: int) -> Array:
    """The objective at N points, so few at a time that memory stays small; returns (N,)."""
    width = max(1, _BLOCK_ENTRIES // min(records, _BLOCK_RECORDS))
    parts = [objective(X[start : start + width]) for start in range(0, len(X), width)]
    return np.concatenate(parts) if parts else np.zeros(0)


def batch_gradient(
    derivatives: Derivatives, features: Array, targets: Array, X: Array, rows: NDArray[np.int64]
) -> Array:
    """The mean of φ' a_i over each repetition's own records, ``rows`` of shape (R, b); returns (R, p)."""
    means = np.empty(X.shape)
    for index, own in enumerate(rows):  # one at a time: no R × b × p numbers, none depends on its neighbours
        block = features[own]
        means[index] = derivatives(block @ X[index], targets[own])[1] @ block / len(own)
    return means


def hessian(derivatives: Derivatives, features: Array, targets: Array, X: Array) -> Array:
    """(1/n) Σ φ'' a aᵀ, shape (R, p, p)."""
    p = features.shape[1]
    found = np.zeros((len(X), p, p))
    for start in range(0, len(features), _BLOCK_RECORDS):
        own = features[start : start + _BLOCK_RECORDS]
        curvature = derivatives(X @ own.T, targets[start : start + _BLOCK_RECORDS])[2]
        for index, weights in enumerate(curvature):  # one product per repetition, no n × p × R temporary
            found[index] += (own.T * weights) @ own
    return found / len(features)
