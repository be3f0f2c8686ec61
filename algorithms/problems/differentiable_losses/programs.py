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

_LANES = 16  # lanes of a block: more are slower for samples with few records
_DOUBLES = 6  # arrays of a point's size, held outside: the point, sums of this call and the last, casts and copies
_MOST = 256  # rows in one call: more gain little
_HOST = "cpu"  # where arrays of JAX and of NumPy share their memory

Loss = Callable[[Any, Any], Any]
Leaves = tuple[np.ndarray[Any, Any], ...]
Limits = Sequence[float]


@dataclass(frozen=True, slots=True)
class Clipping:
    """The clipping norms of the gradients of a loss.

    Attributes:
        groups: The group of each leaf.
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
        """Return one norm for all leaves; or one for each part of the parameters, in a pytree prefix."""
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
        groups = jax.tree.leaves(spread)
        used = sorted(set(groups))  # a part may have no numbers
        return cls(tuple(map(used.index, groups)), tuple(bounds[each] for each in used))


@dataclass(slots=True, eq=False)
class Compiled:
    """The programs: gradients in the precision of the parameters, then norms, factors and sums in doubles.

    Attributes:
        dtype: The dtype of a point that holds all parameters.
        unravel: From such a point to a pytree.
        whole: From that to what the loss is given: with the leaves that are functions, as Equinox' modules have them.
        gradients: From a point and the records of one block, in JAX's own precision, to what is clipped.
        clipped: In doubles, what follows: the sum of what is clipped, and how many were within the limit.
        copied: From the same to gradients that are written out.
        changed: In doubles, what follows two of them: of their differences.
        products: From a point and a direction, shape (2, p), and records to Hessians times the direction.
        hessians: From a point and records to Hessians.
        chunk: Rows in one call, in blocks.
        lanes: The lanes of a block: the number of records that are differentiated at once.
        resident: The leaves of all records as JAX holds them, or none where calls are given the rows that they read.
        tokens: The most rows that a record has in a product of ``ghost``.
        made: The programs, by what is summed and the number of lanes.
    """

    dtype: Any
    unravel: Callable[[Any], Any]
    whole: Callable[[Any], Any]
    gradients: Any
    clipped: Any
    copied: Any
    changed: Any
    products: Any
    hessians: Any
    chunk: int = 1
    lanes: int = 1
    resident: tuple[Any, ...] = ()
    tokens: int = 1
    made: dict[tuple[str, int], Any] = field(default_factory=dict)

    def parameters(self, x: Array) -> Any:
        """Return a point as a pytree."""
        return self.whole(self.unravel(x.astype(self.dtype)))

    def summed(self, points: tuple[Array, ...], leaves: Leaves, rows: Indices, limits: Limits) -> tuple[Array, int]:
        """Return the clipped sum of some rows, at most a chunk, and the number within the first limit.

        In doubles, shape (p,): of gradients at one point, or of their differences between two.
        """
        what = "gradients" if len(points) == 1 else "differences"
        return self._in_doubles(what, list(points), leaves, rows, limits, self.chunk, self.lanes)

    def turned(self, x: Array, direction: Array, leaves: Leaves, rows: Indices, limits: Limits) -> tuple[Array, int]:
        """Return the same of Hessians times a direction."""
        return self._in_doubles("products", [np.stack([x, direction])], leaves, rows, limits, self.chunk, self.lanes)

    def bent(self, x: Array, width: int, leaves: Leaves, rows: Indices, limits: Limits) -> tuple[Array, int]:
        """Return the same of Hessians, shape (p²,), symmetric; chunks are of this width, in one block."""
        return self._in_doubles("Hessians", [x], leaves, rows, limits, width, width)

    def program(self, what: str, points: list[Any], leaves: Any, lanes: int) -> Any:
        """Return the compiled program of sums over blocks of ``lanes`` lanes and, after them, of the count."""
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

    def bytes_of(
        self, rows: int, lanes: int, start: Any, leaves: Leaves, differences: bool = False, groups: int = 1
    ) -> int:
        """Return the memory of calls with ``rows`` rows: by the compiler's account, and points, sums and rows outside.

        Records that JAX holds are the problem's, and not counted.
        """
        import jax

        points = [jax.ShapeDtypeStruct(start.shape, self.dtype)] * (2 if differences else 1)
        program = self.program("differences" if differences else "gradients", points, leaves, lanes)
        with jax.enable_x64(True):
            limits = jax.ShapeDtypeStruct((1 if differences else groups,), np.float64)
            records = self.resident or rows_of(leaves, rows)
            lowered = program.lower(points, records, jax.ShapeDtypeStruct((rows + 1,), np.int32), limits)
            used = lowered.compile().memory_analysis()
        called = used.argument_size_in_bytes + used.output_size_in_bytes + used.temp_size_in_bytes
        held = sum(each.nbytes for each in self.resident)
        outside = -held if held else rows * sum(each[:1].nbytes for each in leaves)
        return int(called + outside + _DOUBLES * 8 * start.size)

    def _in_doubles(
        self,
        what: str,
        points: list[Array],
        leaves: Leaves,
        rows: Indices,
        limits: Limits,
        width: int,
        lanes: int,
    ) -> tuple[Array, int]:
        import jax

        given = [each.astype(self.dtype) for each in points]
        program = self.program(what, given, leaves, lanes)
        count, picks = len(rows), np.empty(width + 1, np.int32)
        records = self.resident or [filled(leaf, rows, width, lanes) for leaf in leaves]
        picks[:count] = rows if self.resident else np.arange(count)
        picks[count:] = picks[0]  # read in lanes that do not count
        picks[-1] = count
        with jax.enable_x64(True):
            made: Array = np.asarray(program(given, records, picks, np.array(limits)))
        return taken_apart(made)


def taken_apart(made: Array) -> tuple[Array, int]:
    """Return the sum and the count of a program."""
    if made.dtype != np.float64:
        raise UnsupportedMechanism(f"sums are made in doubles, and this JAX made them in {made.dtype}")
    return made[:-1], int(made[-1])


def filled(leaf: np.ndarray[Any, Any], rows: Indices, width: int, block: int) -> np.ndarray[Any, Any]:
    """Return a chunk that begins with these rows and repeats one of them up to whole blocks."""
    chunk = np.empty((width, *leaf.shape[1:]), leaf.dtype)
    chunk[: len(rows)] = leaf[rows]
    chunk[len(rows) : -(-len(rows) // block) * block] = chunk[0]
    return chunk


def rows_of(leaves: Any, rows: int) -> list[Any]:
    """Return shapes and types of ``rows`` rows of each leaf."""
    import jax

    return [jax.ShapeDtypeStruct((rows, *leaf.shape[1:]), leaf.dtype) for leaf in leaves]


def compiled(
    loss: Loss, parameters: Any, records: Any, clip: Any, memory_limit: int, differences: bool, copies: bool | None
) -> tuple[Compiled, Clipping, Array, Leaves]:
    """Return the programs of a loss, its start, shape (p,), and its records; errors as ``differentiable``."""
    import jax
    from jax.flatten_util import ravel_pytree

    demand_doubles(jax.default_backend())
    parameters, whole = _taken_apart(parameters)
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
        return loss(whole(tree), jax.tree.unflatten(form, row))

    first = [jax.ShapeDtypeStruct(leaf.shape[1:], leaf.dtype) for leaf in rows]
    try:
        shape = jax.tree.leaves(jax.eval_shape(one, parameters, first))
    except Exception as error:
        shapes = ", ".join(str(each.shape) for each in first)
        error.add_note(
            f"The loss was called with the parameters and one record, whose arrays have the shapes {shapes}: "
            "a record has no dimension of a batch."
        )
        raise
    if len(shape) != 1 or shape[0].shape != ():
        advice = "a record has no dimension of a batch: return its own loss, and take no mean over records"
        raise InvalidValue("loss", [each.shape for each in shape], "one scalar per record", advice)

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
        whole,
        gradients=gradients,
        clipped=partial(_cut, taken, clipping.groups, cancelling(tokens)),
        copied=copied,
        changed=partial(_cut_differences, everything),
        products=products,
        hessians=hessians,
        tokens=tokens,
    )
    if jax.default_backend() == _HOST and not any(isinstance(leaf, np.memmap) for leaf in rows):
        with jax.enable_x64(True):
            made.resident = tuple(jax.device_put(leaf) for leaf in rows)
            rows = tuple(np.asarray(leaf) for leaf in made.resident)  # shares its memory
    made.chunk, made.lanes = _chunk(made, flat, rows, memory_limit, differences, len(clipping.bounds))
    return made, clipping, np.array(flat, dtype=np.float64), rows


def _taken_apart(parameters: Any) -> tuple[Any, Callable[[Any], Any]]:
    """Return the parameters without leaves that are functions (replaced by None), and a function to restore these."""
    import jax

    leaves, form = jax.tree.flatten(parameters)
    if not any(map(callable, leaves)):
        return parameters, lambda tree: tree

    def whole(tree: Any) -> Any:
        moving = iter(jax.tree.leaves(tree))
        return jax.tree.unflatten(form, [each if callable(each) else next(moving) for each in leaves])

    return jax.tree.unflatten(form, [None if callable(each) else each for each in leaves]), whole


def _copied(one: Loss, unravel: Any) -> Any:
    """Return the program of gradients as they are."""
    import jax

    def gradients(x: Any, batch: list[Any]) -> Any:
        found = jax.vmap(jax.grad(one), in_axes=(None, 0))(unravel(x), batch)
        return [each.reshape(len(each), -1) for each in jax.tree.leaves(found)]

    return gradients


def _without_copies(
    one: Loss, unravel: Any, parameters: Any, row: Any, tokens: int | None
) -> tuple[Any, Any, int] | None:
    """Return inputs and slopes of the small products of ``ghost``, and gradients of the other parameters.

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


def _chunk(
    made: Compiled, start: Any, leaves: Leaves, memory_limit: int, differences: bool, groups: int
) -> tuple[int, int]:
    """Return rows and lanes: the largest useful powers of two that fit into memory, from public numbers alone.

    Fewer lanes come before fewer rows: every call takes memory anew, and what it gives back is not always taken again.
    """

    def held(rows: int, lanes: int) -> int:
        gradients = made.bytes_of(rows, lanes, start, leaves, False, groups)
        return max(gradients, made.bytes_of(rows, lanes, start, leaves, True)) if differences else gradients

    rows = min(_MOST, 1 << (len(leaves[0]) - 1).bit_length())
    while rows > 1 and not made.resident and 4 * sum(leaf[:rows].nbytes for leaf in leaves) > memory_limit:
        rows //= 2
    lanes = min(rows, _LANES)
    while (needed := held(rows, lanes)) > memory_limit:  # each is a compilation: the largest first, which mostly fits
        if rows == 1 or (lanes == 1 and made.resident):
            raise InvalidValue("memory_limit", memory_limit, f"at least {needed} bytes, what one record takes")
        rows, lanes = (rows, lanes // 2) if lanes > 1 else (rows // 2, 1)
    return rows, lanes


def blocks(rows: Indices, most: int) -> Iterator[Indices]:
    """Yield records in chunks for the one program of width ``most``, as other widths round gradients differently."""
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
