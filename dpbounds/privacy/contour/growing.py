"""A plan for a long schedule: its beginning chooses the contour, so that what is summed for one epoch serves the next.

A loop that asks for ε after each epoch asks about histories of which each begins with the last one. Their own plans
differ a little in every number, and no sum over nodes is used twice. Here tilt, frequencies and accuracy are those of
the history's own beginning, and what depends on one law besides is cached by exactly what it is computed from. The
beginning is taken from the product that is asked about, never from what was asked before: no answer depends on earlier
questions. Nothing here is proven (see ``plan``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from dpbounds.expressions.working import working_bits
from dpbounds.privacy.contour import estimate
from dpbounds.privacy.contour.choices import Nodes, Plan
from dpbounds.privacy.contour.landscape import Complexes, Landscape, Law, Part, Saddle, scan, split
from dpbounds.privacy.contour.moments import Moments
from dpbounds.privacy.contour.nodes import choose_nodes
from dpbounds.privacy.pairs import GaussianProduct, SampledGaussians, ShiftedGaussians
from dpbounds.privacy.proofs import Declined

_FEWEST = 16  # laws of a schedule, below which a plan of its own is cheap
_BLOCKS = 2  # a beginning has as many blocks at least, and lacks less than one of the whole
_LAWS = 512  # kept


@dataclass(frozen=True, slots=True)
class _Beginning:
    """What the beginning of a schedule decides for the whole."""

    saddle: Saddle
    softness: float
    log_cut: float
    spacing: float
    frequencies: int
    sigmas: tuple[float, ...]
    nats: float
    precision: int
    bits: float


def growing_plan(product: GaussianProduct, log_delta: float, accuracy: float) -> Plan:
    """A plan for ε(δ) of a schedule of many laws.

    Raises:
        Declined: There are few laws, or those that the schedule does not begin with need another contour.
    """
    sampled = tuple((pair, count) for pair, count in product if isinstance(pair, SampledGaussians))
    if len(sampled) < _FEWEST:
        raise Declined("a short schedule needs no beginning")
    block = max(1, (1 << len(sampled).bit_length() - 1) // _BLOCKS)
    unsampled = tuple((pair, count) for pair, count in product if not isinstance(pair, SampledGaussians))
    beginning = _beginning(unsampled + sampled[: len(sampled) // block * block], log_delta, accuracy)
    parts, shift = split(product)
    landscape = Landscape(tuple(_law(part, beginning.softness, beginning.log_cut) for part in parts), shift)
    saddle = landscape.saddle(beginning.saddle.tilt)
    plan = Plan(
        tilt=saddle.tilt,
        spacing=beginning.spacing,
        frequencies=beginning.frequencies,
        aliases=beginning.sigmas,
        nodes=tuple(_nodes(part, beginning) for part in parts),
        squared_shift=sum(
            (pair.squared_shift * count for pair, count in product if isinstance(pair, ShiftedGaussians)), Fraction(0)
        ),
        bulk_tilt=None,
        precision=beginning.precision,
        bits=beginning.bits,
        guess=max(saddle.epsilon, 0.0),
        spread=saddle.spread,
        log_delta=log_delta,
    )
    found = estimate.float_curve(plan, _float_moments).solve(log_delta)
    if abs(found - plan.guess) > plan.spread:
        raise Declined("the beginning's tilt serves another ε")
    return replace(plan, guess=found)


@lru_cache(maxsize=8)
def _beginning(product: GaussianProduct, log_delta: float, accuracy: float) -> _Beginning:
    draft = estimate.quick_draft(product, log_delta, accuracy)
    if draft.bulk_tilt is not None or any(turn is not None for turn in draft.turns):
        raise Declined("jumps are peeled off the whole schedule, not off its beginning")
    plan = draft.plan
    return _Beginning(
        saddle=replace(draft.saddle, epsilon=0.0, log_delta=0.0),  # the tilt is all that nodes are chosen by
        softness=draft.landscape.laws[0].softness,
        log_cut=log_delta + math.log(draft.accuracy),
        spacing=plan.spacing,
        frequencies=plan.frequencies,
        sigmas=plan.aliases,
        nats=draft.nats,
        precision=plan.precision,
        bits=plan.bits,
    )


@lru_cache(maxsize=_LAWS)
def _law(part: Part, softness: float, log_cut: float) -> Law:
    return scan(part, softness, log_cut)


@lru_cache(maxsize=_LAWS)
def _nodes(part: Part, beginning: _Beginning) -> Nodes:
    law = _law(part, beginning.softness, beginning.log_cut)
    top = beginning.frequencies * beginning.spacing
    return choose_nodes(law, beginning.saddle, beginning.sigmas, top, beginning.nats, None, None, None, cells=True)


@lru_cache(maxsize=_LAWS)
def _float_moments(
    nodes: Nodes, tilt: float, spacing: float, frequencies: int
) -> tuple[float, Complexes, Complexes | None]:
    return estimate.float_moments(nodes, tilt, spacing, frequencies)


def kept_moments(nodes: Nodes) -> Moments:
    """The moments of one law at the working precision, with all that was computed of them there before."""
    return _moments(nodes, working_bits())


@lru_cache(maxsize=_LAWS)
def _moments(nodes: Nodes, precision: int) -> Moments:
    return Moments(nodes)


def forget() -> None:
    """Empty the caches: answers stay the same, to the last bit."""
    for cache in (_beginning, _law, _nodes, _float_moments, _moments):
        cache.cache_clear()


__all__ = ["forget", "growing_plan", "kept_moments"]
