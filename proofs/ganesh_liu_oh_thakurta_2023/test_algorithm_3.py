"""Algorithm 3 on a grid: the target is invariant, for a loss that is neither convex nor smooth."""

from itertools import pairwise

import numpy as np
import pytest


@pytest.mark.parametrize("step", [0.01, 0.3, 5.0])
def test_the_target_is_invariant_and_reached(step):
    grid = np.linspace(0, 1, 301)
    target = np.exp(-3 * np.abs(np.abs(grid - 0.5) - 0.25))
    target /= target.sum()
    kernel = np.exp(-((grid[:, None] - grid[None, :]) ** 2) / (2 * step))
    forward = kernel / kernel.sum(axis=1, keepdims=True)  # y given x, on the same grid
    joint = target[:, None] * forward
    backward = joint / joint.sum(axis=0)  # x given y
    one_round = forward @ backward.T
    assert target @ one_round == pytest.approx(target)
    law = np.zeros(301)
    law[0] = 1
    distances = []
    for _ in range(200):
        law = law @ one_round
        distances.append(np.abs(law - target).sum() / 2)
    assert distances[-1] < 1e-6
    assert all(later <= earlier + 1e-12 for earlier, later in pairwise(distances))
