"""Any differentiable loss over a pytree of parameters, by JAX: gradients and their differences clipped per record.

Why no record moves a computed sum by more than the ledger counts: ``differentiable_losses.md``. JAX is imported when a
problem is made, and its global precision stays as it is.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpbounds.algorithms.problems.clipped import CutGradients
from dpbounds.algorithms.problems.finite_sum import Array, Indices
from dpbounds.algorithms.problems.points import checked_points, checked_start
from dpbounds.algorithms.problems.problem import checked_bound, checked_radius
from dpbounds.algorithms.problems.proximal import proximal_l1
from dpbounds.errors import InvalidValue, UnsupportedMechanism
from dpbounds.expressions.exact import ExactLike, to_float

_UNIT = Fraction(1, 2**53)
_SLACK = Fraction(1, 2**30)  # how far a clipped square may be above the limit's: far above any rounding of a root
_LARGEST_MARGIN = Fraction(1, 2**10)
_SMALLEST_LIMIT = 1e-100  # below, squares leave the range of doubles
_PLATFORMS = ("cpu", "gpu")  # whose doubles are IEEE's
_WIDEST = 128  # more lanes gain little, and a sample of few records fills as many

Loss = Callable[[Any, Any], Any]


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
        apart = Fraction(float(np.linalg.norm(x - y))) * (1 - (self.dimension + 16) * _UNIT)
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
        if limit < _SMALLEST_LIMIT:
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
    compiled, start, leaves = _compiled(loss, parameters, records, memory_limit, per_distance is not None)
    margin(len(leaves[0]), len(start))
    first = checked_start(start, ball, "parameters")
    return Differentiable(bound, per_distance, memory_limit, ball, first, leaves, compiled)


def margin(records: int, dimension: int) -> Fraction:
    """By how much, relatively, a record is clipped below the bound so that computed sums differ by at most the bound.

    Raises:
        InvalidValue: It would be above 2^-10.

    Source: ``differentiable_losses.md``.
    """
    found = 2 * records * _relative(2 * records + 8) + 2 * _relative(dimension + 8) + 2 * _SLACK
    if found > _LARGEST_MARGIN:
        raise InvalidValue("records", records, "so many that doubles sum them well, about a million", "draw fewer")
    return found


def blocks(rows: Indices, most: int) -> Iterator[Indices]:
    """Records in chunks; all run on the one program that is ``most`` wide, as others round gradients in other ways."""
    for start in range(0, len(rows), most):
        yield rows[start : start + most]


def _relative(operations: int) -> Fraction:
    return operations * _UNIT / (1 - operations * _UNIT)


@dataclass(slots=True, eq=False)
class Compiled:
    """The programs: gradients in the precision of the parameters, then norms, factors and sums in doubles.

    Attributes:
        chunk: The number of lanes.
    """

    dtype: Any
    unravel: Callable[[Any], Any]
    gradients: Any
    cut: Any
    cut_differences: Any
    chunk: int = 1

    def parameters(self, x: Array) -> Any:
        """A point as a pytree."""
        return self.unravel(x.astype(self.dtype))

    def summed(self, points: tuple[Array, ...], leaves: list[Any], there: Any, limit: float) -> Array:
        """The clipped sum of one chunk, in doubles, shape (p,)."""
        import jax

        found = [self.gradients(x.astype(self.dtype), leaves) for x in points]
        with jax.enable_x64(True):
            cut = self.cut if len(found) == 1 else self.cut_differences
            total: Array = np.asarray(cut(*found, there.astype(np.float64), np.float64(limit)))
        if total.dtype != np.float64:
            raise UnsupportedMechanism(f"sums are made in doubles, and this JAX made them in {total.dtype}")
        return total

    def bytes_of(self, lanes: int, start: Any, leaves: tuple[Any, ...], differences: bool) -> int:
        """What chunks of so many lanes hold at once, by the compiler's account."""
        import jax

        shapes = [jax.ShapeDtypeStruct((lanes, *leaf.shape[1:]), leaf.dtype) for leaf in leaves]
        point = jax.ShapeDtypeStruct(start.shape, self.dtype)
        first = self.gradients.lower(point, shapes)
        gradient = jax.tree.map(lambda each: jax.ShapeDtypeStruct(each.shape, each.dtype), first.out_info)
        used = first.compile().memory_analysis()
        times = 2 if differences else 1
        with jax.enable_x64(True):
            numbers = jax.ShapeDtypeStruct((lanes,), np.float64), jax.ShapeDtypeStruct((), np.float64)
            cut = self.cut_differences if differences else self.cut
            then = cut.lower(*[gradient] * times, *numbers).compile().memory_analysis()
        held = times * used.output_size_in_bytes
        return int(used.argument_size_in_bytes + held + max(used.temp_size_in_bytes, _outputs(then)))


def _outputs(used: Any) -> int:
    return int(used.temp_size_in_bytes + used.output_size_in_bytes)


def _compiled(
    loss: Loss, parameters: Any, records: Any, memory_limit: int, differences: bool
) -> tuple[Compiled, Array, tuple[np.ndarray[Any, Any], ...]]:
    import jax
    from jax.flatten_util import ravel_pytree

    _demand_doubles(jax.default_backend())
    own = jax.tree.leaves(parameters)
    for index, leaf in enumerate(own):
        _demand_floating(index, leaf, jax.numpy.asarray(leaf).dtype)
    if not own:
        raise InvalidValue("parameters", "no leaf", "a pytree of arrays of floating-point numbers")
    flat, unravel = ravel_pytree(parameters)
    leaves, form = jax.tree.flatten(records)
    rows = tuple(_read_only(leaf, len(leaves[0]) if np.ndim(leaves[0]) else 0, i) for i, leaf in enumerate(leaves))
    if not rows:
        raise InvalidValue("records", "no leaf", "a pytree of arrays with a row for each record")

    def one(tree: Any, row: list[Any]) -> Any:
        return loss(tree, jax.tree.unflatten(form, row))

    def gradients(x: Any, batch: list[Any]) -> Any:
        found = jax.vmap(jax.grad(one), in_axes=(None, 0))(unravel(x), batch)
        return [each.reshape(len(each), -1) for each in jax.tree.leaves(found)]

    first = [jax.ShapeDtypeStruct(leaf.shape[1:], leaf.dtype) for leaf in rows]
    shape = jax.tree.leaves(jax.eval_shape(one, parameters, first))
    if len(shape) != 1 or shape[0].shape != ():
        raise InvalidValue("loss", [each.shape for each in shape], "one scalar per record")
    made = Compiled(flat.dtype, unravel, jax.jit(gradients), jax.jit(_cut), jax.jit(_cut_differences))
    made.chunk = _chunk(made, flat, rows, memory_limit, differences)
    return made, np.array(flat, dtype=np.float64), rows


def _chunk(made: Compiled, start: Any, leaves: tuple[Any, ...], memory_limit: int, differences: bool) -> int:
    """The largest power of two that fits into the memory and is of use: of public numbers alone."""
    useful = min(_WIDEST, 1 << (len(leaves[0]) - 1).bit_length())
    one = made.bytes_of(1, start, leaves, differences)
    if one > memory_limit:
        raise InvalidValue("memory_limit", memory_limit, f"at least {one} bytes, what one record takes")
    lanes = 1
    if useful > 1:
        few = min(useful, 16)
        each = max(1, (made.bytes_of(few, start, leaves, differences) - one) // (few - 1))
        lanes = min(useful, 1 << max(1, (memory_limit - one) // each + 1).bit_length())  # or half of it
    while lanes > 1 and made.bytes_of(lanes, start, leaves, differences) > memory_limit:
        lanes //= 2
    return lanes


def _cut(gradients: list[Any], there: Any, limit: Any) -> Any:
    def part(each: Any) -> Callable[[Any], Any]:
        return lambda lane: each[lane].astype("float64")

    return _clipped_sum([part(each) for each in gradients], _widths(gradients), there, limit)


def _cut_differences(gradients: list[Any], before: list[Any], there: Any, limit: Any) -> Any:
    def part(here: Any, each: Any) -> Callable[[Any], Any]:
        return lambda lane: here[lane].astype("float64") - each[lane].astype("float64")

    pairs = zip(gradients, before, strict=True)
    return _clipped_sum([part(*pair) for pair in pairs], _widths(gradients), there, limit)


def _widths(gradients: list[Any]) -> list[int]:
    return [each.shape[1] for each in gradients]


def _clipped_sum(parts: list[Callable[[Any], Any]], widths: list[int], there: Any, limit: Any) -> Any:
    """Σ_i a_i g_i over the lanes that are there, a_i² ‖g_i‖² <= limit² (1 + 2^-30) as computed; traced in doubles.

    ``parts`` are the leaves of g: from lanes to doubles, of so many columns.
    """
    import jax

    jnp = jax.numpy
    squares = sum((part(slice(None)) ** 2).sum(axis=1) for part in parts)
    finite, most = jnp.isfinite(squares), limit * limit
    factor = jnp.where(squares > most, limit / jnp.sqrt(squares), 1.0)
    factor, squares = jax.lax.optimization_barrier((factor, squares))  # what is checked is what was computed
    factor = jnp.where(finite & (factor * (factor * squares) <= most * (1 + float(_SLACK))), factor * there, 0.0)

    def add(lane: Any, totals: list[Any]) -> list[Any]:  # no doubles but one row's are held beside the totals
        own = [jnp.where(finite[lane], part(lane), 0.0) for part in parts]
        return [total + factor[lane] * each for total, each in zip(totals, own, strict=True)]

    return jnp.concatenate(jax.lax.fori_loop(0, len(there), add, [jnp.zeros(width, there.dtype) for width in widths]))


def _demand_doubles(platform: str) -> None:
    if platform not in _PLATFORMS:
        raise UnsupportedMechanism(f"sums are proven for IEEE doubles: run JAX on one of {_PLATFORMS}, not {platform}")
    if "fast_math=true" in os.environ.get("XLA_FLAGS", ""):
        raise UnsupportedMechanism("sums are proven for IEEE doubles: take fast_math out of XLA_FLAGS")


def _demand_floating(index: int, leaf: Any, kept: Any) -> None:
    given = getattr(leaf, "dtype", kept)
    import jax

    if not jax.numpy.issubdtype(kept, jax.numpy.floating):
        raise InvalidValue(f"parameters[{index}].dtype", str(given), "a floating-point type")
    if given != kept:
        advice = "cast it, or switch jax_enable_x64 on yourself"
        raise InvalidValue(f"parameters[{index}].dtype", str(given), f"one that JAX keeps, such as {kept}", advice)


def _read_only(leaf: Any, records: int, index: int) -> np.ndarray[Any, Any]:
    rows = np.array(leaf)
    if rows.ndim < 1 or not len(rows) or len(rows) != records:
        raise InvalidValue(f"records[{index}].shape", rows.shape, "(n, ...) with the same n >= 1 for every leaf")
    rows.flags.writeable = False
    return rows
