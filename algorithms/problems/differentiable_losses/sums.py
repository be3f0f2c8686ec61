"""Clipped sums, traced in doubles: ``clipped_sums.md`` proves the sensitivity of the computed sum."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from dpbounds.algorithms.problems.differentiable_losses.margins import SLACK, UNIT

_SMALL = 2048  # number of parameters below which adding them costs less than a step of a loop


@dataclass(frozen=True, slots=True)
class Copies:
    """Records' gradients of one leaf, written out.

    Attributes:
        of: From lanes (a slice or a number) to doubles, shape (lanes, width).
        width: The width of the raveled leaf.
    """

    of: Callable[[Any], Any]
    width: int

    def sizes(self) -> tuple[Any, Any]:
        """Return upper bounds on the squared norms, and the scale of rounding errors, squared; shape (lanes,) each."""
        squares = (self.of(slice(None)) ** 2).sum(axis=1)
        return squares, squares


@dataclass(frozen=True, slots=True)
class Outer:
    """Records' gradients of one leaf as X'D, not written out: inputs X and slopes D.

    Attributes:
        inputs: X, shape (lanes, T, a).
        slopes: D, shape (lanes, T, b).
        restored: From a sum of X'D, shape (a, b), to the raveled leaf's.
    """

    inputs: Any
    slopes: Any
    restored: Callable[[Any], Any]

    def sizes(self) -> tuple[Any, Any]:
        """Return a number that is at least ‖X'D‖_F², and ‖X‖_F² ‖D‖_F²: the same where T is 1; shape (lanes,) each."""
        import jax

        X, D = self._doubles()
        spread = (X**2).sum(axis=(1, 2)) * (D**2).sum(axis=(1, 2))
        tokens = X.shape[1]
        if tokens == 1:
            return spread, spread
        grams = [jax.numpy.einsum("lsa,lta->lst", each, each) for each in (X, D)]
        rounding = 2 * (X.shape[2] + D.shape[2] + tokens**2 + 8) * float(UNIT)
        return jax.numpy.maximum((grams[0] * grams[1]).sum(axis=(1, 2)), 0.0) + rounding * spread, spread

    def summed(self, factor: Any) -> Any:
        """Return Σ_i a_i X_i'D_i as the leaf is raveled; terms with the factor 0 count as 0, also if not finite."""
        import jax

        X, D = self._doubles()
        used = (factor != 0)[:, None, None]
        X, D = (jax.numpy.where(used, each, 0.0) for each in (X, D))
        return self.restored(jax.numpy.einsum("lta,ltb->ab", factor[:, None, None] * X, D)).ravel()

    def _doubles(self) -> tuple[Any, Any]:
        return self.inputs.astype("float64"), self.slopes.astype("float64")


@dataclass(frozen=True, slots=True)
class Picked:
    """Records' gradients of a leaf with selected rows, not written out: X has a 1 at a selected row.

    Attributes:
        places: The selected rows, -1 for none, shape (lanes, T).
        slopes: D, shape (lanes, T, b).
        rows: The number of rows of the leaf.
        restored: From a sum of X'D, shape (rows, b), to the raveled leaf's.
    """

    places: Any
    slopes: Any
    rows: int
    restored: Callable[[Any], Any]

    def sizes(self) -> tuple[Any, Any]:
        """Return a number that is at least ‖X'D‖_F², and ‖X‖_F² ‖D‖_F², as of ``Outer``."""
        import jax

        jnp, (there, D), tokens = jax.numpy, self._doubles(), self.places.shape[1]
        spread = there.sum(axis=1).astype("float64") * (D**2).sum(axis=(1, 2))
        if tokens == 1:
            return spread, spread
        same = (self.places[:, :, None] == self.places[:, None, :]).astype("float64")
        rounding = 2 * (D.shape[2] + tokens**2 + 8) * float(UNIT)
        found = (same * jnp.einsum("lsa,lta->lst", D, D)).sum(axis=(1, 2))
        return jnp.maximum(found, 0.0) + rounding * spread, spread

    def summed(self, factor: Any) -> Any:
        """Return Σ_i a_i X_i'D_i as the leaf is raveled; terms with the factor 0 count as 0, also if not finite."""
        import jax

        jnp, (there, D) = jax.numpy, self._doubles()
        D = jnp.where((factor != 0)[:, None, None], D, 0.0)
        places = jnp.where(there, self.places, 0)
        begun = jnp.zeros((self.rows, D.shape[2]), D.dtype)
        return self.restored(begun.at[places].add(factor[:, None, None] * D)).ravel()

    def _doubles(self) -> tuple[Any, Any]:
        import jax

        there = self.places >= 0
        return there, jax.numpy.where(there[:, :, None], self.slopes.astype("float64"), 0.0)


Part = Copies | Outer | Picked


def copies(each: Any) -> Copies:
    """Return copies of gradients, shape (lanes, width)."""
    return Copies(lambda lane: each[lane].astype("float64"), each.shape[1])


def changes(here: Any, before: Any) -> Copies:
    """Return copies of differences of gradients, shape (lanes, width) each."""
    return Copies(lambda lane: here[lane].astype("float64") - before[lane].astype("float64"), here.shape[1])


def clipped_sum(
    parts: Sequence[Part], groups: Sequence[int], there: Any, limits: Any, cancel: int = 1
) -> tuple[Any, Any]:
    """Return the sum of records' gradients, clipped in every group of leaves, and the number left unclipped.

    Args:
        parts: One for each leaf.
        groups: The group of each leaf: 0, 1, ...
        there: 1 for lanes that count, 0 for others, doubles of shape (lanes,).
        limits: C' of each group: a_i² ‖g_i‖² <= C'² (1 + 2^-30), as computed.
        cancel: K of ``margins.cancelling``.

    Returns:
        Shape (p,), and the number of lanes that are there and within the first limit.
    """
    import jax

    jnp = jax.numpy
    sizes, most = [part.sizes() for part in parts], limits * limits
    of_group = range(max(groups) + 1)
    squares, spreads = (
        jnp.stack([sum(each[k] for each, own in zip(sizes, groups, strict=True) if own == g) for g in of_group])
        for k in (0, 1)
    )  # shape (groups, lanes)
    finite = jnp.isfinite(squares).all(axis=0) & jnp.isfinite(spreads).all(axis=0)
    within = most[:, None]
    factor = jnp.where(squares > within, limits[:, None] / jnp.sqrt(squares), 1.0)
    if cancel > 1:
        spread = spreads / cancel**2
        factor = jnp.minimum(factor, jnp.where(spread > within, limits[:, None] / jnp.sqrt(spread), 1.0))
    factor, squares, spreads = jax.lax.optimization_barrier((factor, squares, spreads))  # what is checked is computed
    allowed = within * (1 + float(SLACK))
    kept = finite & (factor * (factor * squares) <= allowed) & (factor * (factor * spreads) <= allowed * cancel**2)
    factor = jnp.where(kept, factor * there, 0.0)
    plain = [(place, part) for place, part in enumerate(parts) if isinstance(part, Copies)]

    def add(first: Any, totals: list[Any]) -> list[Any]:  # no more doubles than these rows' are held beside the totals
        for lane in (first + each for each in range(together)):
            own = [jnp.where(finite[lane], part.of(lane), 0.0) for _, part in plain]
            weights = [factor[groups[place], lane] for place, _ in plain]
            totals = [total + weight * each for total, weight, each in zip(totals, weights, own, strict=True)]
        return totals

    zeros = [jnp.zeros(part.width, there.dtype) for _, part in plain]
    together = math.gcd(len(there), 16 if sum(part.width for _, part in plain) <= _SMALL else 4)
    summed = jax.lax.fori_loop(0, len(there) // together, lambda i, so_far: add(i * together, so_far), zeros)
    totals = dict(zip((place for place, _ in plain), summed, strict=True))
    for place, part in enumerate(parts):
        if not isinstance(part, Copies):
            totals[place] = part.summed(factor[groups[place]])
    fits = finite & (squares[0] <= most[0])
    return jnp.concatenate([totals[place] for place in range(len(parts))]), (fits * there).sum()
