"""Any differentiable loss over a pytree of parameters, by JAX: gradients and their differences clipped per record.

Why no record moves a computed sum by more than the ledger counts: ``clipped_sums.md``. JAX is imported when a
problem is made, and its global precision stays as it is.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import sympy
from numpy.typing import ArrayLike

from dpbounds.algorithms.problems.clipped import CutGradients
from dpbounds.algorithms.problems.differentiable_losses.margins import SMALLEST_LIMIT, UNIT, limit, margin
from dpbounds.algorithms.problems.differentiable_losses.programs import Clipping, Compiled, Loss, blocks, compiled
from dpbounds.algorithms.problems.finite_sum import Array, Indices
from dpbounds.algorithms.problems.points import checked_points, checked_start, positive
from dpbounds.algorithms.problems.problem import checked_bound, checked_radius
from dpbounds.algorithms.problems.proximal import proximal_l1
from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import ExactLike

_TRUSTED = {"hessian_lipschitz", "initial_gap"}


@dataclass(frozen=True, slots=True, eq=False)
class Differentiable(CutGradients):
    """A problem built by ``differentiable``: the mean of loss(parameters, record); points are raveled parameters.

    Attributes:
        clip: G > 0, public: a bound on the sensitivity of a sum of gradients, including rounding.
        clipping: The clipping norm of each part of a gradient; G is the norm of the vector of these bounds.
        difference_clip: L̂ > 0, public, the same per distance for a sum of differences, per length of the direction for
            Hessians times a direction, and in Frobenius norm for Hessians; None: these are not supported.
        assumed: Constants that plans and step sizes rely on; privacy does not depend on them.
        memory_limit: Bytes.
        radius: The radius of the l2 ball around 0 for projected descent, or None for R^p.
        initial_point: x₁, shape (p,).
        leaves: The leaves of the records, with a row for each record.
        compiled: The compiled loss.
    """

    clip: Fraction
    clipping: Clipping
    difference_clip: Fraction | None
    assumed: Mapping[str, Fraction]
    memory_limit: int
    radius: Fraction | None
    initial_point: Array = field(repr=False)
    leaves: tuple[np.ndarray[Any, Any], ...] = field(repr=False)
    compiled: Compiled = field(repr=False)

    l1 = Fraction(0)
    hessian_rank = 1  # clipped in Frobenius norm, which for this rank is the operator's

    @property
    def smoothness(self) -> sympy.Expr | None:
        """L̂, enforced."""
        return None if self.difference_clip is None else sympy.Rational(self.difference_clip)

    @property
    def hessian_lipschitz(self) -> sympy.Expr | None:
        """Lipschitz constant of Hessians, as assumed."""
        return self._assumed("hessian_lipschitz")

    @property
    def initial_gap(self) -> sympy.Expr | None:
        """F(x₁) - inf F, as assumed."""
        return self._assumed("initial_gap")

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
        """The number of records that are differentiated at once."""
        return self.compiled.chunk

    @property
    def rounding(self) -> float:
        """Bound on the difference of a sum's mean in chunks of another size, in units of G: for guards."""
        import jax

        leaves = jax.tree.leaves(self.compiled.unravel(self.initial_point.astype(self.compiled.dtype)))
        return 64 * max(float(jax.numpy.finfo(leaf.dtype).eps) for leaf in leaves)

    def parameters(self, x: ArrayLike) -> Any:
        """Return a point, shape (p,), as parameters of the loss, in their own dtypes."""
        return self.compiled.parameters(checked_points(np.asarray(x)[None], self.dimension)[0])

    def summed_gradients(self, x: Array, rows: Indices) -> Array:
        """Return the sum of some records' clipped gradients at one point, shape (p,)."""
        return self._summed((x,), rows, self.clipping.bounds)[0]

    def sums_within(self, x: Array, rows: Indices, clip: Fraction) -> tuple[Array, int]:
        """Return the sum at another clipping norm than G, and the number of unclipped gradients."""
        if len(self.clipping.bounds) > 1:
            raise InvalidValue("clip", "one for each part", "one number", "a norm that changes is one for all leaves")
        return self._summed((x,), rows, (clip,))

    def summed_differences(self, x: Array, y: Array, rows: Indices) -> Array:
        """Return the sum over some records of gradient differences from y to x, clipped to L̂ ‖x - y‖; shape (p,)."""
        per_distance = self._enforced("smoothness")
        return self._summed((x, y), rows, (min(per_distance * self._length(x - y), 2 * self.clip),))[0]

    def summed_products(self, x: Array, direction: Array, rows: Indices) -> Array:
        """Return the sum of some records' Hessians times v, each product clipped to L̂ ‖v‖; shape (p,)."""
        most = self._limit(self._enforced("smoothness") * self._length(direction))
        return self._in_chunks(rows, self.chunk, [most], partial(self.compiled.turned, x, direction))[0]

    def hessian(self, X: ArrayLike) -> Array:
        """Return the mean of all records' Hessians, each made symmetric and clipped to L̂ in Frobenius norm; (R, p, p).

        Raises:
            InvalidValue: There is no L̂, or the memory does not hold one record's.
        """
        bound, p = self._enforced("smoothness"), self.dimension
        points = checked_points(X, p)
        lanes = min(self.chunk, 1 << max(0, (self.memory_limit // (32 * p * p)).bit_length() - 1))
        if 32 * p * p > self.memory_limit:
            raise InvalidValue("memory_limit", self.memory_limit, f"at least {32 * p * p} bytes for a Hessian")
        most, every = self._limit(bound, p * p), np.arange(self.records)
        sums = [self._in_chunks(every, lanes, [most], partial(self.compiled.bent, x, lanes), p * p)[0] for x in points]
        return np.stack(sums).reshape(len(points), p, p) / self.records

    def proximal_step(self, X: ArrayLike, gradients: ArrayLike, step_size: float) -> Array:
        """Return the projection of x - γg on the ball, row by row, shapes (R, p)."""
        moved = checked_points(X, self.dimension) - step_size * checked_points(gradients, self.dimension)
        return proximal_l1(moved, 0.0, None if self.radius is None else float(self.radius))

    def projected_gradient(self, X: ArrayLike, gradients: ArrayLike, step_size: float) -> Array:
        """Return (x - x⁺)/γ for every row, shapes (R, p)."""
        return (checked_points(X, self.dimension) - self.proximal_step(X, gradients, step_size)) / step_size

    def optimised(self, optimiser: Any) -> tuple[Callable[[Array], Any], Callable[[Array, Array, Any], Any]]:
        """Return the steps of an Optax optimiser: its state at a point, and the next point and state."""
        import jax
        from jax.flatten_util import ravel_pytree

        unravel, dtype = self.compiled.unravel, self.compiled.dtype

        def begin(x: Array) -> Any:
            return optimiser.init(unravel(x.astype(dtype)))

        @jax.jit
        def moved(x: Any, gradient: Any, state: Any) -> Any:
            parameters = unravel(x)
            updates, after = optimiser.update(unravel(gradient), state, parameters)
            there = jax.tree.map(lambda own, by: (own + by).astype(own.dtype), parameters, updates)
            return ravel_pytree(there)[0], after

        def step(x: Array, gradient: Array, state: Any) -> tuple[Array, Any]:
            there, after = moved(x.astype(dtype), gradient.astype(dtype), state)
            return np.asarray(there, dtype=np.float64), after

        return begin, step

    def _assumed(self, name: str) -> sympy.Expr | None:
        return sympy.Rational(self.assumed[name]) if name in self.assumed else None

    def _enforced(self, name: str) -> Fraction:
        if self.difference_clip is None:
            raise InvalidValue(name, None, "a public number", "differences and Hessians are clipped to it")
        return self.difference_clip

    def _length(self, vector: Array) -> Fraction:
        return Fraction(float(np.linalg.norm(vector))) * (1 - (self.dimension + 16) * UNIT)

    def _limit(self, bound: Fraction, dimension: int | None = None) -> float:
        p = self.dimension if dimension is None else dimension
        return limit(bound, self.records, p, self.compiled.tokens)

    def _summed(self, points: tuple[Array, ...], rows: Indices, bounds: Sequence[Fraction]) -> tuple[Array, int]:
        limits = [self._limit(bound) for bound in bounds]
        return self._in_chunks(rows, self.chunk, limits, partial(self.compiled.summed, points))

    def _in_chunks(
        self, rows: Indices, width: int, limits: list[float], program: Any, size: int | None = None
    ) -> tuple[Array, int]:
        n = self.records
        if len(rows) > n:
            allowed = f"at most {n}, the number of records"
            raise InvalidValue("rows", len(rows), allowed, "the margin for rounding covers no more rows")
        if len(rows) and not 0 <= np.minimum.reduce(rows) <= np.maximum.reduce(rows) < n:
            raise InvalidValue("rows", (int(min(rows)), int(max(rows))), f"places of records, 0 to {n - 1}")
        cut = min(limits) < SMALLEST_LIMIT
        if 0 < len(rows) <= width and not cut:
            one: tuple[Array, int] = program(self.leaves, rows, limits)
            return one
        total, within = np.zeros(self.dimension if size is None else size), 0
        for own in () if cut else blocks(rows, width):
            found, fits = program(self.leaves, own, limits)
            total += found
            within += fits
        return total, within


def differentiable(
    loss: Loss,
    parameters: Any,
    records: Any,
    *,
    clip: ExactLike | Any,
    smoothness: ExactLike | None = None,
    memory_limit: int = 2**28,
    radius: ExactLike | None = None,
    copies: bool | None = None,
    assumed: Mapping[str, ExactLike] | None = None,
) -> Differentiable:
    """Return a problem from a loss written in JAX. Its runs certify privacy; no bound on utility applies.

    Every record's gradient is clipped, as a whole or part by part; one that is not finite counts as 0. The assumption
    is that it is a function of that record and the parameters: the loss draws no random numbers, and none of its
    batching rules mixes records. One program computes all chunks, and is assumed to give a record's gradient the same
    bits in every place; with noise "secure" every record is put in the first place (which costs a chunk each).

    Args:
        loss: Maps parameters and one record (a row of every leaf) to a scalar.
        parameters: A pytree of floating-point leaves, public, of at most 64 bits each; the start. Leaves that are
            functions (of an Equinox module) stay as they are.
        records: A pytree of arrays with n rows each; one that ``np.memmap(..., mode="r")`` maps stays in its file.
        clip: G, public: of a whole gradient, over all leaves. Or a norm for each part of the parameters, as
            ``{"body": 1, "head": "1/2"}`` for parameters with these two keys: then G is the root of the sum of squares.
        smoothness: L̂, public, at which differences of gradients are clipped per distance, for SPIDER and STORM, and
            Hessians (see ``Differentiable``).
        memory_limit: Memory of a sum in bytes, public, by the compiler's estimate and our own, without the records.
            Freed memory may stay with the process for a while: if a record hardly fits, set ``MALLOC_MMAP_THRESHOLD_``
            (of glibc) to 131072, so that it is returned at once.
        radius: The radius of an l2 ball around 0, for ``ProjectedGradientDescent``.
        copies: Whether the gradient of each record is stored. False: if a weight occurs once, in a product with a
            function of the record (a dense layer, an adapter), as a convolution's kernel or as a table whose rows are
            looked up, only the input and the backward pass are stored if they are smaller, and norms and sums are
            computed from these. None: the same for inputs of one row only, where it is also faster. Differences and
            other leaves are always stored.
        assumed: "hessian_lipschitz" or "initial_gap", on which step sizes and plans rely. Privacy depends on neither,
            and ``bound`` still raises an error.

    Raises:
        InvalidValue: A leaf, a shape or a number is not allowed, a float64 leaf would lose its precision, one record
            does not fit into the memory, or the margin for rounding is above 2^-10 (about 1.4 million records).
        UnsupportedMechanism: JAX runs where doubles are not IEEE's.

    >>> import jax.numpy as jnp  # doctest: +SKIP
    >>> problem = differentiable(lambda w, z: jnp.sum((w - z) ** 2), jnp.zeros(3), data, clip=1)  # doctest: +SKIP
    """
    per_distance = None if smoothness is None else checked_bound(smoothness, "smoothness")
    ball = checked_radius(radius)
    if isinstance(memory_limit, bool) or not isinstance(memory_limit, int) or memory_limit < 1:
        raise InvalidValue("memory_limit", memory_limit, "a whole number of bytes, at least 1")
    trusted = {name: positive(value, f"assumed[{name!r}]") for name, value in (assumed or {}).items()}
    if not trusted.keys() <= _TRUSTED:
        raise InvalidValue("assumed", ", ".join(sorted(trusted)), f"some of {', '.join(sorted(_TRUSTED))}")
    _demand_two_arguments(loss)
    made, clipping, start, leaves = compiled(
        loss, parameters, records, clip, memory_limit, per_distance is not None, copies
    )
    margin(len(leaves[0]), len(start), made.tokens)
    first = checked_start(start, ball, "parameters")
    return Differentiable(
        clip=clipping.whole,
        clipping=clipping,
        difference_clip=per_distance,
        assumed=trusted,
        memory_limit=memory_limit,
        radius=ball,
        initial_point=first,
        leaves=leaves,
        compiled=made,
    )


def _demand_two_arguments(loss: Loss) -> None:
    """Raise ``InvalidValue`` for a loss of batches, or of inputs and targets, which takes other arguments."""
    try:
        signature = inspect.signature(loss)
    except (TypeError, ValueError):  # it has none
        return
    try:
        signature.bind(None, None)
    except TypeError:
        allowed = "a function of the parameters and one record, loss(w, z)"
        advice = "with records=(X, Y), z is the pair (x, y) of one record, without the dimension of a batch"
        raise InvalidValue("loss", f"of the arguments {signature}", allowed, advice) from None
