"""Cost of a fit, before it is made: gradients of single records, and seconds measured on synthetic records."""

from __future__ import annotations

import sys
import time

import numpy as np
from threadpoolctl import threadpool_limits

# What a fit may cost unless told otherwise, in entries of gradients: some seconds.
_ENTRIES = 4_000_000_000
_PROBE = 2048


def most_gradients(dimension: int) -> int:
    """Return the largest number of gradients of single records, p entries each, that a fit computes."""
    return max(1, _ENTRIES // dimension)


def expected_seconds(gradients: int, features: int, outputs: int = 1) -> float:
    """Estimate the seconds of a number of gradients: two products with random records, timed twice."""
    rng = np.random.default_rng(0)
    records, points = rng.standard_normal((_PROBE, features)), rng.standard_normal((outputs, features))
    best = np.inf
    with threadpool_limits(limits=1, user_api="blas"):
        for _ in range(2):
            start = time.perf_counter()
            np.exp(-np.abs(points @ records.T)) @ records
            best = min(best, time.perf_counter() - start)
    return 2 * gradients / _PROBE * float(best)


def say(line: str) -> None:
    """Write a line to standard error."""
    sys.stderr.write(line + "\n")


class Progress:
    """Reporter of steps, which prints every tenth of the way."""

    def __init__(self, steps: int) -> None:
        self.steps = steps

    def __call__(self, step: int) -> None:
        """Step ``step`` of T has been made."""
        if step * 10 // self.steps > (step - 1) * 10 // self.steps:
            say(f"step {step} of {self.steps}")
