"""Noisy descent and DP-STORM on Poisson samples: runs, and what samples save."""

import math

import numpy as np
import pytest

from tests.papers.reference_formulas import evaluated

descent, storm = evaluated("dpbounds/noisy-descent-batches"), evaluated("dpbounds/storm/batches")


N, D, T, RATE, Z, RUNS = 12, 3, 15, 0.25, 0.8, 2000


def rows(rng):
    """Records f_i = <z_i, w> + h(w), h the sum of Huber functions of slope 1 at most: gradients within 1 + √D."""
    shifts = rng.standard_normal((N, D))
    shifts -= shifts.mean(axis=0)
    return shifts / np.linalg.norm(shifts, axis=1).max()


@pytest.mark.parametrize("step", [0.2, 0.7])
def test_runs_on_samples_stay_below_both_bounds(step):
    rng = np.random.default_rng(3)
    shifts, G, k, ratio = rows(rng), 1 + math.sqrt(D), 0.5, 0.5
    start = np.full(D, 0.4)
    gap = D * 0.4**2 / 2

    def slopes(w):  # of h: 1-smooth
        return np.clip(w, -1, 1)

    def drawn():
        return rng.random((RUNS, N)) < RATE

    def noise(scale):
        return scale * rng.standard_normal((RUNS, D))

    w, total = np.tile(start, (RUNS, 1)), np.zeros(RUNS)
    for _ in range(T):
        total += step * (1 - step / 2) * (slopes(w) ** 2).sum(axis=1)
        kept = drawn()
        sums = kept @ shifts + kept.sum(axis=1)[:, None] * slopes(w) + noise(Z * G)
        w = w - step * sums / (RATE * N)
    total += (slopes(w) ** 2).sum(axis=1) / 2
    point = {"n": N, "d": D, "T": T, "L": 1, "G": str(G), "Delta_F": str(gap), "eta": str(step),
             "sample_rate": str(RATE), "noise_multiplier": str(Z)}  # fmt: skip
    measured = math.sqrt(total.mean() / (T * step * (1 - step / 2) + 0.5))
    found = descent(**point)
    assert not found.failing
    assert 0.1 * found.value.upper < measured < found.value.upper

    w = np.tile(start, (RUNS, 1))
    v, total = slopes(w) + noise(ratio * Z * G / N), np.zeros(RUNS)
    for t in range(T):
        total += (slopes(w) ** 2).sum(axis=1)
        before, w = w, w - step * v
        if t < T - 1:
            reach = k * G + (1 - k) * np.linalg.norm(w - before, axis=1)[:, None]
            kept = drawn()
            change = slopes(w) - (1 - k) * slopes(before)
            sums = k * kept @ shifts + kept.sum(axis=1)[:, None] * change + reach * noise(Z)
            v = (1 - k) * v + sums / (RATE * N)
    total += (slopes(w) ** 2).sum(axis=1) / step
    found = storm(momentum=str(k), first_ratio=str(ratio), **point)
    measured = math.sqrt(total.mean() / (T + 1 / step))
    assert 0.1 * found.value.upper < measured < found.value.upper
