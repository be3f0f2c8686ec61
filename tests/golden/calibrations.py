"""Parameters that just keep a budget, and what remains of one."""

from __future__ import annotations

import dpbounds as dp
from tests.golden.mechanisms import RELATIONS
from tests.golden.numeric import calibration, factory
from tests.golden.recording import Answer

_ADD_OR_REMOVE, _REPLACE, _ZERO = RELATIONS
_LINES = (
    ("noise", 2, _ADD_OR_REMOVE, 'poisson(gaussian({}), "0.01") ** 10000'),
    ("noise", "1/2", _ADD_OR_REMOVE, 'poisson(gaussian({}), "0.001") ** 100000'),
    ("noise", 8, _ADD_OR_REMOVE, 'poisson(gaussian({}), "0.3") ** 50'),
    ("noise", 2, _REPLACE, 'poisson(gaussian({}), "0.01") ** 1000'),
    ("noise", 2, _ZERO, 'poisson(gaussian({}), "0.01") ** 1000'),
    ("noise", 1, _ADD_OR_REMOVE, 'poisson(laplace({}), "0.1") ** 40'),
    ("noise", 1, _REPLACE, "discrete_gaussian({}, 1, 1) ** 5"),
    ("noise", 1, _REPLACE, "discrete_gaussian({}) ** 5"),
    ("noise", 1, _ADD_OR_REMOVE, "discrete_laplace({}) ** 20"),
    ("noise", 1, _REPLACE, "laplace({}) ** 30"),
    ("noise", 1, _REPLACE, "without_replacement(gaussian({}), 10, 1000) ** 100"),
    ("noise", 1, _REPLACE, "with_replacement(gaussian({}), 10, 1000) ** 100"),
    ("noise", 1, _ADD_OR_REMOVE, "gaussian({}) @ (laplace(30) ** 10)"),
    ("noise", 2, _ADD_OR_REMOVE, "allocated(gaussian({}), 100) ** 10"),
    ("noise", 2, _ADD_OR_REMOVE, "bins(gaussian({}), 100, 10) ** 1"),
    ("noise", 2, _ADD_OR_REMOVE, "allocated(gaussian({}), 20, 4) ** 1"),
    ("noise", 200, _ADD_OR_REMOVE, "allocated(gaussian({}), 100) ** 1"),
    ("noise", 1000, _ADD_OR_REMOVE, "allocated(gaussian({}), 4) ** 1"),
    ("noise", 200, _ADD_OR_REMOVE, "bins(gaussian({}), 100, 10) ** 1"),
    ("noise", 2, _REPLACE, "shuffled(gaussian({}), 1000) ** 10"),
    ("noise", 2, _REPLACE, 'last_iterate(gaussian({}), 100, 10, "0.01", "fixed") ** 1'),
    ("noise", 2, _REPLACE, 'last_iterate(gaussian({}), 100, 10, "0.01", "secret") ** 1'),
    ("noise", 2, _REPLACE, 'last_iterate(gaussian({}), 100, 10, "0.01", "shuffled") ** 1'),
    ("noise", 2, _REPLACE, 'correlated({}, toeplitz("square-root", 200, 4), "fixed-order", separation=20) ** 1'),
    ("noise", 2, _ADD_OR_REMOVE, 'truncated(gaussian({}), "0.01", 150, 10000) ** 100'),
    ("noise", 1, _ADD_OR_REMOVE, "blocks(gaussian({}), gaussian(9)) ** 5"),
    ("noise", 1, _ADD_OR_REMOVE, "ball({}, 4) ** 1"),
    ("noise", "1/1000", _ADD_OR_REMOVE, "gaussian({}) ** 1000"),
    ("noise", 100, _ADD_OR_REMOVE, 'poisson(gaussian({}), "0.5") ** 10'),
    ("steps", 2, _ADD_OR_REMOVE, 'poisson(gaussian(1), "0.01") ** {}'),
    ("steps", 1, _REPLACE, "laplace(30) ** {}"),
    ("steps", 3, _REPLACE, 'poisson(gaussian(2), "0.05") ** {}'),
    ("steps", 2, _ADD_OR_REMOVE, "allocated(gaussian(2), 100) ** {}"),
    ("sample-rate", 2, _ADD_OR_REMOVE, "poisson(gaussian(1), {}) ** 1000"),
    ("sample-rate", 1, _REPLACE, "poisson(laplace(3), {}) ** 10"),
    ("batches", 2, _ADD_OR_REMOVE, "allocated(gaussian(1), {}) ** 10"),
    ("batches", 1, _REPLACE, "shuffled(gaussian(6), {}) ** 2"),
)


def questions():
    """All of them, in order."""
    for solve, epsilon, relation, expression in _LINES:
        yield (
            f"{solve} for {epsilon}: {expression}, {relation}",
            lambda s=solve, t=epsilon, r=relation, e=expression: calibration(
                dp.calibrate(factory(e, s), t, "1e-5", r, solve=s)
            ),
        )
    for size in (2, 5):
        yield (
            f"noise for groups of {size}",
            lambda size=size: calibration(
                dp.calibrate(factory('poisson(gaussian({}), "0.01") ** 20', "noise"), 2, "1e-5", group_size=size)
            ),
        )
    yield (
        "largest batch",
        lambda: Answer(dp.least_max_batch_size(dp.TruncatedPoisson(dp.Gaussian(4), "0.1", 20, 100), "1e-3")),
    )
