"""AboveThreshold for stationary points, as a sampler on two vectors of answers: no dataset, only queries.

Written from the pseudo-code and independently of ``dpbounds.algorithms.selection``, so that either may speak against
the other. Answers are in threshold scales (4G/(nε) for gradients, 4M/(nε) for curvatures): each says how far a
candidate lies *beyond* its threshold, offsets included, so that a candidate passes a test where answer + noise is at
most the threshold's noise.

Source: Ganesh, Liu, Oh & Thakurta 2023, Algorithm 2; ``ganesh-liu-oh-thakurta-2023/lemma-4.1`` and its explicit repair.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpbounds.algorithms.noise import Array
from dpbounds.algorithms.verification.attacks.audits import Audit
from dpbounds.algorithms.verification.attacks.experiments import attacked
from dpbounds.algorithms.verification.attacks.neighbours import Pair
from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import positive_integer
from dpbounds.privacy.relations import Relation

_AT_ONCE = 20_000  # runs at a time: bounds the memory


@dataclass(frozen=True, slots=True, eq=False)
class Queries:
    """Answers of the candidates on one dataset, in threshold scales.

    Attributes:
        gradient: (‖∇F(x_i)‖ - threshold) / (4G/(nε)), shape (N,).
        curvature: (threshold - λ_min(∇²F(x_i))) / (4M/(nε)), shape (N,).
    """

    gradient: Array
    curvature: Array


def worst_queries(candidates: int, epsilon: float) -> tuple[Queries, Queries]:
    """Return two datasets that differ in one replaced record, at which two tests joined by "and" leak the most.

    On the first one the record pushes the last candidate below both thresholds and all others above, by G/n and M/n; on
    the second one it does the opposite. The other records put every candidate on its threshold. A dataset with losses
    that satisfy every assumption comes within 0.99 of it for the gradients.

    Args:
        candidates: N >= 2.
        epsilon: ε > 0, for which the noise is scaled: G/n is ε/4 threshold scales.
    """
    count = positive_integer(candidates, "candidates")
    if count < 2 or not 0 < epsilon < np.inf:
        raise InvalidValue("candidates, epsilon", (candidates, epsilon), "at least 2 candidates, ε finite and above 0")
    gradient, curvature = np.full(count, 0.99 * epsilon / 4), np.full(count, epsilon / 4)
    gradient[-1] *= -1
    curvature[-1] *= -1
    return Queries(gradient, curvature), Queries(-gradient, -curvature)


def as_printed(queries: Queries, runs: int, generator: np.random.Generator) -> NDArray[np.int64]:
    """Run Algorithm 2, both tests with noise of their own; return the candidate's index per run, N for none."""
    return _first(np.array([queries.gradient, queries.curvature]), runs, generator)


def repaired(queries: Queries, runs: int, generator: np.random.Generator) -> NDArray[np.int64]:
    """Run the explicit repair: one test of the larger answer, with one noisy threshold of the same scale."""
    return _first(np.maximum(queries.gradient, queries.curvature)[None], runs, generator)


Mechanism = Callable[[Queries, int, np.random.Generator], NDArray[np.int64]]


def audit_selection(
    mechanism: Mechanism, candidates: int, epsilon: float, *, runs: int, confidence: float = 0.95, seed: int = 0
) -> Audit:
    """Bound ε from below (δ = 0) by how often the last candidate is returned.

    Args:
        mechanism: ``as_printed`` or ``repaired``, or a copy of one.
        candidates: N >= 2.
        epsilon: For which the noise is scaled.
        runs: On both datasets together, at least 8.
        confidence: In (0, 1).
        seed: At least 0.
    """
    pair = Pair(*worst_queries(candidates, epsilon), Relation.REPLACE_ONE)

    def experiment(queries: Queries, run_seed: int, repetitions: int) -> dict[str, Array]:
        returned = mechanism(queries, repetitions, np.random.default_rng(run_seed))
        return {"the last candidate is returned": (returned == candidates - 1).astype(float)}

    return attacked(experiment, pair, delta=0.0, expected=epsilon, runs=runs, confidence=confidence, seed=seed)[1]


def _first(tests: Array, runs: int, generator: np.random.Generator) -> NDArray[np.int64]:
    """Return the first candidate that passes every test per run, by answers of shape (tests, N); N if none does."""
    count, firsts = tests.shape[1], []
    for done in range(0, runs, _AT_ONCE):
        rows = min(_AT_ONCE, runs - done)
        passed = np.ones((rows, count), dtype=bool)
        for answers in tests:
            threshold = generator.laplace(size=(rows, 1))
            passed &= answers + generator.laplace(scale=2.0, size=(rows, count)) <= threshold
        firsts.append(np.where(passed.any(axis=1), passed.argmax(axis=1), count))
    return np.concatenate(firsts)
