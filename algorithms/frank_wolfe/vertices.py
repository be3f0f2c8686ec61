"""The vertices of a polytope as candidates: their products with gradients, without a matrix if possible."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from attrs import Attribute
from numpy.typing import NDArray

from dpbounds.algorithms.noise import Array
from dpbounds.algorithms.oracles import batches
from dpbounds.algorithms.problems.sets import ConstraintSet, L1Ball, Simplex
from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import to_float

Chosen = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Corners:
    """The points r e_1, ..., r e_p, and for the l1 ball -r e_1, ..., -r e_p: products are the entries times ±r."""

    dimension: int
    radius: float
    signed: bool

    @property
    def count(self) -> int:
        """N: 2p or p."""
        return 2 * self.dimension if self.signed else self.dimension

    def products(self, gradients: Array) -> Array:
        """Return <s, g> = ±r g_j for every row g and every vertex s: shape (R, N)."""
        scaled = self.radius * gradients
        return np.concatenate([scaled, -scaled], axis=1) if self.signed else scaled

    products_of_records = products

    def points(self, chosen: Chosen) -> Array:
        """Return the vertices of these indices, shape (R, p)."""
        rows = np.zeros((len(chosen), self.dimension))
        signs = np.where(chosen < self.dimension, self.radius, -self.radius)
        rows[np.arange(len(chosen)), chosen % self.dimension] = signs
        return rows


@dataclass(frozen=True, slots=True, eq=False)
class Listed:
    """The rows of a matrix."""

    matrix: Array

    @property
    def count(self) -> int:
        """N, the number of rows."""
        return len(self.matrix)

    def products(self, gradients: Array) -> Array:
        """Matrix products in ``batches``, so that no repetition's numbers depend on how many there are."""
        found = np.empty((len(gradients), self.count))
        for rows, batch in batches(gradients):
            found[rows] = (batch @ self.matrix.T)[: rows.stop - rows.start]
        return found

    def products_of_records(self, gradients: Array) -> Array:
        """Return the products row by row: a row's products have the same bits at every place."""
        found = np.zeros((len(gradients), self.count))
        for column, weights in zip(gradients.T, self.matrix.T, strict=True):
            found += column[:, None] * weights
        return found

    def points(self, chosen: Chosen) -> Array:
        """Return rows of the matrix."""
        return self.matrix[chosen]


def vertices_of(constraint: ConstraintSet) -> Corners | Listed:
    """Return the candidates of a set, or raise ``InvalidValue`` where there are infinitely or too many."""
    if isinstance(constraint, L1Ball | Simplex):
        radius = to_float(constraint.radius, "down")  # every corner is in the set, whose sensitivity is used
        return Corners(constraint.dimension, radius, isinstance(constraint, L1Ball))
    matrix = constraint.vertices
    if matrix is None:
        allowed = "a set with finitely many vertices: an l1 ball, a simplex, a polytope, a box of few coordinates"
        raise InvalidValue("constraint", type(constraint).__name__, allowed, "GaussianFrankWolfe serves every set")
    return Listed(matrix)


def with_vertices(_record: object, _field: Attribute[Any], constraint: ConstraintSet) -> None:
    """Raise ``InvalidValue`` for a set without a list of vertices: a validator."""
    vertices_of(constraint)
