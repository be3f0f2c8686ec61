"""Constraint sets: projection, linear minimisation, norms, and their exact sizes."""

from typing import TYPE_CHECKING

from dpbounds.by_need import names_by_need

if TYPE_CHECKING:
    from dpbounds.algorithms.problems.sets.base import ConstraintSet as ConstraintSet, support as support
    from dpbounds.algorithms.problems.sets.box import Box as Box
    from dpbounds.algorithms.problems.sets.l1_ball import L1Ball as L1Ball
    from dpbounds.algorithms.problems.sets.l2_ball import L2Ball as L2Ball
    from dpbounds.algorithms.problems.sets.polytope import Polytope as Polytope
    from dpbounds.algorithms.problems.sets.simplex import Simplex as Simplex
    from dpbounds.algorithms.problems.sets.sparse_vectors import SparseVectors as SparseVectors

__getattr__, __dir__, __all__ = names_by_need(__name__)
