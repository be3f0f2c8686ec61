"""Theorem 5.10 with constants: the packing, and the reduction at random points."""

import numpy as np
import pytest


def packing(dimension, seed):
    generator = np.random.default_rng(seed)
    directions = generator.normal(size=(4000, dimension))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    points = directions * generator.random((4000, 1)) ** (1 / dimension)
    kept = points[:1]
    for point in points:
        if np.linalg.norm(kept - point, axis=1).min() > 0.5:
            kept = np.vstack([kept, point])
    return kept


@pytest.mark.parametrize("dimension", [1, 2, 3, 4])
def test_so_many_points_fit(dimension):
    assert max(len(packing(dimension, seed)) for seed in range(3)) >= 2**dimension


def test_the_reduction_at_random_points():
    generator = np.random.default_rng(8)
    centres = packing(2, 0)
    for _ in range(200):
        chances = generator.random(len(centres))
        points = generator.uniform(-1, 1, size=(50, 2))
        distances = np.linalg.norm(points[:, None] - centres[None], axis=2)
        risk = -((1 - chances) * np.maximum(0, 0.25 - distances)).sum(axis=1)
        excess = risk + (1 - chances.min()) / 4
        chosen = distances.argmin(axis=1)
        assert (excess >= (chances[chosen] - chances.min()) / 4 - 1e-12).all()
        slope = np.abs(np.diff(risk)) / np.linalg.norm(np.diff(points, axis=0), axis=1)
        assert slope.max() <= 1 + 1e-9
