"""Attacks on a cell: a mechanism, a way of drawing and an order of neighbours, with the datasets to try."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

import numpy as np

from tests.privacy.oracle.games import Grid, game, losses
from tests.privacy.oracle.noise import Additive, Array, Noise, Table, divergence
from tests.privacy.oracle.samplings import Order, Record, Sampling, Vector, batches, multisets, neighbours


class Mechanism(Protocol[Record]):
    """What is published about a random batch, under two laws of the batch."""

    def table(self, first: Mapping[tuple[Record, ...], float], second: Mapping[tuple[Record, ...], float]) -> Table: ...


def attacks(
    mechanism: Mechanism[Record],
    sampling: Sampling,
    pairs: Iterable[tuple[tuple[Record, ...], tuple[Record, ...]]],
) -> Iterator[Table]:
    """What a mechanism publishes about each pair of neighbours, when the records are drawn in this way."""
    for first, second in pairs:
        yield mechanism.table(batches(first, sampling), batches(second, sampling))


def attained(tables: Iterable[Table], alphas: Array) -> Array:
    """The best of the attacks at every α: a lower bound of the cell's profile."""
    return np.asarray(np.max([divergence(table, alphas) for table in tables], axis=0))


def played(steps: Sequence[Iterable[Table]], grid: Grid) -> Array:
    """On the grid: the best of an adversary who chooses each step's attack after having seen the earlier outputs."""
    return game([losses(tables, grid) for tables in steps], grid)


# --- Datasets of vectors --------------------------------------------------------------------------------------------

ENDS: list[Vector] = [(-1.0,), (1.0,)]
LINE: list[Vector] = [(-1.0,), (-0.4,), (0.0,), (0.5,), (1.0,)]
COARSE: list[Vector] = [(-1.0,), (0.0,), (1.0,)]


def on_the_line(order: Order, size: int, random: int = 6) -> list[tuple[tuple[Vector, ...], tuple[Vector, ...]]]:
    """Neighbours of which the larger has ``size`` records: own ones on a grid, others coarser; some at random."""
    found = list(neighbours(order, multisets(COARSE, [size - 1]), LINE))
    generator = np.random.default_rng(7)
    for _ in range(random):
        values = [(value,) for value in generator.uniform(-1, 1, size + 1).tolist()]
        found += neighbours(order, [tuple(values[2:])], values[:2])
    return found


def line_attacks(noise: Noise, sampling: Sampling, order: Order, size: int) -> list[Table]:
    """Attacks with records at the extremes and at the origin."""
    return list(attacks(Additive(noise), sampling, neighbours(order, multisets(COARSE, [size - 1]), COARSE)))


def in_the_plane(
    order: Order, size: int, *, taxicab: bool, random: int = 2
) -> list[tuple[tuple[Vector, ...], tuple[Vector, ...]]]:
    """The same in the plane; vectors of Euclidean norm at most 1, or of l1 norm at most 1 (``taxicab``)."""
    generator = np.random.default_rng(8)

    def vector(angle: float, length: float) -> Vector:
        x, y = math.cos(angle), math.sin(angle)
        norm = abs(x) + abs(y) if taxicab else 1.0
        return (length * x / norm, length * y / norm)

    east, northeast, northwest, west = (vector(k * math.pi / 4, 1.0) for k in (0, 1, 3, 4))
    own = [east, west, northeast, (0.0, 0.0), vector(1.1, 0.6)]
    shared = [(vector_of_all,) * (size - 1) for vector_of_all in (east, west, northwest, (0.0, 0.0))]
    found = list(neighbours(order, dict.fromkeys(shared), own))
    for _ in range(random):
        angles, lengths = generator.uniform(0, 2 * math.pi, size + 1), np.sqrt(generator.uniform(0, 1, size + 1))
        values = list(itertools.starmap(vector, zip(angles.tolist(), lengths.tolist(), strict=True)))
        found += neighbours(order, [tuple(values[2:])], values[:2])
    return found
