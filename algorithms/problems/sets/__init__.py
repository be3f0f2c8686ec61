"""Constraint sets: projection, linear minimisation, norms, and their exact sizes."""

from algorithms.problems.sets.base import ConstraintSet, support
from algorithms.problems.sets.box import Box
from algorithms.problems.sets.l1_ball import L1Ball
from algorithms.problems.sets.l2_ball import L2Ball
from algorithms.problems.sets.polytope import Polytope
from algorithms.problems.sets.simplex import Simplex
from algorithms.problems.sets.sparse_vectors import SparseVectors

__all__ = ["ConstraintSet", "L2Ball", "L1Ball", "Simplex", "Box", "Polytope", "SparseVectors", "support"]
