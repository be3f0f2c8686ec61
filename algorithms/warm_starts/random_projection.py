"""A generalised linear model in fewer dimensions: project the features at random, train there, map back.

Lowy, Ullman & Wright 2024, section 8, after Arora et al. 2023, Algorithm 4. With Φ in R^{k×d} of independent entries
N(0, 1/k), the records (Φ a_i, y_i) are those of a linear model in R^k; from u found there one returns w = Φᵀu, whose
predictions on a record are exactly those of u on its projection: <Φᵀu, a> = <u, Φa>.

Privacy. Φ does not depend on the data, so the whole spends as much as the inner algorithm on the projected records,
under either relation: neighbours before the projection are neighbours after it. The paper covers the event that a
projected record is longer than twice the bound with δ/2; here every projected record is clipped to 2B instead, one by
one, which costs no δ. Smoothness in R^k is then (2B)² sup|φ''| = 4L.

Utility. ∇F̃(u) = Φ∇F(w) where nothing is clipped; and ‖∇F(w)‖ <= 2‖∇F̃(u)‖ + CG/√k for an absolute constant C
(``lowy-ullman-wright-2024/corollary-8.2``, whose derivation repairs a step of the cited proof). There is no bound with
all constants, so ``bound`` is not offered.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from attrs import field, frozen
from threadpoolctl import threadpool_limits

from dpbounds.algorithms import fields
from dpbounds.algorithms.ledger import PrivacyBudget
from dpbounds.algorithms.method import Method, under_guard
from dpbounds.algorithms.noise import Array, checked_seed, streams
from dpbounds.algorithms.oracles import in_batches
from dpbounds.algorithms.problems.linear_model import Linear
from dpbounds.algorithms.problems.problem import Problem
from dpbounds.algorithms.problems.records import clip_rows
from dpbounds.algorithms.run import Run, Trace
from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import ExactLike
from dpbounds.privacy.mechanisms import Mechanism
from dpbounds.privacy.relations import Relation

THEOREMS = {"algorithm": "lowy-ullman-wright-2024/lemma-8.1", "rate": "lowy-ullman-wright-2024/corollary-8.2"}


@frozen(field_transformer=fields.named)
class RandomProjection:
    """Any algorithm on randomly projected records of a linear model.

    Attributes:
        inner: The algorithm in R^k; it must fit every projected problem of these sizes, for any Φ.
        projected_dimension: k >= 1.
    """

    inner: Method[Any]
    projected_dimension: int = field(converter=fields.count)

    @classmethod
    def calibrated(
        cls,
        problem: Linear,
        inner: Callable[..., Method[Any]],
        projected_dimension: int | None = None,
        epsilon: ExactLike = 1,
        delta: ExactLike = "1e-6",
        relation: str | Relation = Relation.REPLACE_ONE,
        **options: Any,
    ) -> RandomProjection:
        """Plan for a budget, see ``Method``; the inner algorithm's arguments are public numbers, the same for every Φ.

        - ``inner``: such as ``Spider.calibrated``; gets a problem of the projected sizes and constants, ``epsilon``,
          ``delta``, ``relation`` and the ``options``
        - ``projected_dimension``: k; None: min(d, ⌈(εn)^{4/5}⌉), where the rate of DP-SPIDER in R^k,
          k^{1/3}/(εn)^{2/3}, meets that of the projection, k^{-1/2}
        """
        budget = PrivacyBudget.of(epsilon, delta, relation)
        _demand_free(problem)
        k = projected_dimension
        if k is None:
            k = min(problem.dimension, int(np.ceil((float(budget.epsilon) * problem.records) ** 0.8)))
        k = fields.count(k, "projected_dimension")
        blank = _with_records(problem, np.zeros((problem.records, k)))
        made = inner(blank, epsilon=budget.epsilon, delta=budget.delta, relation=budget.relation, **options)
        return cls(made, k)

    @property
    def budget(self) -> PrivacyBudget | None:
        """The budget of the inner algorithm."""
        return self.inner.budget

    @property
    def planned(self) -> Mechanism:
        """Return the releases of a run: those of the inner algorithm."""
        return self.inner.planned

    def run(self, problem: Linear, seed: int | None = None, repetitions: int = 32, *, guarded: bool = False) -> Run:
        """Run ``repetitions`` times, each with a matrix Φ of its own, one after the other; see ``Method.run``.

        Φ is private together with the output, and independent of the data. Measured: "gradient_norm" at w in R^d,
        "projected_gradient_norm" at u in R^k, "clipped" (how many projected records were).
        """
        if guarded:
            return under_guard(lambda on: self.run(on, seed, repetitions), problem)
        _demand_free(problem)
        known = checked_seed(seed)
        generators = streams(known, repetitions)
        k, d = self.projected_dimension, problem.dimension
        output = np.empty((len(generators), d))
        measured: dict[str, Array] = {
            name: np.empty(len(generators)) for name in ("gradient_norm", "projected_gradient_norm", "clipped")
        }
        runs: list[Run] = []
        begun = time.perf_counter()
        with threadpool_limits(limits=1, user_api="blas"):
            for r, generator in enumerate(generators):
                projection = generator.standard_normal((k, d)) / np.sqrt(k)
                inside, measured["clipped"][r] = _projected(problem, projection)
                own = None if known is None else int(generator.integers(2**63))
                run = self.inner.run(inside, seed=own, repetitions=1)
                output[r] = run.output[0] @ projection
                measured["gradient_norm"][r] = np.linalg.norm(in_batches(problem, output[r : r + 1])[1])
                measured["projected_gradient_norm"][r] = np.linalg.norm(in_batches(inside, run.output)[1])
                runs.append(run)
        _demand_same(runs)
        last = runs[-1]
        return replace(
            last,
            algorithm=f"{last.algorithm} in a random projection to {k} dimensions",
            output=output,
            outputs={},
            output_step=None,
            trace=Trace(),
            measured=measured,
            metric="gradient_norm",
            parameters={**last.parameters, "projected_dimension": float(k)},
            seed=known,
            timings={"runs": time.perf_counter() - begun},
        )


def _projected(problem: Linear, projection: Array) -> tuple[Linear, int]:
    """Return the model with records Φa_i, clipped to 2B, and how many were (not private)."""
    records = problem.signed_features if isinstance(problem, Problem) else problem.features
    clipped, count = clip_rows(records @ projection.T, 2 * problem.feature_bound)
    return _with_records(problem, clipped), count


def _with_records(problem: Linear, records: Array) -> Linear:
    bound: Fraction = 2 * problem.feature_bound
    frozen = np.ascontiguousarray(records)
    frozen.flags.writeable = False
    if isinstance(problem, Problem):
        return replace(problem, signed_features=frozen, feature_bound=bound)
    return replace(problem, features=frozen, feature_bound=bound)


def _demand_free(problem: Linear) -> None:
    if not isinstance(problem, Linear):
        raise InvalidValue("problem", type(problem).__name__, "a linear model: predictions must depend on <w, a> alone")
    given: Mapping[str, object] = {"radius": problem.radius, "l1": getattr(problem, "l1", 0) or None}
    for name, value in given.items():
        if value is not None:
            raise InvalidValue(name, value, "none: a projection does not keep constraints or regularisers")


def _demand_same(runs: list[Run]) -> None:
    """Check that every repetition released the same, so that one ledger describes all of them."""
    if any(run.ledger != runs[0].ledger for run in runs):
        raise InvalidValue("inner", runs[0].algorithm, "an algorithm whose ledger does not depend on the records")
