"""Exact values: what may be done with them, and that nothing gets out."""

import math
import operator

import numpy as np
import pytest

from dpbounds.algorithms.unreleased import Unreleased, closed, computed, demand_released, opened
from dpbounds.errors import BudgetExceeded

NUMBERS = np.array([[1.0, -2.0], [3.0, 0.5], [0.0, 7.0]])


def sealed():
    return Unreleased(NUMBERS.copy())


@pytest.mark.parametrize(
    "use",
    [
        lambda u: u + 1,
        lambda u: NUMBERS - u,
        lambda u: -u / 2,
        lambda u: u > 1,
        lambda u: (u == u) & (u <= 3),
        lambda u: np.maximum.reduce(u, axis=0),
        lambda u: np.add.outer(u, u),
        lambda u: np.einsum("ij,ij->i", u, NUMBERS),
        lambda u: np.stack([u, NUMBERS], axis=1),
        lambda u: np.where(NUMBERS > 0, u, 0.0),
        lambda u: np.broadcast_to(-u, (2, 3, 2)),
        lambda u: np.linalg.norm(u, axis=1),
        lambda u: np.take_along_axis(u, np.zeros((3, 1), dtype=int), axis=1),
        lambda u: u.sum(axis=1),
        lambda u: u.T @ NUMBERS,
        lambda u: u[1:, ::-1],
        lambda u: u.mean(),
        lambda u: u.astype(bool),
        lambda u: np.array([*map(opened, u)]),
    ],
)
def test_it_reckons_as_the_array_does(use):
    assert np.array_equal(opened(use(sealed())), opened(use(NUMBERS)))


@pytest.mark.parametrize(
    "leak",
    [
        bool,
        lambda u: float(u[0, 0]),
        lambda u: int(u[0, 0]),
        lambda u: operator.index(u[0, 0]),
        math.sqrt,
        lambda u: 1 if u[0, 0] > 0 else 2,
        lambda u: max(u[0]),
        lambda u: [1, 2, 3][u[0, 0]],
        np.asarray,
        lambda u: np.array(u, dtype=float),
        lambda u: NUMBERS.copy().__setitem__(0, u[0]),
        lambda u: np.zeros((3, 2)).__iadd__(u),
        lambda u: np.add(u, 1, out=np.zeros((3, 2))),
        lambda u: np.sum(u, axis=0, out=np.zeros(2)),
        lambda u: np.copyto(np.zeros((3, 2)), u),
        lambda u: np.add.at(np.zeros((3, 2)), (slice(None),), u),
        lambda u: NUMBERS[u > 0],
        lambda u: u[u > 0],
        lambda u: u[(u[:, 0] > 0, 0)],
        lambda u: np.flatnonzero(u),
        lambda u: np.unique(u),
        lambda u: np.zeros(3)[np.argmax(u)],
        lambda u: range(u[0, 0].astype(int)),
        lambda u: np.random.default_rng(0).normal(u),
        lambda u: demand_released("a question", u),
    ],
)
def test_nothing_gets_out(leak):
    with pytest.raises((BudgetExceeded, TypeError), match=r"an exact value of the records|Unreleased"):
        leak(sealed())


def test_no_number_is_shown():
    assert repr(sealed()) == f"{sealed()}" == "Unreleased(shape=(3, 2))"
    assert sealed().shape == (3, 2)
    assert len(sealed()) == 3


def test_what_is_closed_opens_to_the_same():
    assert opened(closed(NUMBERS)) is NUMBERS
    assert closed(None) is None
    first, second = closed((NUMBERS, NUMBERS[0]))
    assert opened([first, {"second": second}])[1]["second"].tolist() == [1.0, -2.0]
    assert isinstance(computed(lambda a, *, b: (a + b, None), first, b=second)[0], Unreleased)
    mine = sealed()
    mine += 1
    assert np.array_equal(opened(mine), NUMBERS + 1)
