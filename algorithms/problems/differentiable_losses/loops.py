"""Many blocks of records in one program: gradients in their own precision, added up in doubles.

A block has few lanes, so that its gradients stay in the processor's caches and a small sample fills few of them; the
loop over blocks is inside the program, so that calling it costs little. ``clipped_sums.md`` asks that one program of
one width computes all blocks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def over_blocks(gradients: Any, made: Callable[..., Any], point: Any, block: list[Any]) -> Any:
    """Return a program, to be traced in doubles, of points, records, which of them, and more numbers.

    Which: places of rows among the records, as many as blocks have, and behind them how many of these count.

    Args:
        gradients: From a point and the rows of one block to a pytree, traced in JAX's own precision.
        made: From the gradients at each point, ones for lanes that count (else zeros) and the numbers to a pytree of
            arrays, which are added up over the blocks.
        point: Its shape and type.
        block: Those of the leaves of one block, whose lanes are the first axis.
    """
    import jax
    from jax.extend.core import jaxpr_as_fun

    # traced here, where JAX's own precision holds: the program below only repeats it
    own, form = jax.make_jaxpr(gradients, return_shape=True)(point, block)
    tree, types, lanes = jax.tree.structure(form), [each.dtype for each in own.in_avals], block[0].shape[0]

    def at(x: Any, rows: list[Any]) -> Any:
        given = [each.astype(kept) for each, kept in zip([x, *rows], types, strict=True)]
        return jax.tree.unflatten(tree, jaxpr_as_fun(own)(*given))

    def whole(given: list[Any], leaves: list[Any], picks: Any, *numbers: Any) -> Any:
        jnp, count = jax.numpy, picks[-1]

        def of_block(place: Any) -> Any:
            own = jax.lax.dynamic_slice_in_dim(picks, place * lanes, lanes)
            # nothing of what comes before or after may change how gradients are rounded
            rows = jax.lax.optimization_barrier([leaf.at[own].get(mode="promise_in_bounds") for leaf in leaves])
            found = jax.lax.optimization_barrier([at(x, rows) for x in given])
            there = (jnp.arange(lanes) + place * lanes < count).astype("float64")
            return made(*found, there, *numbers)

        zeros = jax.tree.map(lambda each: jnp.zeros(each.shape, each.dtype), jax.eval_shape(of_block, count))
        blocks = (count + (lanes - 1)) // lanes
        return jax.lax.fori_loop(0, blocks, lambda i, so_far: jax.tree.map(jnp.add, so_far, of_block(i)), zeros)

    return whole
