"""refusals.md: how often a record takes part in a binary tree, and what discrete noise spends."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest


def test_a_record_lies_in_as_many_complete_blocks_as_the_number_of_steps_has_binary_digits() -> None:
    for steps in range(1, 200):
        blocks = [
            range(start, start + size)
            for size in (2**j for j in range(steps.bit_length()))
            for start in range(0, steps - size + 1, size)
        ]
        assert max(sum(leaf in block for block in blocks) for leaf in range(steps)) == steps.bit_length()


@pytest.mark.parametrize("a", [0.3, 1.0])
def test_discrete_laplace_noise_is_pure(a: float) -> None:
    """Brute force over the lattice: the loss never exceeds a C, and attains it."""
    outputs = np.arange(-60, 61)
    for shift in (1, 2, 3):
        losses = a * (np.abs(outputs) - np.abs(outputs - shift))
        assert math.isclose(losses.max(), a * shift)
        assert math.isclose(-losses.min(), a * shift)


@pytest.mark.parametrize("sigma", [0.7, 2.0])
def test_discrete_gaussian_noise_is_concentrated(sigma: float) -> None:
    """Brute force over the lattice: D_λ <= λ ρ with ρ = 1 / 2z²."""
    outputs = np.arange(-80, 81)
    for shift, order in itertools.product((1, 2), (1.5, 2.0, 8.0)):
        first, second = (-((outputs - m) ** 2) / (2 * sigma**2) for m in (0, shift))
        mass = np.exp(first).sum(), np.exp(second).sum()
        total = np.exp(order * first - (order - 1) * second).sum() / (mass[0] ** order * mass[1] ** (1 - order))
        assert math.log(total) / (order - 1) <= order * shift**2 / (2 * sigma**2) * (1 + 1e-9)
