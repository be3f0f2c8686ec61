"""Theorem 5 with constants: the l2 ball gives back Theorem 2."""

import pytest

from dpbounds.theorems.registry import theorem


def test_the_unit_ball_gives_back_theorem_2():
    mirror, plain = (theorem(f"wang-xu-2019/theorem-{k}/explicit") for k in (5, 2))
    shared = {"initial_gap": 1, "steps": 30, "noise_stddev": "0.1"}
    for name in ("bound", "noisy"):
        first = mirror.evaluate(name, mirror_step="0.5", relative_smoothness=1, dual_second_moment=7, **shared)
        second = plain.evaluate(name, step_size="0.5", smoothness=1, dimension=7, **shared)
        assert first.value.lower == pytest.approx(second.value.lower)
