"""What it costs to train several times and publish only the best run.

A fixed number k of runs costs what k runs cost. If the number of runs is itself random, drawn beforehand from a
truncated negative binomial law, the best of many costs hardly more than two or three (Liu & Talwar 2019; Papernot &
Steinke 2022). The derivation is in ``tuning.md``.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from flint import arb

from dpbounds.errors import NotCertified, demand
from dpbounds.expressions.enclosure import Enclosure, ball_end
from dpbounds.expressions.exact import ExactLike, positive_integer
from dpbounds.expressions.working import OUTER_PRECISION, working
from dpbounds.privacy.accountants.certified import account
from dpbounds.privacy.mechanisms import Mechanism
from dpbounds.privacy.notions.concentrated import renyi_epsilon
from dpbounds.privacy.pairs.losses import ball
from dpbounds.privacy.relations import Relation, as_relation
from dpbounds.privacy.renyi.accountant import renyi_curve
from dpbounds.privacy.values import above_one, at_least_zero, open_unit, positive

_PRECISION = 128
# λ - 1 and λ̂ - 1 to choose from, refined twice
_EXCESSES: tuple[Fraction, ...] = tuple(Fraction(2) ** k for k in range(-4, 13))
_REFINEMENTS = 2


@dataclass(frozen=True, slots=True, init=False)
class RandomRuns:
    """The number of runs: a truncated negative binomial law, f(x) = E x^K proportional to (1-(1-γ)x)^(-η) - 1, K >= 1.

    Args:
        gamma: γ, in (0, 1): the smaller, the more runs.
        eta: η, greater than 0; 1 is the geometric law with mean 1/γ.
    """

    gamma: Fraction
    eta: Fraction

    def __init__(self, gamma: ExactLike, eta: ExactLike = 1) -> None:
        object.__setattr__(self, "gamma", open_unit(gamma, "gamma"))
        object.__setattr__(self, "eta", positive(eta, "eta", "1 is the geometric law"))

    def mean(self) -> Enclosure:
        """E[K] = η (1-γ) / (γ (1 - γ^η))."""
        with working(_PRECISION):
            value = self.mean_ball()
            return Enclosure.from_balls(value, value, "closed form", _PRECISION)

    def mean_ball(self) -> arb:
        """E[K] as a ball at the working precision."""
        gamma, eta = ball(self.gamma), ball(self.eta)
        return eta * (1 - gamma) / (gamma * -(eta * gamma.log()).expm1())


@working(OUTER_PRECISION)
def tuned_pure(epsilon: ExactLike, runs: RandomRuns) -> Fraction:
    """Return (2+η)ε: what the best of a random number of ε-DP runs spends (``tuning.md``, section 2).

    >>> tuned_pure("0.1", RandomRuns("0.01"))  # geometric, 100 runs on average
    Fraction(3, 10)
    """
    single = at_least_zero(epsilon)
    demand("runs", runs, RandomRuns)
    return (2 + runs.eta) * single


def tuned_fixed(
    mechanism: Mechanism,
    runs: int,
    delta: ExactLike,
    relation: str | Relation = Relation.ADD_OR_REMOVE_ONE,
) -> Enclosure:
    """Enclose what a fixed number of runs spends, of which only the best is published: that of all of them.

    Arguments and errors as for :func:`dpbounds.privacy.accountants.certified.epsilon`, and ``runs``, a positive whole
    number. The lower end is that of publishing all.
    """
    return account(mechanism ** positive_integer(runs, "runs"), delta=delta, relation=relation).enclosure


@working(OUTER_PRECISION)
def tuned_divergence(
    divergence: Callable[[Fraction], Fraction], runs: RandomRuns, order: ExactLike, other_order: ExactLike
) -> Fraction:
    """Bound D_λ of the best of a random number of runs, by D_λ and D_λ̂ of one run, rounded up.

    Args:
        divergence: λ -> an upper bound on D_λ of one run, between any two neighbours in either order.
        runs: The law of the number of runs.
        order: λ > 1.
        other_order: λ̂ > 1, free to choose.

    Source: Papernot & Steinke 2022, Theorem 2; proven in ``tuning.md``, section 3.
    """
    first, other = above_one(order), above_one(other_order, "other_order")
    here, there = divergence(first), divergence(other)
    with working(_PRECISION):
        factor = ball(1 + runs.eta)
        bound = (
            ball(here)
            + factor * (1 - 1 / ball(other)) * ball(there)
            - factor * ball(runs.gamma).log() / ball(other)
            + runs.mean_ball().log() / (ball(first) - 1)
        )
        return ball_end(bound, "up")


@working(OUTER_PRECISION)
def tuned_epsilon(
    mechanism: Mechanism,
    runs: RandomRuns,
    delta: ExactLike,
    relation: str | Relation = Relation.ADD_OR_REMOVE_ONE,
) -> Fraction:
    """Bound ε(δ) of training a random number of times and publishing only the best run, rounded up.

    Args:
        mechanism: One training run.
        runs: The law of the number of runs.
        delta: In (0, 1).
        relation: The neighbouring relation.

    Raises:
        NotCertified: No Rényi divergence of the mechanism is finite (uniform noise, δ > 0).

    >>> from dpbounds.privacy.mechanisms import Gaussian
    >>> one, many = Gaussian(20), tuned_epsilon(Gaussian(20), RandomRuns("0.01"), "1e-6")
    >>> 2 < float(many) / account(one, delta="1e-6").enclosure.upper < 4
    True
    """
    demand("runs", runs, RandomRuns)
    target = open_unit(delta)
    curve = renyi_curve(mechanism, as_relation(relation))

    @cache
    def divergence(order: Fraction) -> Fraction:
        value = curve.upper(order)
        if isinstance(value, float):
            raise NotCertified("no finite Rényi divergence at this order")
        return value

    def promised(excess: Fraction, other: Fraction) -> Fraction | None:
        try:
            value = tuned_divergence(divergence, runs, 1 + excess, 1 + other)
        except NotCertified:
            return None
        return renyi_epsilon([(1 + excess, value)], target)

    best: tuple[Fraction, Fraction, Fraction] | None = None
    firsts = others = _EXCESSES
    for refinement in range(_REFINEMENTS + 1):
        for excess, other in itertools.product(firsts, others):
            found = promised(excess, other)
            if found is not None and (best is None or found < best[0]):
                best = (found, excess, other)
        if best is None:
            raise NotCertified(
                "no Rényi divergence of a single run is finite, so that nothing is proven about the best of several: "
                "ask for a fixed number of runs (tuned_fixed)"
            )
        step = 2.0 ** (0.5 / 4**refinement)
        firsts, others = (_around(at, step) for at in best[1:])
    assert best is not None
    return best[0]


def _around(excess: Fraction, step: float) -> tuple[Fraction, ...]:
    """The number and its neighbours, as short fractions: any order proves its own bound."""
    return tuple(Fraction(f"{float(excess) * math.pow(step, k):.6g}") for k in (-2, -1, 0, 1, 2))
