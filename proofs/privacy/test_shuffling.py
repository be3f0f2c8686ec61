"""Shuffled batches: labels and clones as in section 2 of the proof, on a grid."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ndtr


def gaussian_profile(mu: float, alpha: float) -> float:
    return float(ndtr(mu / 2 - math.log(alpha) / mu) - alpha * ndtr(-mu / 2 - math.log(alpha) / mu))


def test_labels_and_clones_are_as_the_proof_says() -> None:
    """Section 2 on a grid: the laws it speaks of exist, and the total variations are what it allows."""
    x = np.arange(-14, 14, 0.004)
    generator = np.random.default_rng(5)
    for _ in range(30):
        first, second, other = generator.uniform(-1, 1, 3)
        s, t = math.exp(generator.uniform(0.1, 2)), math.exp(generator.uniform(0.1, 2))
        p = generator.uniform(0.2, 1) / t
        one, two, rest = (np.exp(-((x - v) ** 2) / 2) * 0.004 / math.sqrt(2 * math.pi) for v in (first, second, other))
        hats = np.minimum(one, s * two), np.minimum(two, s * one)
        y, y2 = (hat / float(hats[0].sum()) for hat in hats)  # of one mass, as Gaussians are symmetric
        u, v = (s * y - y2) / (s - 1), (s * y2 - y) / (s - 1)
        assert min(u.min(), v.min()) > -1e-9
        assert abs(y - (s * u + v) / (1 + s)).max() < 1e-9
        delta_0, delta_1 = gaussian_profile(2.0, s), gaussian_profile(2.0, t)
        like = generator.uniform()  # of a clone: acts like the first
        assert max(np.maximum(one - y, 0).sum(), np.maximum(two - y2, 0).sum()) <= delta_0 + 1e-9
        coin = like * s / (1 + s) + (1 - like) / (1 + s)
        for chance, labels in (
            (0.5, (u + v) / 2),
            (0.0, (u + s * v) / (1 + s)),
            (like, coin * u + (1 - coin) * v),
        ):
            part = p * (chance * np.minimum(one, t * rest) + (1 - chance) * np.minimum(two, t * rest))
            assert (rest - part).min() > -1e-12
            own = (rest - part) * (1 - p) / float((rest - part).sum())
            replaced_by = p * labels + own
            assert np.maximum(rest - replaced_by, 0).sum() <= p * (delta_0 + delta_1) + 1e-9
