"""The programs that JAX makes of a loss: gradients of single records, clipped and added in doubles."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpbounds.algorithms.problems.differentiable_losses.inputs import demand_doubles, demand_floating, read_only
from dpbounds.algorithms.problems.differentiable_losses.margins import SLACK
from dpbounds.algorithms.problems.finite_sum import Array, Indices
from dpbounds.errors import InvalidValue, UnsupportedMechanism

_WIDEST = 128  # more lanes gain little, and a sample of few records fills as many

Loss = Callable[[Any, Any], Any]


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


def compiled(
    loss: Loss, parameters: Any, records: Any, memory_limit: int, differences: bool
) -> tuple[Compiled, Array, tuple[np.ndarray[Any, Any], ...]]:
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
