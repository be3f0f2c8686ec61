"""What descents share: which iterate is returned, how long its gradient is, when to stop, what they cannot do."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import sympy
from numpy.typing import NDArray

from algorithms.noise import Array
from algorithms.oracles import at_least
from algorithms.planning import root_above
from algorithms.problems.finite_sum import FiniteSum
from algorithms.problems.landscapes import Landscape
from dpbounds.errors import InvalidValue


def squared_norms(rows: Array) -> Array:
    """‖row‖₂² of every row, shape (R,)."""
    squares: Array = np.einsum("ij,ij->i", rows, rows)
    return squares


def uniform_steps(generators: Sequence[np.random.Generator], steps: int) -> NDArray[np.int64]:
    """Which iterate each repetition returns: uniform on 1..T, shape (R,)."""
    return np.array([generator.integers(1, steps, endpoint=True) for generator in generators])


def best_count(ratio: Fraction) -> int:
    """The T >= 1 that minimises A/T + B T for A/B = ``ratio``, exactly.

    It falls from T to T + 1 as long as T(T+1) < A/B, so that the smallest T with T(T+1) >= A/B is asked for.
    """
    count = max(1, (math.isqrt(math.ceil(4 * ratio + 1)) - 1) // 2)  # (2T+1)² >= 4 ratio + 1
    while count > 1 and (count - 1) * count >= ratio:
        count -= 1
    while count * (count + 1) < ratio:
        count += 1
    return count


def gap_at(problem: FiniteSum, start: Array) -> Fraction:
    """A public bound on F(start) - inf F, rational.

    At the problem's own x₁ it is that of the problem. Elsewhere F(start) <= F(x₁) + G‖start - x₁‖, and the loss cannot
    exceed its range: the smaller of the two.

    Raises:
        InvalidValue: The problem has no such constants.
    """
    gap = at_least(problem.initial_gap, "initial_gap")
    away = sum((Fraction(float(entry)) ** 2 for entry in start - problem.initial_point), Fraction(0))
    if not away:
        return gap
    reached = gap + at_least(problem.lipschitz, "lipschitz") * root_above(away)
    return reached if problem.loss_range is None else min(reached, at_least(problem.loss_range, "loss_range"))


def known(constant: sympy.Expr | None, name: str) -> sympy.Expr:
    """The constant, or ``InvalidValue`` where the problem has no finite one."""
    if constant is None:
        raise InvalidValue(f"problem.{name}", None, "a finite constant", "step sizes and bounds rest on it")
    return constant


def demand_no_regulariser(problem: Any) -> None:
    """Raise ``InvalidValue`` where the problem has an l1 regulariser: the step would leave it out."""
    weight = getattr(problem, "l1", 0)
    if weight:
        raise InvalidValue("problem.l1", float(weight), "0", "only projected gradient descent has a proximal step")


def demand_all_of_space(problem: Any) -> None:
    """Raise ``InvalidValue`` where a problem is posed in a ball: the walk would leave it.

    Landscapes are let through: they raise on their own as soon as a walk does leave their ball.
    """
    demand_no_regulariser(problem)
    radius = getattr(problem, "radius", None)
    if radius is not None and not isinstance(problem, Landscape):
        raise InvalidValue("problem.radius", float(radius), "None, all of R^p", "this algorithm has no projection")
