"""Any differentiable loss over a pytree of parameters, by JAX: gradients and their differences clipped per record.

Why no record moves a computed sum by more than the ledger counts: ``clipped_sums.md``. JAX is imported when a
problem is made, and its global precision stays as it is.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpbounds.algorithms.problems.clipped import CutGradients
from dpbounds.algorithms.problems.differentiable_losses.margins import SMALLEST_LIMIT, UNIT, margin
from dpbounds.algorithms.problems.differentiable_losses.programs import Compiled, Loss, blocks, compiled
from dpbounds.algorithms.problems.finite_sum import Array, Indices
from dpbounds.algorithms.problems.points import checked_points, checked_start
from dpbounds.algorithms.problems.problem import checked_bound, checked_radius
from dpbounds.algorithms.problems.proximal import proximal_l1
from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import ExactLike, to_float


@dataclass(frozen=True, slots=True, eq=False)
class Differentiable(CutGradients):
    """Minimise the mean of loss(parameters, record), made by ``differentiable``; points are raveled parameters.

    Attributes:
        clip: G > 0, public: at least how far one record moves a sum of gradients, by rounding included.
        difference_clip: L̂ > 0, public, the same per distance for a sum of differences; None: these are refused.
        memory_limit: Bytes.
        radius: Of the l2 ball around 0 for projected descent, or None for R^p.
        initial_point: x₁, shape (p,).
        leaves: Of the records, with a row for each.
        compiled: What JAX made of the loss.
    """

    clip: Fraction
    difference_clip: Fraction | None
    memory_limit: int
    radius: Fraction | None
    initial_point: Array = field(repr=False)
    leaves: tuple[np.ndarray[Any, Any], ...] = field(repr=False)
    compiled: Compiled = field(repr=False)

    l1 = Fraction(0)

    @property
    def records(self) -> int:
        """n, public."""
        return len(self.leaves[0])

    @property
    def dimension(self) -> int:
        """The dimension p."""
        return len(self.initial_point)

    @property
    def chunk(self) -> int:
        """How many records are differentiated at once."""
        return self.compiled.chunk

    @property
    def rounding(self) -> float:
        """How far a sum's mean may be from itself, in units of G, computed in chunks of another size: for guards."""
        import jax

        leaves = jax.tree.leaves(self.parameters(self.initial_point))
        return 64 * max(float(jax.numpy.finfo(leaf.dtype).eps) for leaf in leaves)

    def parameters(self, x: ArrayLike) -> Any:
        """A point, shape (p,), as parameters of the loss, in their own dtypes."""
        return self.compiled.parameters(checked_points(np.asarray(x)[None], self.dimension)[0])

    def summed_gradients(self, x: Array, rows: Indices) -> Array:
        """The sum of some records' clipped gradients at one point, shape (p,)."""
        return self._summed((x,), rows, self._limit(self.clip))

    def summed_differences(self, x: Array, y: Array, rows: Indices) -> Array:
        """The sum over some records of how their gradients changed from y to x, clipped to L̂ ‖x - y‖; shape (p,)."""
        if self.difference_clip is None:
            raise InvalidValue("smoothness", None, "a public number", "differences are clipped to it per distance")
        most = 2 * self.clip
        apart = Fraction(float(np.linalg.norm(x - y))) * (1 - (self.dimension + 16) * UNIT)
        return self._summed((x, y), rows, self._limit(min(self.difference_clip * apart, most)))

    def proximal_step(self, X: ArrayLike, gradients: ArrayLike, step_size: float) -> Array:
        """The projection of x - γg on the ball, row by row, shapes (R, p)."""
        moved = checked_points(X, self.dimension) - step_size * checked_points(gradients, self.dimension)
        return proximal_l1(moved, 0.0, None if self.radius is None else float(self.radius))

    def projected_gradient(self, X: ArrayLike, gradients: ArrayLike, step_size: float) -> Array:
        """(x - x⁺)/γ for every row, shapes (R, p)."""
        return (checked_points(X, self.dimension) - self.proximal_step(X, gradients, step_size)) / step_size

    def _limit(self, bound: Fraction) -> float:
        return to_float(bound * (1 - margin(self.records, self.dimension)), "down")

    def _summed(self, points: tuple[Array, ...], rows: Indices, limit: float) -> Array:
        if len(rows) > self.records:
            allowed = f"at most {self.records}, the number of records"
            raise InvalidValue("rows", len(rows), allowed, "the margin for rounding is made for so many")
        total = np.zeros(self.dimension)
        if limit < SMALLEST_LIMIT:
            return total
        for own in blocks(rows, self.chunk):
            filled = np.pad(own, (0, self.chunk - len(own)), mode="edge")
            there = np.arange(self.chunk) < len(own)
            total += self.compiled.summed(points, [leaf[filled] for leaf in self.leaves], there, limit)
        return total


def differentiable(
    loss: Loss,
    parameters: Any,
    records: Any,
    *,
    clip: ExactLike,
    smoothness: ExactLike | None = None,
    memory_limit: int = 2**28,
    radius: ExactLike | None = None,
) -> Differentiable:
    """A problem of this library from a loss written in JAX. Its runs certify privacy; no bound on utility applies.

    Every record's gradient is clipped to norm G as a whole, over all leaves; one that is not finite counts as 0. What
    has to hold is that it is a function of that record and the parameters: the loss draws no random numbers, and no
    batching rule of its own mixes records. One program computes all chunks, and is taken to give a record's gradient
    the same bits in every place; with noise "secure" every record stands in the first place (which costs a chunk each).

    Args:
        loss: From parameters and one record (a row of every leaf) to a scalar.
        parameters: A pytree of floating-point leaves, public, of at most 64 bits each; the start.
        records: A pytree of arrays with n rows each.
        clip: G, public.
        smoothness: L̂, public, at which differences of gradients are clipped per distance, for SPIDER and STORM.
        memory_limit: In bytes, public: what JAX holds at once beside parameters and one sum, by its compiler's account.
        radius: Of an l2 ball around 0, for ``ProjectedGradientDescent``.

    Raises:
        InvalidValue: A leaf, a shape or a number is not allowed, a float64 leaf would lose its precision, one record
            does not fit into the memory, or the margin for rounding is above 2^-10 (about 1.4 million records).
        UnsupportedMechanism: JAX runs where doubles are not IEEE's.

    >>> import jax.numpy as jnp  # doctest: +SKIP
    >>> problem = differentiable(lambda w, z: jnp.sum((w - z) ** 2), jnp.zeros(3), data, clip=1)  # doctest: +SKIP
    """
    bound = checked_bound(clip, "clip")
    per_distance = None if smoothness is None else checked_bound(smoothness, "smoothness")
    ball = checked_radius(radius)
    if isinstance(memory_limit, bool) or not isinstance(memory_limit, int) or memory_limit < 1:
        raise InvalidValue("memory_limit", memory_limit, "a whole number of bytes, at least 1")
    made, start, leaves = compiled(loss, parameters, records, memory_limit, per_distance is not None)
    margin(len(leaves[0]), len(start))
    first = checked_start(start, ball, "parameters")
    return Differentiable(bound, per_distance, memory_limit, ball, first, leaves, made)
