"""Privacy of hyperparameter tuning: several runs are trained, and only the best is published.

A fixed number k of runs spends as much as k published runs. If the number of runs is random, drawn beforehand from a
distribution in ``numbers_of_runs.py``, the best of many runs spends hardly more than two or three (Liu & Talwar 2019;
Papernot & Steinke 2022). The derivation is in ``tuning.md``.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

from flint import arb

from dpbounds.errors import NotCertified, UnsupportedMechanism, demand
from dpbounds.expressions.enclosure import Enclosure, ball_end
from dpbounds.expressions.exact import ExactLike, positive_integer, to_float
from dpbounds.expressions.working import OUTER_PRECISION, working
from dpbounds.privacy.accountants.certified import account, delta_curve
from dpbounds.privacy.accountants.numbers_of_runs import NumberOfRuns, PoissonRuns, Profile, RandomRuns
from dpbounds.privacy.domination.composition import neighbour_classes
from dpbounds.privacy.mechanisms import Mechanism, ProfileDP
from dpbounds.privacy.notions.concentrated import renyi_epsilon
from dpbounds.privacy.pairs.losses import ball, law_at, reach_of
from dpbounds.privacy.pairs.pairs import Pair
from dpbounds.privacy.relations import Relation, as_relation
from dpbounds.privacy.renyi.accountant import renyi_curve
from dpbounds.privacy.routes.closed_forms import has_closed_form
from dpbounds.privacy.values import at_least_zero, open_unit, promised_delta, promised_epsilon

_PRECISION = 128
# λ - 1 and λ̂ - 1 to choose from, refined twice
_EXCESSES: tuple[Fraction, ...] = tuple(Fraction(2) ** k for k in range(-4, 13))
_REFINEMENTS = 2
_ROUGH = 1e-3  # relative tolerance of δ(ε₁)
_POINTS = 96  # number of points of a profile, besides the first
_PLACES = 200  # thresholds on the loss, on either side of 0, that an attack tries; as many again around the best


@working(OUTER_PRECISION)
def tuned_pure(epsilon: ExactLike, runs: NumberOfRuns) -> Fraction:
    """Return the ε spent by the best of a random number of ε-DP runs, rounded up (``tuning.md``, section 2).

    It is (2+η)ε for ``RandomRuns``, and ε + m tanh(ε/2) for ``PoissonRuns``.

    >>> tuned_pure("0.1", RandomRuns("0.01"))  # geometric, 100 runs on average
    Fraction(3, 10)
    """
    single = promised_epsilon(epsilon)
    demand("runs", runs, RandomRuns, PoissonRuns)
    return runs.pure(single)


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
def tuned_epsilon(
    mechanism: Mechanism,
    runs: NumberOfRuns,
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
    demand("runs", runs, RandomRuns, PoissonRuns)
    target, neighbours = promised_delta(delta), as_relation(relation)
    found = [
        _by_largest_loss(mechanism, runs, neighbours),
        _by_profile(mechanism, runs, target, neighbours),
        _by_divergences(mechanism, runs, target, neighbours),
    ]
    known = [value for value in found if value is not None]
    if not known:
        raise NotCertified(
            "for a single run no ε suffices at δ/E[K], and no Rényi divergence is finite: nothing is proven about "
            "the best of several: ask for a fixed number of runs (tuned_fixed)"
        )
    return min(known)


@working(OUTER_PRECISION)
def tuned_guarantee(
    mechanism: Mechanism,
    runs: NumberOfRuns,
    relation: str | Relation = Relation.ADD_OR_REMOVE_ONE,
    *,
    least_delta: ExactLike = "1e-20",
) -> ProfileDP:
    """Return the best of a random number of runs as a mechanism given by its profile, which composes with others.

    Args:
        mechanism: One training run.
        runs: The distribution of the number of runs.
        relation: The neighbouring relation, under which the guarantee holds.
        least_delta: The smallest δ of the profile, in (0, 1). In a composition it is added for every such mechanism.

    Raises:
        NotCertified: No ε suffices for one run at a δ of ``least_delta``/E[K].

    Source: ``tuning.md``, sections 2 and 4.

    >>> from dpbounds.privacy.mechanisms import Gaussian
    >>> best = tuned_guarantee(Gaussian(20), RandomRuns("0.01"))
    >>> round(account(best @ Gaussian(20), delta="1e-6").enclosure.upper, 1)
    0.5
    """
    demand("runs", runs, RandomRuns, PoissonRuns)
    target, neighbours = open_unit(least_delta, "least_delta"), as_relation(relation)
    with working(_PRECISION):
        most = ball_end(runs.mean_ball().max(arb(1)), "up")
    farthest = account(mechanism, delta=target / most, relation=neighbours).enclosure.exact_upper
    if isinstance(farthest, float):
        raise NotCertified("no ε suffices for a single run at such a δ: ask for a larger least_delta")
    shift = runs.least_log_ratio(_profile(mechanism, neighbours), farthest)
    places = [farthest * k / _POINTS for k in range(_POINTS + 1)]
    known = delta_curve(mechanism, places, neighbours)
    points = {  # where two doubles are equal, both δ hold there, and the last is the smaller
        _above(place + shift): _above(min(Fraction(1), most * Fraction(ends.exact_upper)))
        for place, ends in zip(places, known, strict=True)
    }
    largest = _by_largest_loss(mechanism, runs, neighbours)
    if largest is not None:
        points[_above(largest)] = Fraction(0)
    return ProfileDP(list(points.items()), relation=neighbours)


def _above(value: Fraction) -> Fraction:
    """Return a double that is at least as large, exactly: a short number."""
    return Fraction(to_float(value, "up"))


@working(OUTER_PRECISION)
def tuned_enclosure(
    mechanism: Mechanism,
    runs: NumberOfRuns,
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
def tuned_profile(profile: Profile, runs: NumberOfRuns, epsilon: ExactLike, other_epsilon: ExactLike) -> Fraction:
    """Bound δ(ε) of the best of a random number of runs, by δ of one run at two places, rounded up.

    Args:
        profile: ε >= 0 -> an upper bound on δ(ε) of one run, between any two neighbours in either order.
        runs: The distribution of the number of runs.
        epsilon: ε >= 0.
        other_epsilon: ε₁ >= 0, free to choose.

    Source: ``tuning.md``, section 4.
    """
    inner = at_least_zero(epsilon) - runs.log_ratio(profile, at_least_zero(other_epsilon))
    if inner < 0:
        return Fraction(1)
    with working(_PRECISION):
        return min(Fraction(1), ball_end(runs.mean_ball() * ball(profile(inner)), "up"))


def _by_largest_loss(mechanism: Mechanism, runs: NumberOfRuns, relation: Relation) -> Fraction | None:
    """Return the pure ε of the best run (``tuning.md``, section 2); None where the loss of one run is unbounded."""
    largest = account(mechanism, delta=0, relation=relation).enclosure.exact_upper
    return None if isinstance(largest, float) else runs.pure(largest)


def _by_profile(mechanism: Mechanism, runs: NumberOfRuns, delta: Fraction, relation: Relation) -> Fraction | None:
    """Return ε(δ/E[K]) of one run plus log f'(x)/f'(x') (``tuning.md``, section 4); None if that is infinite."""
    with working(_PRECISION):
        share = ball_end(ball(delta) / runs.mean_ball().max(arb(1)), "down")
    one = account(mechanism, delta=share, relation=relation).enclosure.exact_upper
    if isinstance(one, float):
        return None

    return one + runs.least_log_ratio(_profile(mechanism, relation), one)


def _profile(mechanism: Mechanism, relation: Relation) -> Profile:
    """Return the upper bound on δ(ε) of one run."""

    @cache
    def profile(epsilon: Fraction) -> Fraction:
        return Fraction(account(mechanism, epsilon=epsilon, relation=relation, tolerance=_ROUGH).enclosure.exact_upper)

    return profile


def _attained(pair: Pair, runs: NumberOfRuns, delta: Fraction) -> Fraction:
    """Return the largest ε that "the winner's loss exceeds t", or the opposite, proves to be spent, over some t."""
    with working(_PRECISION):
        law = law_at(pair, _PRECISION)
        reach = float(reach_of(law))

        def ratio(likely: arb, unlikely: arb) -> Fraction:
            """log((a - δ)/b), rounded down, for an event of probability a on one dataset and b on the other."""
            excess = likely - ball(delta)
            if not (excess > 0 and unlikely > 0):
                return Fraction(0)
            return max(Fraction(0), ball_end((excess / unlikely).log(), "down"))

        def spent(loss: float) -> Fraction:
            p, r = law.tail(arb(loss))
            p = p + law.infinite
            for point in law.points:
                if point.loss > arb(loss):
                    p, r = p + point.p, r + point.r
            here, there = runs.winner(p), runs.winner(r)
            return max(ratio(here, there), ratio(1 - there, 1 - here))

        places = [reach * k / _PLACES for k in range(-_PLACES, _PLACES)]
        best = max(places, key=spent)
        return max(spent(best + reach * k / _PLACES**2) for k in range(-_PLACES, _PLACES))


def _by_divergences(mechanism: Mechanism, runs: NumberOfRuns, target: Fraction, relation: Relation) -> Fraction | None:
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

    profile = _profile(mechanism, relation)

    def promised(excess: Fraction, other: Fraction) -> Fraction | None:
        try:
            value = runs.divergence(divergence, profile, 1 + excess, 1 + other)
        except (NotCertified, UnsupportedMechanism):
            return None
        return renyi_epsilon([(1 + excess, value)], target)

    best: tuple[Fraction, Fraction, Fraction] | None = None
    firsts = others = _EXCESSES
    for refinement in range(_REFINEMENTS + 1):
        for excess, other in runs.places(firsts, others):
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
