"""Gradients of weights that are multiplied by functions of a record, without a copy per record.

Where a leaf W of the parameters occurs once, in a product x W, as the kernel of a convolution, or with rows picked out
of it (whatever comes before and after), a record's gradient is X'D: X the T rows that came in, D the slopes of the T
rows that came out (Goodfellow 2015; Bu, Wang, Zha & Karypis 2022 keep both and sum at once). These ``forms`` are found
in the program that JAX traces; at each of them a "tap" of zeros is added, whose gradient is D. Leaves without a form
keep their copies.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpbounds.algorithms.problems.differentiable_losses.forms import FORMS, Form
from dpbounds.algorithms.problems.differentiable_losses.sums import Outer, Picked

_INLINED = ("jit", "pjit")
_ARRANGING = ("transpose", "reshape", "convert_element_type")

Place = tuple[int, ...]  # index of an equation inside of others


@dataclass(frozen=True, slots=True)
class Product:
    """A product of a leaf with a function of a record, or an equivalent operation.

    Attributes:
        leaf: The index of the leaf.
        place: The place of the equation.
        equation, form: It, and what is known of its kind.
        side: The operand that is the leaf: 0 or 1.
        arranged: From the leaf to the operand: a reordering of its entries.
        tokens, inputs, outputs: T, a and b.
    """

    leaf: int
    place: Place
    equation: Any
    form: Form
    side: int
    arranged: Callable[[Any], Any]
    tokens: int
    inputs: int
    outputs: int

    @property
    def sizes(self) -> tuple[int, int, int]:
        """T, a and b."""
        return self.tokens, self.inputs, self.outputs


def products(program: Any, leaves: int) -> list[Product]:
    """Return the leaves (first arguments of a closed jaxpr) used once, in a product, and smaller as X and D."""
    uses: dict[int, int] = dict.fromkeys(range(leaves), 0)
    found: dict[int, Product] = {}

    def walk(jaxpr: Any, known: dict[Any, tuple[int, Callable[[Any], Any]]], where: Place) -> None:
        for number, equation in enumerate(jaxpr.eqns):
            place, name = (*where, number), equation.primitive.name
            own = [(side, known[each]) for side, each in enumerate(equation.invars) if _is_known(each, known)]
            if name in _INLINED:
                inner = equation.params["jaxpr"].jaxpr
                walk(inner, {inner.invars[side]: leaf for side, leaf in own}, place)
                continue
            if name in _ARRANGING and len(own) == 1 and len(equation.invars) == 1:
                (_, (leaf, before)), outcome = own[0], equation.outvars[0]
                known[outcome] = leaf, _then(before, equation)
                continue
            for side, (leaf, arranged) in own:
                uses[leaf] += 1
                form = FORMS.get(name)
                sizes = None if form is None else form.sizes(equation, side)
                if form is not None and sizes is not None:
                    found[leaf] = Product(leaf, place, equation, form, side, arranged, *sizes)
        for each in jaxpr.outvars:
            if _is_known(each, known):
                uses[known[each][0]] += 2  # handed on: not followed

    jaxpr = program.jaxpr
    walk(jaxpr, {each: (leaf, lambda value: value) for leaf, each in enumerate(jaxpr.invars[:leaves])}, ())
    avals = [each.aval for each in jaxpr.invars[:leaves]]
    return [
        each
        for leaf, each in sorted(found.items())
        if uses[leaf] == 1
        and avals[leaf].dtype != np.float64  # its squares could leave the range of doubles
        and each.tokens * (each.inputs + each.outputs) < math.prod(avals[leaf].shape)
    ]


def _is_known(variable: Any, known: dict[Any, Any]) -> bool:
    return not hasattr(variable, "val") and variable in known


def _then(before: Callable[[Any], Any], equation: Any) -> Callable[[Any], Any]:
    if equation.primitive.name == "convert_element_type":
        return before
    return lambda value: equation.primitive.bind(before(value), **equation.params)


def evaluated(program: Any, arguments: Sequence[Any], taps: dict[Place, Any]) -> tuple[Any, dict[Place, Any]]:
    """Evaluate a closed jaxpr with taps added to some of its products; return their operands, too."""
    operands: dict[Place, Any] = {}

    def walk(jaxpr: Any, constants: Sequence[Any], given: Sequence[Any], where: Place) -> list[Any]:
        values = dict(zip((*jaxpr.constvars, *jaxpr.invars), (*constants, *given), strict=True))

        def read(variable: Any) -> Any:
            return variable.val if hasattr(variable, "val") else values[variable]

        for number, equation in enumerate(jaxpr.eqns):
            place, own = (*where, number), list(map(read, equation.invars))
            if equation.primitive.name in _INLINED:
                inner = equation.params["jaxpr"]
                made = walk(inner.jaxpr, inner.consts, own, place)
            else:
                bound = equation.primitive.get_bind_params(equation.params)
                functions, options = bound if isinstance(bound, tuple) else ((), bound)  # before JAX 0.10, and since
                made = equation.primitive.bind(*functions, *own, **options)
                made = list(made) if equation.primitive.multiple_results else [made]
            if place in taps:
                operands[place] = own
                made = [made[0] + taps[place]]
            values.update(zip(equation.outvars, made, strict=True))
        return list(map(read, jaxpr.outvars))

    (value,) = walk(program.jaxpr, program.consts, arguments, ())
    return value, operands


def outcomes(program: Any, products: Sequence[Product]) -> dict[Place, Any]:
    """Return shape and type of the result of each product."""

    def at(jaxpr: Any, place: Place) -> Any:
        equation = jaxpr.eqns[place[0]]
        return equation.outvars[0].aval if len(place) == 1 else at(equation.params["jaxpr"].jaxpr, place[1:])

    return {each.place: at(program.jaxpr, each.place) for each in products}


def taken_apart(product: Product, operands: Sequence[Any], slope: Any) -> tuple[Any, Any]:
    """Return X, shape (T, a), and D, shape (T, b), of one record."""
    form, given = product.form, (product.equation, product.side)
    return form.inputs(*given, operands, product.sizes), form.slopes(*given, slope, product.sizes)


def together(product: Product, leaf: Any, X: Any, D: Any) -> Outer | Picked:
    """Return the sum over many records, for X of shape (lanes, T, a) and D (lanes, T, b), in the form of the leaf."""
    import jax

    jnp = jax.numpy
    shape = jax.eval_shape(product.arranged, leaf).shape

    def restored(total: Any) -> Any:
        placed = product.form.placed(product.equation, product.side, total, shape)
        # the operand has every entry of the leaf once: the place of each
        count = math.prod(leaf.shape)
        places = product.arranged(jnp.arange(count).reshape(leaf.shape))
        return jnp.zeros(count, total.dtype).at[places.ravel()].set(placed.ravel())

    return Picked(X[:, :, 0], D, shape[0], restored) if product.form.picks else Outer(X, D, restored)
