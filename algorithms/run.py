"""Run: what an algorithm returned, released and measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from algorithms.ledger import Ledger, PrivacyBudget
from algorithms.noise import NOISE_DRAWN
from dpbounds.expressions.enclosure import Enclosure

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """One measured quantity, averaged over repetitions and over steps.

    Attributes:
        per_step: Mean over the repetitions, shape (T,).
        per_repetition: Mean over the steps, shape (R,): independent samples, one per repetition. For a quantity at the
            output x_R with R uniform on 1..T it is that repetition's average over R.
    """

    per_step: Array
    per_repetition: Array

    @property
    def mean(self) -> float:
        """Mean over repetitions and steps."""
        return float(self.per_repetition.mean())


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """What was measured along the way. It uses exact gradients and is outside the privacy guarantee: do not publish it.

    Attributes:
        noisy: ‖P_C(x_k, ∇F(x_k) + e_k, γ)‖², of the steps that were taken.
        exact: ‖P_C(x_k, ∇F(x_k), γ)‖², the stationarity measure.
        objective: F^r(x_k).
        noise: ‖e_k‖², the noise that was really in the gradient that was used.
    """

    noisy: Series
    exact: Series
    objective: Series
    noise: Series


class Recorder:
    """Collects one number per repetition at every step; ``series`` returns the averages."""

    def __init__(self, steps: int, repetitions: int) -> None:
        self._per_step = np.empty(steps)
        self._sums = np.zeros(repetitions)
        self._next = 0

    def add(self, values: Array) -> None:
        """Take the values of the next step, shape (R,)."""
        self._per_step[self._next] = values.mean()
        self._sums += values
        self._next += 1

    def series(self) -> Series:
        """The averages so far."""
        return Series(_frozen(self._per_step[: self._next].copy()), _frozen(self._sums / self._next))


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """A finished run of R independent repetitions.

    Attributes:
        algorithm: Its name.
        output: The returned points, shape (R, p).
        output_step: Which iterate each repetition returned, in 1..T, shape (R,).
        trace: What was measured (not private).
        ledger: What *one* repetition released.
        budget: What was meant to be spent, or None where only a noise level was asked for.
        spent: Proven enclosure of the ε that the ledger spends at the budget's δ and relation (None without a budget).
        steps: T.
        step_size: γ, the exact double that was used.
        seed: Of all streams.
        timings: Seconds by activity.
    """

    algorithm: str
    output: Array
    output_step: NDArray[np.int64]
    trace: Trace
    ledger: Ledger
    budget: PrivacyBudget | None
    spent: Enclosure | None
    steps: int
    step_size: float
    seed: int
    timings: Mapping[str, float]

    @property
    def repetitions(self) -> int:
        """How many repetitions R there are."""
        return int(self.output.shape[0])

    def __str__(self) -> str:
        seconds = sum(self.timings.values())
        objective = self.trace.objective.per_step
        spent = "no budget was given; ask ledger.spent(delta)"
        if self.budget is not None:
            spent = f"epsilon in {self.spent}, within the budget {self.budget}"
        return "\n".join(
            (
                f"{self.algorithm}: {self.repetitions} repetitions of {self.steps} steps, step size "
                f"{self.step_size:.6g}, seed {self.seed}, {seconds:.3g} s",
                f"  released   {self.ledger}",
                f"  spent      {spent} (per repetition)",
                f"  measured   mean ‖P‖² noisy {self.trace.noisy.mean:.4g}, exact {self.trace.exact.mean:.4g}; "
                f"objective {objective[0]:.4g} -> {objective[-1]:.4g}; not private",
                f"  noise      {NOISE_DRAWN}",
            )
        )


def _frozen(values: Array) -> Array:
    values.flags.writeable = False
    return values
