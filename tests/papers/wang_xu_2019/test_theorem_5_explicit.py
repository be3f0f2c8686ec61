"""Theorem 5 with constants: a second time, and that the l2 ball gives back Theorem 2."""

import pytest
from mpmath import sqrt

from dpbounds.theorems.registry import theorem


def noisy(initial_gap, mirror_step, relative_smoothness, steps, noise_stddev, dual_second_moment):
    a = 1 - relative_smoothness * mirror_step / 2
    return sqrt((initial_gap / (mirror_step * steps) + noise_stddev**2 * dual_second_moment) / a)


TWINS = {
    "bound": lambda initial_gap, mirror_step, relative_smoothness, steps, noise_stddev, dual_second_moment: (
        noisy(initial_gap, mirror_step, relative_smoothness, steps, noise_stddev, dual_second_moment)
        + noise_stddev * sqrt(dual_second_moment)
    ),
    "noisy": noisy,
    "tuned": lambda lipschitz, relative_smoothness, initial_gap, dual_second_moment, rho, dataset_size: sqrt(
        16 * lipschitz / (3 * dataset_size) * sqrt(relative_smoothness * initial_gap * dual_second_moment / rho)
        + 8 * dual_second_moment / (3 * rho) * (lipschitz / dataset_size) ** 2
    ),
    "steps": lambda dataset_size, lipschitz, rho, relative_smoothness, initial_gap, dual_second_moment: (
        sqrt(rho * relative_smoothness * initial_gap / dual_second_moment) * dataset_size / lipschitz
    ),
}


def test_the_unit_ball_gives_back_theorem_2():
    mirror, plain = (theorem(f"wang-xu-2019/theorem-{k}/explicit") for k in (5, 2))
    shared = {"initial_gap": 1, "steps": 30, "noise_stddev": "0.1"}
    for name in ("bound", "noisy"):
        first = mirror.evaluate(name, mirror_step="0.5", relative_smoothness=1, dual_second_moment=7, **shared)
        second = plain.evaluate(name, step_size="0.5", smoothness=1, dimension=7, **shared)
        assert first.value.lower == pytest.approx(second.value.lower)
