"""Required size of noise: from the problem's constants and the ledger's entry, not from an oracle's own code."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpbounds.algorithms.ledger import DescribedRelease, Release
from dpbounds.algorithms.noise import Array
from dpbounds.algorithms.oracles import at_least
from dpbounds.algorithms.oracles.constants import per_distance
from dpbounds.algorithms.oracles.watching import Question
from dpbounds.privacy.mechanisms import Gaussian, Mechanism, UniformBall

_SIZED = ("gradient", "batch", "difference", "path", "Hessian", "product", "quantile")


def multiplier(mechanism: Mechanism) -> float | None:
    """Return standard deviation or radius in units of one record's effect on an answer; None if there is none."""
    inner = mechanism.noise
    if isinstance(inner, Gaussian) and inner.noise_multiplier is not None:
        return float(inner.noise_multiplier)
    if isinstance(inner, UniformBall) and inner.sensitivity is None:
        return float(inner.radius)
    return None


def least_noise(question: Question, entry: Release | DescribedRelease) -> Array | None:
    """Return the standard deviation (or radius) that an answer needs for its entry, per repetition or one for all.

    One record moves a mean gradient by G over the divisor, a mean Hessian by √r L/n in the Frobenius norm (r its rank,
    at most p), a difference ∇F(x) - κ∇F(y) by κ min(L ‖x - y‖, 2G) + (1 - κ)G over the divisor, a Hessian times v by
    L ‖v‖/n, and what is clipped at a quantile by 1 over the divisor. Answers along a path
    share an entry: they need z √(G² + 2GLP) √(1 - e^{-2u})/n. None where there is nothing to compare it with: choices,
    mechanisms of an algorithm's own, noise on a sphere.
    """
    written = entry.mechanism()
    amount = multiplier(written)
    if amount is None or question.kind not in _SIZED:
        return None
    if question.kind == "path":
        oracle: Any = question.about
        G, L, u = *_constants(oracle.problem), clock(question)
        longest = math.sqrt(G * G + 2 * G * L * float(oracle.length))
        fading: Array = amount * longest / oracle.problem.records * np.sqrt(-np.expm1(-2 * u))
        return fading
    return amount * reach(question, written)


def reach(question: Question, written: Mechanism) -> Array:
    """Return the largest norm of one record's contribution to the answer."""
    problem: Any = question.about.problem
    by = float(written.divisor(problem.records))
    if question.kind in ("gradient", "batch"):
        return np.array(float(at_least(problem.lipschitz, "lipschitz")) / by)
    if question.kind == "difference":
        G, L = float(at_least(problem.lipschitz, "lipschitz")), float(per_distance(problem))
        apart = np.linalg.norm(question.points[0] - question.points[1], axis=1)
        kept = float(question.about.kept)
        moved: Array = (kept * np.minimum(L * apart, 2 * G) + (1 - kept) * G) / by
        return moved
    if question.kind == "quantile":  # norms are in units of the norm that is clipped to
        return np.array(1 / by)
    if question.kind == "product":
        turned: Array = float(per_distance(problem)) * np.linalg.norm(question.points[1], axis=1) / by
        return turned
    G, L = _constants(problem)
    if question.kind == "path":
        u = clock(question)
        faded = np.exp(-u)
        change: Array = G * (1 - faded + np.where(faded > 0, u, 0.0) * faded) / by
        return change
    rank = getattr(problem, "hessian_rank", None) or problem.dimension
    return np.array(math.sqrt(min(problem.dimension, rank)) * L / by)


def clock(question: Question) -> Array:
    """Return U = L ‖x - y‖/G of a path's moves, infinite for its first answer."""
    if len(question.points) == 1:
        return np.full(len(question.points[0]), np.inf)
    G, L = _constants(question.about.problem)
    u: Array = np.linalg.norm(question.points[0] - question.points[1], axis=1) * L / G
    return u


def _constants(problem: Any) -> tuple[float, float]:
    return float(at_least(problem.lipschitz, "lipschitz")), float(per_distance(problem))
