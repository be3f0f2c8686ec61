"""Privacy of hyperparameter tuning: several runs are trained, and only the best is published.

A fixed number k of runs spends as much as k published runs. If the number of runs is random, drawn beforehand from a
truncated negative binomial distribution, the best of many runs spends hardly more than two or three (Liu & Talwar 2019;
Papernot & Steinke 2022). The derivation is in ``tuning.md``.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from flint import arb

from dpbounds.errors import NotCertified, UnsupportedMechanism, demand
from dpbounds.expressions.enclosure import Enclosure, ball_end
from dpbounds.expressions.exact import ExactLike, positive_integer
from dpbounds.expressions.working import OUTER_PRECISION, working
from dpbounds.privacy.accountants.certified import account
from dpbounds.privacy.domination.composition import neighbour_classes
from dpbounds.privacy.mechanisms import Mechanism
from dpbounds.privacy.notions.concentrated import renyi_epsilon
from dpbounds.privacy.pairs.losses import ball, law_at, reach_of
from dpbounds.privacy.pairs.pairs import Pair
from dpbounds.privacy.relations import Relation, as_relation
from dpbounds.privacy.renyi.accountant import renyi_curve
from dpbounds.privacy.routes.closed_forms import has_closed_form
from dpbounds.privacy.values import above_one, at_least_zero, open_unit, positive, promised_delta, promised_epsilon

_PRECISION = 128
# λ - 1 and λ̂ - 1 to choose from, refined twice
_EXCESSES: tuple[Fraction, ...] = tuple(Fraction(2) ** k for k in range(-4, 13))
_REFINEMENTS = 2
_BISECTIONS, _ROUGH = 16, 1e-3  # for ε₁; relative tolerance of δ(ε₁)
_PLACES = 200  # thresholds on the loss, on either side of 0, that an attack tries; as many again around the best


@dataclass(frozen=True, slots=True, init=False)
class RandomRuns:
    """The number K of runs, truncated negative binomial: f(x) = E x^K proportional to (1-(1-γ)x)^(-η) - 1, K >= 1.

    Args:
        gamma: γ, in (0, 1): the smaller, the more runs.
        eta: η, greater than 0; 1 is the geometric distribution with mean 1/γ.
    """

    gamma: Fraction
    eta: Fraction

    def __init__(self, gamma: ExactLike, eta: ExactLike = 1) -> None:
        object.__setattr__(self, "gamma", open_unit(gamma, "gamma"))
        object.__setattr__(self, "eta", positive(eta, "eta", "1 is the geometric distribution"))

    def mean(self) -> Enclosure:
        """Enclose E[K] = η (1-γ) / (γ (1 - γ^η))."""
        with working(_PRECISION):
            value = self.mean_ball()
            return Enclosure.from_balls(value, value, "closed form", _PRECISION)

    def mean_ball(self) -> arb:
        """Return E[K] as a ball at the working precision."""
        gamma, eta = ball(self.gamma), ball(self.eta)
        return eta * (1 - gamma) / (gamma * -(eta * gamma.log()).expm1())


@working(OUTER_PRECISION)
def tuned_pure(epsilon: ExactLike, runs: RandomRuns) -> Fraction:
    """Return (2+η)ε, spent by the best of a random number of ε-DP runs (``tuning.md``, section 2).

    >>> tuned_pure("0.1", RandomRuns("0.01"))  # geometric, 100 runs on average
    Fraction(3, 10)
    """
    single = promised_epsilon(epsilon)
    demand("runs", runs, RandomRuns)
    return (2 + runs.eta) * single


def tuned_fixed(
    mechanism: Mechanism,
    runs: int,
    delta: ExactLike,
    relation: str | Relation = Relation.ADD_OR_REMOVE_ONE,
) -> Enclosure:
    """Enclose the ε of the best of a fixed number of runs: that of all of them.

    Arguments and errors as for :func:`dpbounds.privacy.accountants.certified.epsilon`, and ``runs``, a positive whole
    number. The lower bound is that of publishing all.
    """
    return account(mechanism ** positive_integer(runs, "runs"), delta=delta, relation=relation).enclosure


@working(OUTER_PRECISION)
def tuned_divergence(
    divergence: Callable[[Fraction], Fraction], runs: RandomRuns, order: ExactLike, other_order: ExactLike
) -> Fraction:
    """Bound D_λ of the best of a random number of runs, by D_λ and D_λ̂ of one run, rounded up.

    Args:
        divergence: λ -> an upper bound on D_λ of one run, between any two neighbours in either order.
        runs: The distribution of the number of runs.
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
        runs: The distribution of the number of runs.
        delta: In (0, 1).
        relation: The neighbouring relation.

    Raises:
        NotCertified: No ε suffices for one run at δ/E[K] (uniform noise, δ > 0).

    >>> from dpbounds.privacy.mechanisms import Gaussian
    >>> one, many = Gaussian(20), tuned_epsilon(Gaussian(20), RandomRuns("0.01"), "1e-6")
    >>> 1.5 < float(many) / account(one, delta="1e-6").enclosure.upper < 4
    True
    """
    demand("runs", runs, RandomRuns)
    target, neighbours = promised_delta(delta), as_relation(relation)
    found = [_by_profile(mechanism, runs, target, neighbours), _by_divergences(mechanism, runs, target, neighbours)]
    known = [value for value in found if value is not None]
    if not known:
        raise NotCertified(
            "for a single run no ε suffices at δ/E[K], and no Rényi divergence is finite: nothing is proven about "
            "the best of several: ask for a fixed number of runs (tuned_fixed)"
        )
    return min(known)


@working(OUTER_PRECISION)
def tuned_enclosure(
    mechanism: Mechanism,
    runs: RandomRuns,
    delta: ExactLike,
    relation: str | Relation = Relation.ADD_OR_REMOVE_ONE,
) -> Enclosure:
    """Enclose the ε of the best of a random number of runs: :func:`tuned_epsilon`, and the bound of an attack.

    Arguments and errors as there. The lower bound is 0 where no attack on a single run has a distribution in closed
    form.

    >>> from dpbounds.privacy.mechanisms import Gaussian
    >>> found = tuned_enclosure(Gaussian(20), RandomRuns("0.01"), "1e-6")
    >>> round(found.lower, 4), round(found.upper, 4)
    (0.2386, 0.4106)
    """
    neighbours = as_relation(relation)
    upper = tuned_epsilon(mechanism, runs, delta, neighbours)
    classes = neighbour_classes(mechanism, neighbours).every()
    attacks = (attack for each in classes for attack in each.attacks if has_closed_form(attack))
    lower = max((_attained(attack[0][0], runs, promised_delta(delta)) for attack in attacks), default=Fraction(0))
    return Enclosure(min(lower, upper), upper, "profile of one run", _PRECISION)


@working(OUTER_PRECISION)
def tuned_profile(
    profile: Callable[[Fraction], Fraction], runs: RandomRuns, epsilon: ExactLike, other_epsilon: ExactLike
) -> Fraction:
    """Bound δ(ε) of the best of a random number of runs, by δ of one run at two places, rounded up.

    Args:
        profile: ε >= 0 -> an upper bound on δ(ε) of one run, between any two neighbours in either order.
        runs: The distribution of the number of runs.
        epsilon: ε >= 0.
        other_epsilon: ε₁ >= 0, free to choose.

    Source: ``tuning.md``, section 4.
    """
    inner = at_least_zero(epsilon) - (1 + runs.eta) * _log_kappa(profile, runs, at_least_zero(other_epsilon))
    if inner < 0:
        return Fraction(1)
    with working(_PRECISION):
        return min(Fraction(1), ball_end(runs.mean_ball() * ball(profile(inner)), "up"))


def _log_kappa(profile: Callable[[Fraction], Fraction], runs: RandomRuns, other_epsilon: Fraction) -> Fraction:
    """Return the logarithm of max(e^ε₁, 1 + (1-γ) δ(ε₁)/γ), rounded up."""
    with working(_PRECISION):
        gain = ball(profile(other_epsilon) * (1 - runs.gamma) / runs.gamma).log1p()
        return max(other_epsilon, ball_end(gain, "up"))


def _by_profile(mechanism: Mechanism, runs: RandomRuns, delta: Fraction, relation: Relation) -> Fraction | None:
    """Return ε(δ/E[K]) + (1+η) log κ of one run at a good ε₁ (``tuning.md``, section 4); None if that is infinite."""
    with working(_PRECISION):
        share = ball_end(ball(delta) / runs.mean_ball(), "down")
    one = account(mechanism, delta=share, relation=relation).enclosure.exact_upper
    if isinstance(one, float):
        return None

    def profile(epsilon: Fraction) -> Fraction:
        return Fraction(account(mechanism, epsilon=epsilon, relation=relation, tolerance=_ROUGH).enclosure.exact_upper)

    least, most = Fraction(0), one
    found = []
    for _ in range(_BISECTIONS):  # e^ε₁ crosses 1 + (1-γ) δ(ε₁)/γ between the two, or beyond: any ε₁ is valid
        middle = Fraction(float(least + most) / 2)
        found.append(_log_kappa(profile, runs, middle))
        least, most = (least, middle) if found[-1] == middle else (middle, most)
    return one + (1 + runs.eta) * min(found)


def _attained(pair: Pair, runs: RandomRuns, delta: Fraction) -> Fraction:
    """Return the largest ε that the event "the winner's loss exceeds t" proves to be spent, over some t."""
    with working(_PRECISION):
        law = law_at(pair, _PRECISION)
        reach = float(reach_of(law))
        gamma, eta = ball(runs.gamma), ball(runs.eta)
        whole = (-eta * gamma.log()).expm1()

        def winner(mass: arb) -> arb:
            """Return 1 - f(1 - p)."""
            return ((-eta * gamma.log()).exp() - (-eta * (gamma + (1 - gamma) * mass).log()).exp()) / whole

        def spent(loss: float) -> Fraction:
            p, r = law.tail(arb(loss))
            p = p + law.infinite
            for point in law.points:
                if point.loss > arb(loss):
                    p, r = p + point.p, r + point.r
            ratio = (winner(p) - ball(delta)) / winner(r)
            return max(Fraction(0), ball_end(ratio.log(), "down")) if ratio > 0 and winner(r) > 0 else Fraction(0)

        places = [reach * k / _PLACES for k in range(-_PLACES, _PLACES)]
        best = max(places, key=spent)
        return max(spent(best + reach * k / _PLACES**2) for k in range(-_PLACES, _PLACES))


def _by_divergences(mechanism: Mechanism, runs: RandomRuns, target: Fraction, relation: Relation) -> Fraction | None:
    """Return the bound by Rényi divergences of one run; None where none is finite, or known."""
    try:
        curve = renyi_curve(mechanism, relation)
    except UnsupportedMechanism:
        return None

    @cache
    def divergence(order: Fraction) -> Fraction:
        value = curve.upper(order)
        if isinstance(value, float):
            raise NotCertified("no finite Rényi divergence at this order")
        return value

    def promised(excess: Fraction, other: Fraction) -> Fraction | None:
        try:
            value = tuned_divergence(divergence, runs, 1 + excess, 1 + other)
        except (NotCertified, UnsupportedMechanism):
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
            return None
        step = 2.0 ** (0.5 / 4**refinement)
        firsts, others = (_around(at, step) for at in best[1:])
    assert best is not None
    return best[0]


def _around(excess: Fraction, step: float) -> tuple[Fraction, ...]:
    """Return the number and its neighbours, as short fractions: any order proves its own bound."""
    return tuple(Fraction(f"{float(excess) * math.pow(step, k):.6g}") for k in (-2, -1, 0, 1, 2))
