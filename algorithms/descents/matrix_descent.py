"""DP-FTRL: the regularised leader of noisy sums of gradients, the noise correlated from step to step by a matrix.

Kairouz et al. 2021 (trees), Denisov et al. 2022 and Choquette-Choo et al. 2023 (matrices). What a walk needs is the sum
of all gradients so far; where the noise of one step takes back some of the noise of earlier ones, that sum is far less
noisy than T independent answers make it, though a record takes part in every m-th step only, in an order that need not
be secret. No bound is known where losses are not convex.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from typing import ClassVar, Literal

import numpy as np
from attrs import field, frozen

from dpbounds.algorithms import fields, planning
from dpbounds.algorithms.iterates import squared_norms
from dpbounds.algorithms.method import FiniteSum, InvalidValue, Method, OpenRun, Outcome
from dpbounds.algorithms.oracles import at_least
from dpbounds.algorithms.oracles.correlated import noise_of_sums
from dpbounds.algorithms.planning import ExactLike, Mechanism, PrivacyBudget, Relation
from dpbounds.algorithms.problems.domain import demand_no_regulariser
from dpbounds.algorithms.problems.sets import L2Ball
from dpbounds.algorithms.sampling import Correlated, CorrelatedDraws
from dpbounds.privacy.mechanisms import Gaussian
from dpbounds.privacy.mechanisms.schemes.encoders import BinaryTree, Encoder, LowerTriangular, Toeplitz

_Named = Literal["square-root", "tree"]


def _scheme(value: object) -> Correlated:
    if not isinstance(value, Correlated):
        raise InvalidValue("sampling", repr(value), "a Correlated: a matrix, and how its batches are drawn")
    return value


@frozen(field_transformer=fields.named)
class MatrixDescent(Method[FiniteSum]):
    """The regularised leader of gradients under correlated noise (DP-FTRL).

    ::

        S = 0
        for t = 1, ..., T:
            g = the mean gradient at w_t of the batch of step t, + N_t, where C N = Z, Z_t ~ N(0, σ² I)
            S = S + g
            w_{t+1} = w_1 + the projection of -ηS on the ball of radius D
        return w_{T+1}

    Measured: F at the output ("objective_at_output"); at every step the squares of the "noise" N_t and of the exact
    mean gradient ("step").

    Attributes:
        noise_multiplier: Standard deviation of the fresh noise Z of a row on the sum of a batch's gradients, in units
            of G.
        sampling: ``Correlated``: the matrix C, a row for each of the T steps, and the batches.
        distance: D > 0, public.
    """

    title: ClassVar[str] = "regularised leader under correlated noise"
    metric: ClassVar[str] = "objective_at_output"

    noise_multiplier: Fraction = field(converter=fields.multiplier)
    sampling: Correlated = field(converter=_scheme)
    distance: Fraction = field(default=Fraction(1), converter=fields.positive)
    budget: PrivacyBudget | None = field(default=None, validator=fields.budget)

    @classmethod
    def calibrated(
        cls,
        problem: FiniteSum,
        epsilon: ExactLike = 1,
        delta: ExactLike = "1e-6",
        steps: int = 200,
        relation: str | Relation = Relation.REPLACE_ONE,
        distance: ExactLike = 1,
        batches: int = 10,
        matrix: Encoder | str = "square-root",
        bands: int | None = None,
        draws: CorrelatedDraws = "fixed-order",
        sample_rate: ExactLike | None = None,
    ) -> MatrixDescent:
        """Plan for a budget, see ``Method``; batches in a fixed order need a relation that keeps the places of records.

        ``batches`` is m, how many groups there are. ``matrix`` is "square-root" (of the prefix sums, cut to ``bands``,
        which must be at most m with "cyclic-poisson", and is unless given), "tree", or any with a row per step.
        ``draws`` and ``sample_rate`` are those of ``Correlated``.
        """
        budget, demanded = PrivacyBudget.of(epsilon, delta, relation), fields.count(steps)
        demand_no_regulariser(problem)
        if bands is None and draws == "cyclic-poisson":
            bands = batches
        made = Correlated(_encoder(matrix, demanded, bands), batches, draws, sample_rate)
        made.divisor(problem.records)
        planned = partial(cls, sampling=made, distance=distance, budget=budget)
        return planned(planning.multiplier_within(budget, lambda z: made.visited(Gaussian(z), demanded)))

    @property
    def steps(self) -> int:
        """T."""
        return self.sampling.matrix.steps

    @property
    def planned(self) -> Mechanism:
        """Return the releases of a run as a mechanism for the accountants: all rows together."""
        return self.sampling.visited(Gaussian(self.noise_multiplier), self.steps)

    def walk(self, problem: FiniteSum, run: OpenRun) -> Outcome:
        """Run the pseudo-code above."""
        ball, eta, first = self._ball(problem), self.step_size_for(problem), problem.initial_point
        gradient = run.correlated_gradients(self.sampling, self.noise_multiplier)
        w, total = run.repeated(first), np.zeros((run.repetitions, problem.dimension))
        for _ in run.steps(self.steps):
            g = gradient(w)
            run.measure(noise=squared_norms(g.noisy - g.exact), step=squared_norms(g.exact))
            total = total + g.noisy
            w = first + ball.project(-eta * total)
        return Outcome(
            w,
            measured={"objective_at_output": run.exact(w)[0]},
            parameters={"step_size": eta, "distance": float(self.distance)},
        )

    def step_size_for(self, problem: FiniteSum) -> float:
        """Return η = D/√(T G² + p s²), with s the largest standard deviation of the noise in a sum S; all public."""
        G = float(at_least(problem.lipschitz, "lipschitz"))
        row = float(self.noise_multiplier) * G / float(self.sampling.divisor(problem.records))
        noise = problem.dimension * (row * float(noise_of_sums(self.sampling.matrix).max())) ** 2
        return float(self.distance) / math.sqrt(self.steps * G**2 + noise)

    def _ball(self, problem: FiniteSum) -> L2Ball:
        return L2Ball(problem.dimension, self.distance)


def _encoder(matrix: Encoder | str, steps: int, bands: int | None) -> Encoder:
    if isinstance(matrix, str):
        fields.demand_one_of(matrix, _Named, "matrix")
        return BinaryTree(steps) if matrix == "tree" else Toeplitz("square-root", steps, bands)
    if not isinstance(matrix, Toeplitz | LowerTriangular | BinaryTree) or matrix.steps != steps:
        raise InvalidValue("matrix", repr(matrix), f"'square-root', 'tree' or a matrix of {steps} rows, one per step")
    return matrix
