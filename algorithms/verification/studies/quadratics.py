"""DP-SPIDER on quadratics: the exact second moments of a run, at no cost in n, so that its rate is seen where it shows.

F(w) = ½ Σ h_j w_j² has the spectrum of a problem at its minimiser, and noise is calibrated to that problem's constants.
Let e be the error of the estimate, so that w⁺ = w - η(hw + e). The second moments E w_j², E w_j e_j and E e_j² follow
from those of the step before by linear equations: no run is made, and nothing is random. Left out is the cap on the
noise of a difference, which makes it smaller where a step is longer than 2G/L.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import sympy
from numpy.typing import ArrayLike

from dpbounds.algorithms.method import stddev_of_gradients
from dpbounds.algorithms.problems.finite_sum import Array, FiniteSum
from dpbounds.algorithms.spider.spider import Spider, anchors
from dpbounds.algorithms.verification.judging.ground import ground, plain_step


@dataclass(frozen=True, slots=True, eq=False)
class Quadratic(FiniteSum):
    """F(w) = ½ Σ h_j w_j² for each of n records, with another problem's public constants, which are not bounds here.

    Attributes:
        model: The other problem.
        count: n.
        spectrum: h, shape (p,).
        start: w_0, shape (p,).
    """

    model: FiniteSum
    count: int
    spectrum: Array
    start: Array

    @property
    def records(self) -> int:
        """The number of records n."""
        return self.count

    @property
    def dimension(self) -> int:
        """The number of parameters p."""
        return len(self.spectrum)

    @property
    def initial_point(self) -> Array:
        """w_0, a copy."""
        return self.start.copy()

    @property
    def lipschitz(self) -> sympy.Expr | None:
        """The constant of the other problem."""
        return self.model.lipschitz

    @property
    def smoothness(self) -> sympy.Expr | None:
        """The constant of the other problem."""
        return self.model.smoothness

    @property
    def initial_gap(self) -> sympy.Expr | None:
        """The initial gap of the other problem, at least F(w_0)."""
        return self.model.initial_gap

    @property
    def hessian_lipschitz(self) -> sympy.Expr | None:
        """None: it is not used."""
        return None

    @property
    def loss_range(self) -> sympy.Expr | None:
        """There is none."""
        return None

    def objective_and_gradient(self, X: ArrayLike) -> tuple[Array, Array]:
        """F and ∇F."""
        points = np.asarray(X, dtype=np.float64)
        gradients = points * self.spectrum
        return (gradients * points).sum(axis=1) / 2, gradients

    def batch_gradient(self, X: ArrayLike, rows: ArrayLike) -> Array:
        """∇F: all records are the same."""
        return self.gradient(X)

    def hessian(self, X: ArrayLike) -> Array:
        """Diagonal, the same everywhere."""
        return np.broadcast_to(np.diag(self.spectrum), (len(np.asarray(X)), self.dimension, self.dimension))


def quadratic_of(model: FiniteSum) -> Quadratic:
    """The quadratic with a problem's spectrum, which must be positive, and its gap, spread over all directions."""
    first = model.initial_point[None]
    low = ground(model, first, plain_step)
    spectrum = np.linalg.eigvalsh(model.hessian(low.minimiser[None])[0])
    gap = float(model.objective(first)[0]) - low.lowest
    return Quadratic(model, model.records, spectrum, np.full(len(spectrum), math.sqrt(2 * gap / spectrum.sum())))


@dataclass(frozen=True, slots=True)
class Moments:
    """Moments of a run, averaged over its steps: exact except for rounding.

    Attributes:
        gradient: E‖∇F(ŵ)‖², ŵ uniform on w_0, ..., w_{T-1}.
        error: Mean E‖e_t‖².
    """

    gradient: float
    error: float


def moments(spider: Spider, problem: Quadratic) -> Moments:
    """Return the moments of full-batch DP-SPIDER on a quadratic.

    A phase of q steps is one matrix, its sum over the phase another: both come from the q-th power of a block matrix,
    so that the cost is that of T/q small products.
    """
    h, eta, p = problem.spectrum, spider.step_size_for(problem), problem.dimension
    anchor = float(stddev_of_gradients(problem, spider.anchor_multiplier)) ** 2
    per_distance = float(spider.difference_noise_stddev(problem)) ** 2
    kept = 1 - eta * h
    blocks = np.zeros((3, p, 3, p))  # from (w², we, e²) to the next
    every = np.arange(p)
    blocks[0, every, 0, every], blocks[0, every, 1, every], blocks[0, every, 2, every] = (
        kept**2,
        -2 * eta * kept,
        eta**2,
    )
    blocks[1, every, 1, every], blocks[1, every, 2, every] = kept, -eta
    blocks[2, every, 2, every] = 1
    step = blocks.reshape(3 * p, 3 * p)
    step[2 * p :] += per_distance * eta**2 * np.concatenate([h**2, 2 * h, np.ones(p)])  # σ₂²η² E‖∇_t‖² on each

    def phase(length: int) -> tuple[Array, Array]:
        both = np.block([[step, np.zeros_like(step)], [np.eye(3 * p), np.eye(3 * p)]])
        power = np.linalg.matrix_power(both, length)
        return power[: 3 * p, : 3 * p], power[3 * p :, : 3 * p]

    T, q = spider.steps, spider.anchor_period
    count = anchors(T, q)
    through, summed = phase(q)
    state = np.concatenate([problem.start**2, np.zeros(p), np.full(p, anchor)])
    total = np.zeros(3 * p)
    for _ in range(count - 1):
        total += summed @ state
        state = through @ state
        state[p : 2 * p], state[2 * p :] = 0, anchor  # a fresh estimate, whose error knows nothing of the point
    total += phase(T - (count - 1) * q)[1] @ state
    return Moments(float(h**2 @ total[:p]) / T, float(total[2 * p :].sum()) / T)
