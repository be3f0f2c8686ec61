"""Linear models with a public bound on every entry of a record: geometry of the l1 ball, with a factor log p."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import sympy

from dpbounds.algorithms.problems.domain import known
from dpbounds.algorithms.problems.finite_sum import FiniteSum
from dpbounds.algorithms.problems.linear_model import LinearModel
from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import ExactLike, exact, to_float


@dataclass(frozen=True, slots=True, eq=False)
class BoundedEntries(LinearModel):
    """A linear model with |a_ij| <= b for every entry of every record, besides ‖a_i‖₂ <= B.

    One record's gradient is φ'(u) a, whose entries are at most b sup|φ'|, and it changes by (φ'(u) - φ'(u')) a with
    |u - u'| = |<a, x - x'>| <= b ‖x - x'‖₁. Both are attained.

    Attributes:
        entry_bound: b > 0, public.
    """

    entry_bound: Fraction = Fraction(1)

    def __post_init__(self) -> None:
        LinearModel.__post_init__(self)
        if not np.abs(self.features).max() <= to_float(self.entry_bound, "down"):
            raise InvalidValue(
                "features", "a larger entry", f"entries of at most {self.entry_bound}", "bounded_entries"
            )

    @property
    def lipschitz_l1(self) -> sympy.Expr:
        """G₁ = min(b, B) sup|φ'|: no entry of a record's gradient is larger."""
        return sympy.Rational(min(self.entry_bound, self.feature_bound)) * self.loss.largest_slope

    @property
    def smoothness_l1(self) -> sympy.Expr:
        """L₁ = min(b, B)² sup|φ''|: a record's gradient changes by at most L₁‖x - x'‖₁ in each entry."""
        return sympy.Rational(min(self.entry_bound, self.feature_bound)) ** 2 * self.loss.largest_curvature


def bounded_entries(model: LinearModel, entry_bound: ExactLike = 1) -> BoundedEntries:
    """Return the model with every entry of every record cut at ±b, one by one.

    Cutting entries makes no record longer, so the model's bound B on ‖a‖₂ still holds. But the model has clipped its
    records to length B before. Where only entries should be bounded, make it with B = b√p or more.

    The bound b > 0 is public: one that is found by looking at the data would be a release of its own.
    """
    bound = exact(entry_bound, "entry_bound")
    limit = to_float(bound, "down") if bound > 0 else 0.0
    if not limit > 0:
        raise InvalidValue("entry_bound", entry_bound, "greater than 0")
    features = np.clip(model.features, -limit, limit)
    features.flags.writeable = False
    note = f"every entry is cut at {bound}, a public bound"
    return BoundedEntries(
        loss=model.loss,
        features=features,
        targets=model.targets,
        feature_bound=model.feature_bound,
        target_bound=model.target_bound,
        radius=model.radius,
        notes=(*model.notes, note),
        entry_bound=bound,
    )


def l1_constants(problem: FiniteSum) -> tuple[sympy.Expr, sympy.Expr]:
    """Return G₁ and L₁: the problem's own, or else its l2 constants, which bound them.

    ‖∇f‖∞ <= ‖∇f‖₂ <= G, and ‖∇f(x) - ∇f(x')‖∞ <= ‖.‖₂ <= L‖x - x'‖₂ <= L‖x - x'‖₁.
    """
    if isinstance(problem, BoundedEntries):
        return problem.lipschitz_l1, problem.smoothness_l1
    return known(problem.lipschitz, "lipschitz"), known(problem.smoothness, "smoothness")
