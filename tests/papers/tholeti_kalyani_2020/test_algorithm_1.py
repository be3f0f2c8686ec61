"""Algorithm 1: what the run spends."""

import numpy as np
import pytest
from mpmath import gamma, mpf, pi, quad, workdps

from dpbounds.theorems.registry import theorem
from dpbounds.theorems.spending import spending
from tests.papers.twins import evaluated

STATEMENT = theorem("tholeti-kalyani-2020/algorithm-1")
evaluate = evaluated("tholeti-kalyani-2020/algorithm-1")


@pytest.mark.parametrize("dimension", [1, 2, 5])
def test_the_variance_of_one_coordinate_by_integration(dimension):
    with workdps(25):
        ball = pi ** (mpf(dimension) / 2) / gamma(1 + mpf(dimension) / 2)
        slice_ = pi ** (mpf(dimension - 1) / 2) / gamma(1 + mpf(dimension - 1) / 2)
        moment = quad(lambda x: x**2 * slice_ * (1 - x**2) ** (mpf(dimension - 1) / 2), [-1, 0, 1]) / ball
    value = evaluate("noise_variance", r_u=1, d=dimension).value
    assert value.lower == pytest.approx(float(moment), rel=1e-9)


def test_what_is_spent_is_the_explicit_theorem_and_below_the_printed_sum():
    values = {"radius": 1, "sensitivity": 1, "dimension": 1, "dataset_size": 10, "steps": 20}
    for relation in ("replace-one", "add-or-remove-one"):
        found = spending(STATEMENT, {**values, "delta": "0.65"}, relation)
        assert found.kept is True
        assert found.spent.upper == pytest.approx(1 - 0.95**20, rel=1e-6)
    exact = evaluated("tholeti-kalyani-2020/theorem-1/explicit")(**values).value
    assert spending(STATEMENT, {**values, "delta": "0.65"}).spent.overlaps(exact)
    assert evaluated("tholeti-kalyani-2020/theorem-1")(**values).value.lower == pytest.approx(1)
    assert spending(STATEMENT, {**values, "delta": "0.64"}).kept is False


def test_a_run_by_hand_is_told_apart_as_often_as_that():
    # d = 1: all shared gradients are 0, the differing one is 1, noise on [-1, 1]; a release above 1 gives it away
    draw = np.random.default_rng(5)
    runs, steps, records = 20_000, 20, 10
    gradients = (draw.integers(records, size=(runs, steps)) == 0).astype(float)
    released = gradients + draw.uniform(-1, 1, size=(runs, steps))
    caught = (released.max(axis=1) > 1).mean()
    assert caught == pytest.approx(1 - 0.95**20, abs=4 * (0.25 / runs) ** 0.5)
