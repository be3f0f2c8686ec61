"""The programs that JAX makes of a loss: gradients of single records, clipped and added in doubles."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import sympy

from dpbounds.algorithms.problems.differentiable_losses import ghost, sums
from dpbounds.algorithms.problems.differentiable_losses.inputs import demand_doubles, demand_floating, read_only
from dpbounds.algorithms.problems.differentiable_losses.loops import over_blocks
from dpbounds.algorithms.problems.differentiable_losses.margins import cancelling
from dpbounds.algorithms.problems.finite_sum import Array, Indices
from dpbounds.algorithms.problems.problem import checked_bound
from dpbounds.errors import InvalidValue, UnsupportedMechanism
from dpbounds.expressions.evaluation import evaluate

_LANES = 16  # of a block: what more would gain is lost where a sample has few records
_DOUBLES = 6  # of a point's size, held outside: it, sums of this call and the last, and what is cast and copied
_MOST = 256  # rows in one call: more gain little

Loss = Callable[[Any, Any], Any]
Leaves = tuple[np.ndarray[Any, Any], ...]


@dataclass(frozen=True, slots=True)
class Clipping:
    """At what the gradients of a loss are clipped.

    Attributes:
        groups: Which group of leaves each leaf belongs to.
        bounds: One for each group.
    """

    groups: tuple[int, ...]
    bounds: tuple[Fraction, ...]

    @property
    def whole(self) -> Fraction:
        """G: the norm of the vector of bounds, rounded up."""
        if len(self.bounds) == 1:
            return self.bounds[0]
        squares = sympy.Rational(sum((each**2 for each in self.bounds), Fraction(0)))
        return Fraction(evaluate(sympy.sqrt(squares), {}).exact_upper)

    @classmethod
    def of(cls, clip: Any, parameters: Any) -> Clipping:
        """One number for all leaves; or one for each part of the parameters, in a pytree that begins as they do."""
        import jax

        def is_number(each: Any) -> bool:
            return isinstance(each, str | int | float | Fraction | np.number)

        if is_number(clip) or clip is None:
            return cls((0,) * len(jax.tree.leaves(parameters)), (checked_bound(clip, "clip"),))
        given, form = jax.tree.flatten(clip, is_leaf=is_number)
        bounds = tuple(checked_bound(each, f"clip[{place}]") for place, each in enumerate(given))
        numbered = jax.tree.unflatten(form, range(len(given)))
        try:
            spread = jax.tree.map(lambda group, part: jax.tree.map(lambda _: group, part), numbered, parameters)
        except (ValueError, TypeError) as error:
            allowed, advice = "a number, or one for each part of the parameters", "{'encoder': 1, 'head': 2}, say"
            raise InvalidValue("clip", repr(clip), allowed, advice) from error
        return cls(tuple(jax.tree.leaves(spread)), bounds)


@dataclass(slots=True, eq=False)
class Compiled:
    """The programs: gradients in the precision of the parameters, then norms, factors and sums in doubles.

    Attributes:
        dtype: Of a point that holds all parameters.
        unravel: From such a point to a pytree.
        gradients: From a point and the records of one block, in JAX's own precision, to what is clipped.
        clipped: In doubles, what follows: the sum of what is clipped, and how many were within the limit.
        copied: From the same to gradients that are written out.
        changed: In doubles, what follows two of them: of their differences.
        products: From a point and a direction, shape (2, p), and records to Hessians times the direction.
        hessians: From a point and records to Hessians.
        chunk: Rows in one call, in blocks of ``lanes``.
        tokens: The most rows that a record has in a product of ``ghost``.
        made: The programs, by what is summed and the number of lanes.
    """

    dtype: Any
    unravel: Callable[[Any], Any]
    gradients: Any
    clipped: Any
    copied: Any
    changed: Any
    products: Any
    hessians: Any
    chunk: int = 1
    tokens: int = 1
    made: dict[tuple[str, int], Any] = field(default_factory=dict)

    @property
    def lanes(self) -> int:
        """How many records are differentiated at once."""
        return lanes_of(self.chunk)

    @property
    def read_together(self) -> int:
        """How many rows of a chunk are read, or none of them."""
        return self.lanes

    def parameters(self, x: Array) -> Any:
        """A point as a pytree."""
        return self.unravel(x.astype(self.dtype))

    def summed(self, points: tuple[Array, ...], leaves: Any, count: int, limits: Sequence[float]) -> tuple[Array, int]:
        """The clipped sum of the first rows of one chunk, and how many were within the first limit.

        In doubles, shape (p,): of gradients at one point, or of their differences between two.
        """
        what = "gradients" if len(points) == 1 else "differences"
        return self._in_doubles(what, list(points), leaves, count, limits, self.lanes)

    def turned(self, x: Array, direction: Array, leaves: Any, count: int, limits: Sequence[float]) -> tuple[Array, int]:
        """The same of Hessians times a direction."""
        return self._in_doubles("products", [np.stack([x, direction])], leaves, count, limits, self.lanes)

    def bent(self, x: Array, leaves: Any, count: int, limits: Sequence[float]) -> tuple[Array, int]:
        """The same of Hessians, shape (p²,), symmetric; all rows in one block."""
        return self._in_doubles("Hessians", [x], leaves, count, limits, len(leaves[0]))

    def program(self, what: str, points: list[Any], leaves: Any, lanes: int) -> Any:
        """Of sums over blocks of so many lanes and, behind them, the count; of these shapes, compiled when run."""
        import jax

        if (what, lanes) in self.made:
            return self.made[what, lanes]
        gradients, then = {
            "gradients": (self.gradients, self.clipped),
            "differences": (self.copied, self.changed),
            "products": (self.products, partial(_cut, _as_they_are, (0,), 1)),
            "Hessians": (self.hessians, _cut_squares),
        }[what]
        shapes = [jax.ShapeDtypeStruct(each.shape, each.dtype) for each in points]
        whole = over_blocks(gradients, then, shapes[0], rows_of(leaves, lanes))
        self.made[what, lanes] = made = jax.jit(lambda *given: jax.numpy.append(*whole(*given)))
        return made

    def bytes_of(self, rows: int, start: Any, leaves: Any, differences: bool, groups: int = 1) -> int:
        """What calls with so many rows hold at once: by the compiler's account, and points, sums and rows outside."""
        import jax

        points = [jax.ShapeDtypeStruct(start.shape, self.dtype)] * (2 if differences else 1)
        what, lanes = "differences" if differences else "gradients", lanes_of(rows)
        program = self.program(what, points, leaves, lanes)
        with jax.enable_x64(True):
            limits = jax.ShapeDtypeStruct((1 if differences else groups,), np.float64)
            lowered = program.lower(points, rows_of(leaves, rows), jax.ShapeDtypeStruct((), np.int32), limits)
            used = lowered.compile().memory_analysis()
        outside = sum(rows * each.itemsize * each[:1].size for each in leaves) + _DOUBLES * 8 * start.size
        return int(used.argument_size_in_bytes + used.output_size_in_bytes + used.temp_size_in_bytes + outside)

    def _in_doubles(
        self, what: str, points: list[Array], leaves: Any, count: int, limits: Sequence[float], lanes: int
    ) -> tuple[Array, int]:
        import jax

        given = [each.astype(self.dtype) for each in points]
        program = self.program(what, given, leaves, lanes)
        with jax.enable_x64(True):
            made: Array = np.asarray(program(given, leaves, np.int32(count), np.array(limits)))
        return taken_apart(made)


def taken_apart(made: Array) -> tuple[Array, int]:
    """The sum and the count of a program."""
    if made.dtype != np.float64:
        raise UnsupportedMechanism(f"sums are made in doubles, and this JAX made them in {made.dtype}")
    return made[:-1], int(made[-1])


def lanes_of(rows: int) -> int:
    """Of a block, where one call takes so many rows: a power of two."""
    return min(rows, _LANES)


def rows_of(leaves: Any, rows: int) -> list[Any]:
    """Shapes and types of so many rows of each leaf."""
    import jax

    return [jax.ShapeDtypeStruct((rows, *leaf.shape[1:]), leaf.dtype) for leaf in leaves]


def compiled(
    loss: Loss, parameters: Any, records: Any, clip: Any, memory_limit: int, differences: bool, copies: bool | None
) -> tuple[Compiled, Clipping, Array, Leaves]:
    """The programs of a loss, its start as doubles, shape (p,), and its records; errors as ``differentiable``."""
    import jax
    from jax.flatten_util import ravel_pytree

    demand_doubles(jax.default_backend())
    own = jax.tree.leaves(parameters)
    for index, leaf in enumerate(own):
        demand_floating(index, leaf, jax.numpy.asarray(leaf).dtype)
    if not own:
        raise InvalidValue("parameters", "no leaf", "a pytree of arrays of floating-point numbers")
    clipping = Clipping.of(clip, parameters)
    flat, unravel = ravel_pytree(parameters)
    leaves, form = jax.tree.flatten(records)
    rows = tuple(read_only(leaf, len(leaves[0]) if np.ndim(leaves[0]) else 0, i) for i, leaf in enumerate(leaves))
    if not rows:
        raise InvalidValue("records", "no leaf", "a pytree of arrays with a row for each record")

    def one(tree: Any, row: list[Any]) -> Any:
        return loss(tree, jax.tree.unflatten(form, row))

    first = [jax.ShapeDtypeStruct(leaf.shape[1:], leaf.dtype) for leaf in rows]
    shape = jax.tree.leaves(jax.eval_shape(one, parameters, first))
    if len(shape) != 1 or shape[0].shape != ():
        raise InvalidValue("loss", [each.shape for each in shape], "one scalar per record")

    def flat_one(x: Any, row: list[Any]) -> Any:
        return one(unravel(x), row)

    def products(pair: Any, batch: list[Any]) -> Any:
        def along(row: list[Any]) -> Any:
            return jax.jvp(lambda at: jax.grad(flat_one)(at, row), (pair[0],), (pair[1],))[1]

        return [jax.vmap(along)(batch)]

    def hessians(x: Any, batch: list[Any]) -> Any:
        return jax.vmap(jax.hessian(flat_one), in_axes=(None, 0))(x, batch)

    copied = jax.jit(_copied(one, unravel))
    short = None if copies else _without_copies(one, unravel, parameters, first, None if copies is False else 1)
    gradients, taken, tokens = short or (copied, _as_they_are, 1)
    everything = (0,) * len(own)
    made = Compiled(
        flat.dtype,
        unravel,
        gradients=gradients,
        clipped=partial(_cut, taken, clipping.groups, cancelling(tokens)),
        copied=copied,
        changed=partial(_cut_differences, everything),
        products=products,
        hessians=hessians,
        tokens=tokens,
    )
    made.chunk = _chunk(made, flat, rows, memory_limit, differences, len(clipping.bounds))
    return made, clipping, np.array(flat, dtype=np.float64), rows


def _copied(one: Loss, unravel: Any) -> Any:
    """The program of gradients as they are."""
    import jax

    def gradients(x: Any, batch: list[Any]) -> Any:
        found = jax.vmap(jax.grad(one), in_axes=(None, 0))(unravel(x), batch)
        return [each.reshape(len(each), -1) for each in jax.tree.leaves(found)]

    return gradients


def _without_copies(
    one: Loss, unravel: Any, parameters: Any, row: Any, tokens: int | None
) -> tuple[Any, Any, int] | None:
    """Inputs and slopes of the products of ``ghost`` that have at most so many rows, gradients of what else there is.

    The program, how its answers are summed, and the largest T; None where there is no such product.
    """
    import jax

    leaves = jax.tree.leaves(parameters)
    program = jax.make_jaxpr(one)(parameters, row)
    fitting = (each for each in ghost.products(program, len(leaves)) if tokens is None or each.tokens <= tokens)
    found = {each.leaf: each for each in fitting}
    if not found:
        return None
    outcomes = ghost.outcomes(program, list(found.values()))

    def of_one(leaves_now: list[Any], rows: list[Any]) -> Any:
        taps = {place: jax.numpy.zeros(each.shape, each.dtype) for place, each in outcomes.items()}
        others = {place: leaf for place, leaf in enumerate(leaves_now) if place not in found}

        def value(taps: Any, others: Any) -> Any:
            given = [others.get(place, leaf) for place, leaf in enumerate(leaves_now)]
            return ghost.evaluated(program, [*given, *rows], taps)

        (slopes, rest), operands = jax.grad(value, argnums=(0, 1), has_aux=True)(taps, others)
        return [
            ghost.taken_apart(found[place], operands[found[place].place], slopes[found[place].place])
            if place in found
            else rest[place].ravel()
            for place in range(len(leaves_now))
        ]

    def gradients(x: Any, batch: list[Any]) -> Any:
        return jax.vmap(of_one, in_axes=(None, 0))(jax.tree.leaves(unravel(x)), batch)

    def taken(answers: list[Any]) -> list[sums.Part]:
        return [
            ghost.together(found[place], leaves[place], *each) if place in found else sums.copies(each)
            for place, each in enumerate(answers)
        ]

    return jax.jit(gradients), taken, max(each.tokens for each in found.values())


def _as_they_are(answers: list[Any]) -> list[sums.Part]:
    return [sums.copies(each) for each in answers]


def _chunk(made: Compiled, start: Any, leaves: Leaves, memory_limit: int, differences: bool, groups: int) -> int:
    """The largest power of two that fits into the memory and is of use: of public numbers alone."""

    def held(rows: int) -> int:
        gradients = made.bytes_of(rows, start, leaves, False, groups)
        return max(gradients, made.bytes_of(rows, start, leaves, True)) if differences else gradients

    rows = min(_MOST, 1 << (len(leaves[0]) - 1).bit_length())
    while (needed := held(rows)) > memory_limit:  # each is a compilation: the largest first, which mostly fits
        if rows == 1:
            raise InvalidValue("memory_limit", memory_limit, f"at least {needed} bytes, what one record takes")
        rows //= 2
    return rows


def blocks(rows: Indices, most: int) -> Iterator[Indices]:
    """Records in chunks; all run on the one program that is ``most`` wide, as others round gradients in other ways."""
    for start in range(0, len(rows), most):
        yield rows[start : start + most]


def _cut(taken: Any, groups: tuple[int, ...], cancel: int, answers: list[Any], there: Any, limits: Any) -> Any:
    return sums.clipped_sum(taken(answers), groups, there, limits, cancel)


def _cut_differences(groups: tuple[int, ...], here: list[Any], before: list[Any], there: Any, limits: Any) -> Any:
    parts = [sums.changes(*pair) for pair in zip(here, before, strict=True)]
    return sums.clipped_sum(parts, groups, there, limits)


def _cut_squares(hessians: Any, there: Any, limits: Any) -> Any:
    def symmetric(lane: Any) -> Any:
        own = hessians[lane].astype("float64")
        return ((own + own.swapaxes(-1, -2)) / 2).reshape(*own.shape[:-2], -1)

    return sums.clipped_sum([sums.Copies(symmetric, hessians.shape[-1] ** 2)], (0,), there, limits)
