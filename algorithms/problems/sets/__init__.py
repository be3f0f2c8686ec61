"""Constraint sets: projection, linear minimisation, norms, and their exact sizes."""

from dpbounds.algorithms.problems.sets.base import ConstraintSet, support
from dpbounds.algorithms.problems.sets.box import Box
from dpbounds.algorithms.problems.sets.l1_ball import L1Ball
from dpbounds.algorithms.problems.sets.l2_ball import L2Ball
from dpbounds.algorithms.problems.sets.polytope import Polytope
from dpbounds.algorithms.problems.sets.simplex import Simplex
from dpbounds.algorithms.problems.sets.sparse_vectors import SparseVectors

__all__ = ["ConstraintSet", "L2Ball", "L1Ball", "Simplex", "Box", "Polytope", "SparseVectors", "support"]
