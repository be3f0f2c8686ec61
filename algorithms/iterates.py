"""Common parts of walks: the returned iterate, the norm of its gradient, its objective, and its bound."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import sympy
from numpy.typing import NDArray

from dpbounds.algorithms.fields import WhichMapping
from dpbounds.algorithms.noise import Array
from dpbounds.algorithms.oracles import at_least
from dpbounds.algorithms.planning import root_above
from dpbounds.algorithms.problems.domain import demand_objective, known, weight_of_l1
from dpbounds.algorithms.problems.finite_sum import FiniteSum
from dpbounds.errors import InvalidValue
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.evaluation import evaluate


def squared_norms(rows: Array) -> Array:
    """Return ‖row‖₂² of every row, shape (R,)."""
    squares: Array = np.einsum("ij,ij->i", rows, rows)
    return squares


def products(rows: Array, others: Array) -> Array:
    """Return <row, other> of every two rows, shape (R,)."""
    found: Array = np.einsum("ij,ij->i", rows, others)
    return found


def norms(rows: Array) -> Array:
    """Return ‖row‖₂ of every row, shape (R,)."""
    lengths: Array = np.sqrt(squared_norms(rows))
    return lengths


def uniform_steps(generators: Sequence[np.random.Generator], steps: int) -> NDArray[np.int64]:
    """Draw the iterate that each repetition returns: uniform on 1..T, shape (R,)."""
    return np.array([generator.integers(1, steps, endpoint=True) for generator in generators])


def best_count(ratio: Fraction) -> int:
    """Return the T >= 1 that minimises A/T + B T for A/B = ``ratio``, exactly.

    It falls from T to T + 1 as long as T(T+1) < A/B, so that the smallest T with T(T+1) >= A/B is returned.
    """
    count = max(1, (math.isqrt(math.ceil(4 * ratio + 1)) - 1) // 2)  # (2T+1)² >= 4 ratio + 1
    while count > 1 and (count - 1) * count >= ratio:
        count -= 1
    while count * (count + 1) < ratio:
        count += 1
    return count


def gap_at(problem: FiniteSum, start: Array) -> Fraction:
    """Return a public bound on F(start) - inf F, rational.

    The start lies where the constants hold. At the problem's own x₁ the bound is that of the problem. Elsewhere
    F(start) <= F(x₁) + G‖start - x₁‖, and the loss cannot exceed its range: the smaller of the two.

    Raises:
        InvalidValue: The problem has no such constants.
    """
    gap = at_least(problem.initial_gap, "initial_gap")
    away = sum((Fraction(float(entry)) ** 2 for entry in start - problem.initial_point), Fraction(0))
    if not away:
        return gap
    reached = gap + at_least(problem.lipschitz, "lipschitz") * root_above(away)
    return reached if problem.loss_range is None else min(reached, at_least(problem.loss_range, "loss_range"))


def demand_short_step(step_size: Fraction | float, smoothness: sympy.Expr) -> None:
    """Raise ``InvalidValue`` unless 0 < γ < 2/L: only there does a descent with so long a step have a bound."""
    gamma = Fraction(step_size)
    if gamma <= 0 or not evaluate(sympy.Rational(gamma) * smoothness, {}) < 2:
        limit = evaluate(2 / smoothness, {}).lower
        allowed = f"greater than 0 and less than 2/L = {limit:.6g}, where the bound holds"
        raise InvalidValue("step_size", float(gamma), allowed)


def inserted(formula: sympy.Expr, problem: FiniteSum, **numbers: float | Fraction | sympy.Expr) -> sympy.Expr:
    """Return a formula at exact numbers, by the names of its symbols, and else at the problem's own public constants.

    Raises:
        InvalidValue: The formula needs a constant that the problem does not have.
    """
    symbols = {symbol.name: symbol for symbol in formula.free_symbols}
    values = {"dataset_size": problem.records, "dimension": problem.dimension, **numbers}
    for name in ("initial_gap", "smoothness", "lipschitz", "hessian_lipschitz"):
        if name in symbols and name not in values:
            values[name] = known(getattr(problem, name), name)
    given = {symbols[name]: value for name, value in values.items() if name in symbols}
    return formula.subs({s: v if isinstance(v, sympy.Expr) else sympy.Rational(v) for s, v in given.items()})


def promised(formula: sympy.Expr, problem: FiniteSum, **numbers: float | Fraction | sympy.Expr) -> Enclosure:
    """Enclose a formula at the problem's constants and the numbers in use, see ``inserted``."""
    return evaluate(inserted(formula, problem, **numbers), {})


def no_more_than(found: Enclosure, problem: FiniteSum, why: str, *limits: sympy.Expr | None) -> Enclosure:
    """Return a theorem's bound, or the trivial one if that is smaller: the last step of every ``bound``.

    Args:
        found: The theorem's bound.
        problem: The problem; one with clipped gradients raises an error.
        why: The reason for the others; ``method`` of what is returned is then "trivial: why".
        limits: Formulas without symbols, None where there is none.
    """
    demand_objective(problem)
    trivial = [evaluate(limit, {}) for limit in limits if limit is not None and limit.is_finite is not False]
    least = min(trivial, key=lambda limit: limit.exact_upper, default=found)
    return replace(least, method=f"trivial: {why}") if least.exact_upper < found.exact_upper else found


def no_more_than_slope(found: Enclosure, problem: FiniteSum, power: int = 1) -> Enclosure:
    """Return a bound on ‖∇F‖ (or its square, a mean of either, or √E‖∇F‖²), where no gradient is longer than G."""
    slope = problem.lipschitz
    return no_more_than(found, problem, "no gradient is longer than G", None if slope is None else slope**power)


def no_more_than_range(found: Enclosure, problem: FiniteSum, *others: sympy.Expr | None) -> Enclosure:
    """Return a bound on F - inf F at some point: the loss range, or one of the given bounds."""
    within = problem.loss_range if weight_of_l1(problem) == 0 else None
    return no_more_than(found, problem, "losses differ by no more than that anywhere", within, *others)


def no_more_than_step(
    found: Enclosure,
    problem: FiniteSum,
    mapping: WhichMapping,
    noise: sympy.Expr,
    scale: sympy.Expr = sympy.S.One,
) -> Enclosure:
    """Return a bound on E N(P)² for any step, if E N*(e)² is at most ``noise`` and ‖·‖₂² <= ``scale`` N².

    A step from x in C satisfies N(P(x, g, γ)) <= N*(g + s) for every subgradient s of λ‖·‖₁ at x, of which one has norm
    λ√p at most; N*(g) <= √scale ‖g‖₂; and √E N*(∇F + e)² <= √scale G + √noise.
    Proof of the first: with u = x⁺ optimality says <γ(g + s') + ∇w(u) - ∇w(x), x - u> >= 0 for a subgradient s' at u;
    <s', x - u> <= <s, x - u> by monotonicity, and <∇w(x) - ∇w(u), x - u> >= N(x - u)². ∎
    """
    if problem.lipschitz is None:
        return no_more_than(found, problem, "")
    longest = problem.lipschitz + sympy.Rational(weight_of_l1(problem)) * sympy.sqrt(problem.dimension)
    drawn = sympy.sqrt(noise) if mapping == "noisy" else 0
    return no_more_than(
        found, problem, "no step is longer than its gradient", (sympy.sqrt(scale) * longest + drawn) ** 2
    )


def of_mapping(mapping: WhichMapping, noisy: sympy.Expr, exact: sympy.Expr) -> sympy.Expr:
    """Return a bound on E‖P‖²: the first, of the steps that were taken, or the square of the second, which is at ∇F."""
    if mapping == "noisy":
        return noisy
    if mapping == "exact":
        return exact**2
    raise InvalidValue("mapping", repr(mapping), "'noisy' or 'exact'")
