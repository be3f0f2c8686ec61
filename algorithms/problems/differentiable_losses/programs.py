"""The programs that JAX makes of a loss: gradients of single records, clipped and added in doubles."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpbounds.algorithms.problems.differentiable_losses.inputs import demand_doubles, demand_floating, read_only
from dpbounds.algorithms.problems.differentiable_losses.loops import over_blocks
from dpbounds.algorithms.problems.differentiable_losses.margins import SLACK
from dpbounds.algorithms.problems.finite_sum import Array, Indices
from dpbounds.errors import InvalidValue, UnsupportedMechanism

_LANES = 16  # of a block: what more would gain is lost where a sample has few records
_MOST = 256  # rows in one call: more gain little

Loss = Callable[[Any, Any], Any]
Leaves = tuple[np.ndarray[Any, Any], ...]


@dataclass(slots=True, eq=False)
class Compiled:
    """The programs: gradients in the precision of the parameters, then norms, factors and sums in doubles.

    Attributes:
        gradients: Of one block of records, in JAX's own precision; ``cut`` and ``cut_differences`` follow in doubles.
        chunk: Rows in one call, in blocks of ``lanes``.
        single: The program of sums of gradients.
        double: Of differences.
    """

    dtype: Any
    unravel: Callable[[Any], Any]
    gradients: Any
    cut: Any
    cut_differences: Any
    chunk: int = 1
    single: Any = None
    double: Any = None

    @property
    def lanes(self) -> int:
        """How many records are differentiated at once."""
        return lanes_of(self.chunk)

    def parameters(self, x: Array) -> Any:
        """A point as a pytree."""
        return self.unravel(x.astype(self.dtype))

    def summed(self, points: tuple[Array, ...], leaves: list[Any], there: Any, limit: float) -> Array:
        """The clipped sum of one chunk, the first of whose rows are there, in doubles, shape (p,)."""
        import jax

        program, given = self.single if len(points) == 1 else self.double, [x.astype(self.dtype) for x in points]
        with jax.enable_x64(True):
            total: Array = np.asarray(program(given, leaves, np.int32(np.count_nonzero(there)), np.float64(limit)))
        if total.dtype != np.float64:
            raise UnsupportedMechanism(f"sums are made in doubles, and this JAX made them in {total.dtype}")
        return total

    def program(self, point: Any, leaves: Leaves, lanes: int, differences: bool) -> Any:
        """Of sums over blocks of so many lanes; not compiled yet."""
        import jax

        cut = self.cut_differences if differences else self.cut
        return jax.jit(over_blocks(self.gradients, cut, point, _rows_of(leaves, lanes)))

    def bytes_of(self, rows: int, start: Any, leaves: Leaves, differences: bool) -> int:
        """What calls with so many rows hold at once, by the compiler's account."""
        import jax

        point = jax.ShapeDtypeStruct(start.shape, self.dtype)
        program = self.program(point, leaves, lanes_of(rows), differences)
        with jax.enable_x64(True):
            numbers = jax.ShapeDtypeStruct((), np.int32), jax.ShapeDtypeStruct((), np.float64)
            lowered = program.lower([point] * (2 if differences else 1), _rows_of(leaves, rows), *numbers)
            used = lowered.compile().memory_analysis()
        return int(used.argument_size_in_bytes + used.output_size_in_bytes + used.temp_size_in_bytes)


def lanes_of(rows: int) -> int:
    """Of a block, where one call takes so many rows: a power of two."""
    return min(rows, _LANES)


def _rows_of(leaves: Leaves, rows: int) -> list[Any]:
    import jax

    return [jax.ShapeDtypeStruct((rows, *leaf.shape[1:]), leaf.dtype) for leaf in leaves]


def compiled(
    loss: Loss, parameters: Any, records: Any, memory_limit: int, differences: bool
) -> tuple[Compiled, Array, Leaves]:
    """The programs of a loss, its start as doubles, shape (p,), and its records; errors as ``differentiable``."""
    import jax
    from jax.flatten_util import ravel_pytree

    demand_doubles(jax.default_backend())
    own = jax.tree.leaves(parameters)
    for index, leaf in enumerate(own):
        demand_floating(index, leaf, jax.numpy.asarray(leaf).dtype)
    if not own:
        raise InvalidValue("parameters", "no leaf", "a pytree of arrays of floating-point numbers")
    flat, unravel = ravel_pytree(parameters)
    leaves, form = jax.tree.flatten(records)
    rows = tuple(read_only(leaf, len(leaves[0]) if np.ndim(leaves[0]) else 0, i) for i, leaf in enumerate(leaves))
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
    made = Compiled(flat.dtype, unravel, jax.jit(gradients), _cut, _cut_differences)
    made.chunk = _chunk(made, flat, rows, memory_limit, differences)
    point = jax.ShapeDtypeStruct(flat.shape, flat.dtype)
    made.single, made.double = (made.program(point, rows, made.lanes, twice) for twice in (False, True))
    return made, np.array(flat, dtype=np.float64), rows


def _chunk(made: Compiled, start: Any, leaves: Leaves, memory_limit: int, differences: bool) -> int:
    """The largest power of two that fits into the memory and is of use: of public numbers alone."""
    one = made.bytes_of(1, start, leaves, differences)
    if one > memory_limit:
        raise InvalidValue("memory_limit", memory_limit, f"at least {one} bytes, what one record takes")
    rows = min(_MOST, 1 << (len(leaves[0]) - 1).bit_length())
    while rows > 1 and made.bytes_of(rows, start, leaves, differences) > memory_limit:
        rows //= 2
    return rows


def blocks(rows: Indices, most: int) -> Iterator[Indices]:
    """Records in chunks; all run on the one program that is ``most`` wide, as others round gradients in other ways."""
    for start in range(0, len(rows), most):
        yield rows[start : start + most]


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
    factor = jnp.where(finite & (factor * (factor * squares) <= most * (1 + float(SLACK))), factor * there, 0.0)

    def add(lane: Any, totals: list[Any]) -> list[Any]:  # no doubles but one row's are held beside the totals
        own = [jnp.where(finite[lane], part(lane), 0.0) for part in parts]
        return [total + factor[lane] * each for total, each in zip(totals, own, strict=True)]

    return jnp.concatenate(jax.lax.fori_loop(0, len(there), add, [jnp.zeros(width, there.dtype) for width in widths]))
