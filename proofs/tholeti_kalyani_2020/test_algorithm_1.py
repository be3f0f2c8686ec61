"""Algorithm 1: a run by hand, and how often it is told apart."""

import numpy as np
import pytest


def test_a_run_by_hand_is_told_apart_as_often_as_that():
    # d = 1: all shared gradients are 0, the differing one is 1, noise on [-1, 1]; a release above 1 gives it away
    draw = np.random.default_rng(5)
    runs, steps, records = 20_000, 20, 10
    gradients = (draw.integers(records, size=(runs, steps)) == 0).astype(float)
    released = gradients + draw.uniform(-1, 1, size=(runs, steps))
    caught = (released.max(axis=1) > 1).mean()
    assert caught == pytest.approx(1 - 0.95**20, abs=4 * (0.25 / runs) ** 0.5)
