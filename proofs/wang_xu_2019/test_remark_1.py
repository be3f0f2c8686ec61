"""Remark 1: the smallest noisy mapping is a function of what is released anyway."""

import itertools

import numpy as np


def test_the_smallest_noisy_mapping_is_read_off_the_iterates():
    """DP-PGD on the unit ball: the prox step's mapping at the noisy gradient, and (x_k - x_{k+1})/γ, step by step."""
    draw = np.random.default_rng(3)
    step, x = 0.3, np.array([0.5, -0.2])
    iterates, inside = [x], []
    for _ in range(20):
        noisy = np.cos(3 * x) + draw.normal(0, 0.5, 2)
        moved = x - step * noisy
        landed = moved / max(1.0, float(np.linalg.norm(moved)))
        inside.append((x - landed) / step)  # g_{C,k}, where gradient and noise are known
        x = landed
        iterates.append(x)
    outside = [(before - after) / step for before, after in itertools.pairwise(iterates)]
    assert np.argmin(np.linalg.norm(inside, axis=1)) == np.argmin(np.linalg.norm(outside, axis=1))
    exact = [np.linalg.norm(np.cos(3 * one)) for one in iterates[:-1]]
    assert np.argmin(exact) != np.argmin(np.linalg.norm(outside, axis=1))  # the exact mapping's choice is another one
