"""What is refused says what to do instead, and what it names instead is an upper bound: brute force at small size."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from dpbounds.errors import InvalidValue, UnsupportedMechanism
from dpbounds.privacy.accountants.certified import delta
from dpbounds.privacy.mechanisms import Gaussian, InParallel, Mechanism
from dpbounds.privacy.mechanisms.refusals import REFUSALS, refusal, refuse, shuffled_epochs

ADD_OR_REMOVE, REPLACE = "add-or-remove-one", "replace-one"
WANTED = {
    "fixed-order",
    "tree-aggregation",
    "matrix-factorisation",
    "last-iterate",
    "repeat-and-select",
}
Weighted = dict[tuple[float, ...], float]  # where the mean may lie, and with which probability


def test_everything_that_people_ask_for_is_there_once() -> None:
    assert {each.name for each in REFUSALS} == WANTED
    names = [name for each in REFUSALS for name in (each.name, *each.aliases)]
    assert len(names) == len(set(names))
    assert all(each.why and each.instead and each.read for each in REFUSALS)


@pytest.mark.parametrize("name", sorted(WANTED))
def test_a_refusal_says_why_and_what_instead(name: str) -> None:
    record = refusal(name)
    with pytest.raises(UnsupportedMechanism) as raised:
        refuse(name, "--sampling")
    for part in ("--sampling", name, record.why, record.instead, record.read):
        assert part in str(raised.value)


def test_other_names_and_unknown_names() -> None:
    assert refusal("Fixed_Order").name == "fixed-order"
    assert refusal("dp-ftrl") is refusal("tree-aggregation")
    with pytest.raises(InvalidValue, match="fixed-order, "):
        refuse("poisson")


# --- Brute force ------------------------------------------------------------------------------------------------------


def divergence(first: Weighted, second: Weighted, z: float, alpha: float) -> float:
    """H_α of two mixtures of N(mean, z² I) in one or two dimensions, by midpoint sums (error far below 1e-6)."""
    dimension = len(next(iter(first)))
    step = 0.05 * z if dimension == 2 else 0.002 * z
    axis = np.arange(-3 - 9 * z, 3 + 9 * z, step)
    points = np.stack(np.meshgrid(*[axis] * dimension, indexing="ij"), axis=-1)

    def density(law: Weighted) -> np.ndarray:
        scale = (z * math.sqrt(2 * math.pi)) ** dimension
        parts = (w * np.exp(-((points - np.array(m)) ** 2).sum(axis=-1) / (2 * z * z)) for m, w in law.items())
        return sum(parts, np.zeros(points.shape[:-1])) / scale

    return float(np.maximum(density(first) - alpha * density(second), 0).sum() * step**dimension)


def collected(outcomes: Iterable[tuple[tuple[float, ...], float]]) -> Weighted:
    law: Weighted = {}
    for mean, weight in outcomes:
        law[mean] = law.get(mean, 0.0) + weight
    return law


def shuffled(records: tuple[float, ...]) -> Weighted:
    orders = list(itertools.permutations(records))
    return collected((order, 1 / len(orders)) for order in orders)


@cache
def claimed(mechanism: Mechanism, relation: str, epsilon: Fraction) -> float:
    return delta(mechanism, epsilon, relation, tolerance=1e-6).upper


EPSILONS = [Fraction(0), Fraction(1, 4), Fraction(1), Fraction(2)]
UNIT = (-1.0, 1.0)


def excess(
    law: Callable[[tuple[float, ...]], Weighted],
    pairs: Iterable[tuple[tuple[float, ...], tuple[float, ...]]],
    z: float,
    bound: Callable[[Fraction], float],
) -> float:
    """How far the worst of the pairs exceeds the bound, in either order."""
    found = -math.inf
    for first, second in pairs:
        one, other = law(first), law(second)
        for epsilon, (p, q) in itertools.product(EPSILONS, ((one, other), (other, one))):
            found = max(found, divergence(p, q, z, math.exp(epsilon)) - bound(epsilon))
    return found


def replaced(others: int) -> list[tuple[tuple[float, ...], tuple[float, ...]]]:
    return [((*rest, 1.0), (*rest, -1.0)) for rest in itertools.product(UNIT, repeat=others)]


@pytest.mark.seconds
@pytest.mark.one_in(4)
def test_shuffled_batches_spend_at_most_one_release_an_epoch() -> None:
    once = shuffled_epochs(1, 1)
    assert excess(shuffled, replaced(1), 1.0, lambda e: claimed(once, REPLACE, e)) < 1e-6


def test_a_mixture_spends_at_most_its_largest_shift() -> None:
    mixture, alone = {(0.0,): 0.25, (1.0,): 0.5, (2.0,): 0.25}, {(0.0,): 1.0}
    largest = Gaussian(noise_stddev=1, sensitivity=2)
    for epsilon in EPSILONS:
        for p, q in ((mixture, alone), (alone, mixture)):
            assert divergence(p, q, 1.0, math.exp(epsilon)) <= claimed(largest, ADD_OR_REMOVE, epsilon) + 1e-6


# --- Shuffled epochs --------------------------------------------------------------------------------------------------


def test_part_of_an_epoch_counts_as_a_whole_one() -> None:
    for epochs, whole in (("2.01", 3), (3, 3), ("1e-9", 1)):
        ((blocks, count),) = shuffled_epochs(2, epochs).parts
        assert isinstance(blocks, InParallel)
        assert (blocks.blocks, blocks.partition, count) == ((Gaussian(2),), "index", whole)


def test_epochs_cost_full_batch_releases_and_only_under_replace_one() -> None:
    epochs = shuffled_epochs(10, 3) @ shuffled_epochs(5, 1)
    same = Gaussian(10) ** 3 @ Gaussian(5)
    assert delta(epochs, 1, REPLACE).overlaps(delta(same, 1, REPLACE))
    with pytest.raises(UnsupportedMechanism, match="replace-one"):
        delta(epochs, 1, ADD_OR_REMOVE)


@pytest.mark.parametrize("bad", [{"noise_multiplier": 0, "epochs": 1}, {"noise_multiplier": 1, "epochs": 0}])
def test_no_noise_and_no_epochs_are_no_mechanism(bad: dict[str, int]) -> None:
    with pytest.raises(InvalidValue):
        shuffled_epochs(**bad)
