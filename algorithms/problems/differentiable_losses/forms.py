"""Operations that are linear in one operand: its gradient is X'D, with inputs X and slopes D, T rows each.

A form knows this of one kind of equation of a traced program, for one record. The operand is "laid out" where it is a
matrix, shape (a, b), whose product with X is what comes out.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, Protocol

import numpy as np

Sizes = tuple[int, int, int]


class Form(Protocol):
    """One kind of equation, ``side`` the number of the operand."""

    picks: ClassVar[bool]  # whether X has one 1 in each row: then what stands for X is where, or -1 for none

    def sizes(self, equation: Any, side: int) -> Sizes | None:
        """Return T, a (1 where rows are picked) and b; None where it is not of this form."""

    def inputs(self, equation: Any, side: int, operands: Any, sizes: Sizes) -> Any:
        """Return X, shape (T, a)."""

    def slopes(self, equation: Any, side: int, slope: Any, sizes: Sizes) -> Any:
        """Return D, shape (T, b), the slopes of the output."""

    def placed(self, equation: Any, side: int, total: Any, shape: tuple[int, ...]) -> Any:
        """Return the operand, of this shape, from how it is laid out."""


class Products:
    """``dot_general`` without batches."""

    picks: ClassVar[bool] = False

    def sizes(self, equation: Any, side: int) -> Sizes | None:
        """See ``Form``."""
        contracted, batched = equation.params["dimension_numbers"]
        if batched[0] or batched[1]:
            return None
        shapes = [each.aval.shape for each in equation.invars]
        inputs = math.prod(shapes[side][axis] for axis in contracted[side])
        return math.prod(shapes[1 - side]) // max(inputs, 1), inputs, math.prod(shapes[side]) // max(inputs, 1)

    def inputs(self, equation: Any, side: int, operands: Any, sizes: Sizes) -> Any:
        """See ``Form``."""
        other, contracted = operands[1 - side], equation.params["dimension_numbers"][0][1 - side]
        free = [axis for axis in range(other.ndim) if axis not in contracted]
        return other.transpose((*free, *contracted)).reshape(sizes[0], sizes[1])

    def slopes(self, equation: Any, side: int, slope: Any, sizes: Sizes) -> Any:
        """See ``Form``."""
        tokens, _, outputs = sizes
        # where the operand is the first, what comes out has its axes first
        return slope.reshape(outputs, tokens).T if side == 0 else slope.reshape(tokens, outputs)

    def placed(self, equation: Any, side: int, total: Any, shape: tuple[int, ...]) -> Any:
        """See ``Form``."""
        contracted = equation.params["dimension_numbers"][0][side]
        order = (*contracted, *(axis for axis in range(len(shape)) if axis not in contracted))
        return total.reshape([shape[axis] for axis in order]).transpose(np.argsort(order))


class Convolutions:
    """``conv_general_dilated`` in one group, whose kernel is the operand: a product with patches."""

    picks: ClassVar[bool] = False

    def sizes(self, equation: Any, side: int) -> Sizes | None:
        """See ``Form``."""
        given = equation.params
        if side != 1 or given["feature_group_count"] != 1 or given["batch_group_count"] != 1:
            return None
        kernel, out = equation.invars[1].aval.shape, equation.outvars[0].aval.shape
        outputs = kernel[given["dimension_numbers"].rhs_spec[0]]
        return math.prod(out) // outputs, math.prod(kernel) // outputs, outputs

    def inputs(self, equation: Any, side: int, operands: Any, sizes: Sizes) -> Any:
        """See ``Form``."""
        import jax

        given = equation.params
        numbers = given["dimension_numbers"]
        patches = jax.lax.conv_general_dilated_patches(
            operands[0].transpose(numbers.lhs_spec),
            [equation.invars[1].aval.shape[axis] for axis in numbers.rhs_spec[2:]],
            given["window_strides"],
            given["padding"],
            given["lhs_dilation"],
            given["rhs_dilation"],
            precision=jax.lax.Precision.HIGHEST,
        )
        return jax.numpy.moveaxis(patches, 1, -1).reshape(sizes[0], sizes[1])

    def slopes(self, equation: Any, side: int, slope: Any, sizes: Sizes) -> Any:
        """See ``Form``."""
        import jax

        ordered = slope.transpose(equation.params["dimension_numbers"].out_spec)
        return jax.numpy.moveaxis(ordered, 1, -1).reshape(sizes[0], sizes[2])

    def placed(self, equation: Any, side: int, total: Any, shape: tuple[int, ...]) -> Any:
        """See ``Form``."""
        spec = equation.params["dimension_numbers"].rhs_spec  # outputs, inputs, places
        ordered = total.T.reshape([shape[axis] for axis in spec])
        return ordered.transpose(np.argsort(spec))


class Rows:
    """``gather`` and ``dynamic_slice`` of whole rows, as embeddings are looked up."""

    picks: ClassVar[bool] = True

    def sizes(self, equation: Any, side: int) -> Sizes | None:
        """See ``Form``."""
        given, shape = equation.params, equation.invars[0].aval.shape
        if side != 0 or not shape or tuple(given["slice_sizes"]) != (1, *shape[1:]):
            return None
        width = math.prod(shape[1:])
        if equation.primitive.name == "dynamic_slice":
            return 1, 1, width
        numbers, places = given["dimension_numbers"], equation.invars[1].aval.shape
        whole = tuple(range(len(places) - 1, len(places) + len(shape) - 2))
        plain = (numbers.offset_dims, numbers.collapsed_slice_dims, numbers.start_index_map)
        if plain != (whole, (0,), (0,)) or numbers.operand_batching_dims:
            return None
        return math.prod(places), 1, width

    def inputs(self, equation: Any, side: int, operands: Any, sizes: Sizes) -> Any:
        """See ``Form``."""
        import jax

        places, most = operands[1].reshape(sizes[0], 1).astype("int32"), equation.invars[0].aval.shape[0]
        if equation.params.get("mode") == jax.lax.GatherScatterMode.FILL_OR_DROP:
            return jax.numpy.where((places >= 0) & (places < most), places, -1)
        return jax.numpy.clip(places, 0, most - 1)

    def slopes(self, equation: Any, side: int, slope: Any, sizes: Sizes) -> Any:
        """See ``Form``."""
        return slope.reshape(sizes[0], sizes[2])

    def placed(self, equation: Any, side: int, total: Any, shape: tuple[int, ...]) -> Any:
        """See ``Form``."""
        return total.reshape(shape)


FORMS: dict[str, Form] = {
    "dot_general": Products(),
    "conv_general_dilated": Convolutions(),
    "gather": Rows(),
    "dynamic_slice": Rows(),
}
