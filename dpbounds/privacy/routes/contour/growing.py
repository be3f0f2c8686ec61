"""A plan for a long schedule: its beginning chooses the contour, so that what is summed for one epoch serves the next.

A loop that asks for ε after each epoch asks about histories of which each begins with the last one. Their own plans
differ a little in every number, and no sum over nodes is used twice. Here tilt, frequencies and accuracy are those of
the history's own beginning, and what depends on one law besides is cached by exactly what it is computed from. The
beginning is taken from the product that is asked about, never from what was asked before: no answer depends on earlier
questions. Nothing here is proven (see ``plan``).
"""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

import numpy as np

from dpbounds.expressions.working import working_bits
from dpbounds.privacy.pairs.pairs import GaussianProduct, SampledGaussians, ShiftedGaussians
from dpbounds.privacy.proofs import Declined
from dpbounds.privacy.routes.contour import estimate
from dpbounds.privacy.routes.contour.choices import ContourChoices, Nodes, dyadic
from dpbounds.privacy.routes.contour.landscape import (
    Complexes,
    CutDistribution,
    LossSum,
    RepeatedPair,
    SaddlePoint,
    scan,
    split,
)
from dpbounds.privacy.routes.contour.moments import Moments
from dpbounds.privacy.routes.contour.nodes import choose_nodes
from dpbounds.privacy.routes.contour.plan import Draft
from dpbounds.privacy.routes.contour.spectrum import last_frequency, shortest_period

_FEWEST = 4  # laws of a schedule, below which a plan of its own is cheap
_BLOCKS = (2, 4, 8)  # tried in turn: a beginning has as many blocks at least, and lacks less than one of the whole
_LAWS = 512  # kept
_ROOM = 1.03  # of the period, beyond what either end of a block needs
_FEW = 12  # laws that stand for a schedule where it is planned
_DEARER = 2  # times as many frequencies as one end of a block needs: too many
_LEAP = 2.0  # from block to block, of the variance, that is foreseen
_SLACK = 2.5  # nats of accuracy that the whole may lack


@dataclass(frozen=True, slots=True)
class _Beginning:
    """What the beginning of a schedule decides for the whole."""

    saddle: SaddlePoint
    softness: float
    log_cut: float
    spacing: float
    frequencies: int
    sigmas: tuple[float, ...]
    nats: float
    precision: int
    bits: float


def growing_plan(product: GaussianProduct, log_delta: float, accuracy: float) -> ContourChoices:
    """A plan for ε(δ) of a schedule of many laws.

    Raises:
        Declined: There are few laws, or those that the schedule does not begin with need another contour.
    """
    sampled = tuple((pair, count) for pair, count in product if isinstance(pair, SampledGaussians))
    if len(sampled) < _FEWEST:
        raise Declined("a short schedule needs no beginning")
    unsampled = tuple((pair, count) for pair, count in product if not isinstance(pair, SampledGaussians))
    *coarse, fine = _BLOCKS
    for blocks in coarse:
        with contextlib.suppress(Declined):
            return _planned(product, unsampled, sampled, blocks, log_delta, accuracy)
    return _planned(product, unsampled, sampled, fine, log_delta, accuracy)


def _planned(
    product: GaussianProduct,
    unsampled: GaussianProduct,
    sampled: tuple[tuple[SampledGaussians, int], ...],
    blocks: int,
    log_delta: float,
    accuracy: float,
) -> ContourChoices:
    block = max(1, (1 << len(sampled).bit_length() - 1) // blocks)
    beginning = _beginning(unsampled, sampled[: len(sampled) // block * block], block, log_delta, accuracy)
    parts, shift = split(product)
    landscape = LossSum(tuple(_law(part, beginning.softness, beginning.log_cut) for part in parts), shift)
    saddle = landscape.saddle(beginning.saddle.tilt)
    plan = ContourChoices(
        tilt=saddle.tilt,
        spacing=beginning.spacing,
        frequencies=beginning.frequencies,
        aliases=beginning.sigmas,
        nodes=tuple(_nodes(part, beginning) for part in parts),
        squared_shift=_shift(product),
        bulk_tilt=None,
        precision=beginning.precision,
        bits=beginning.bits,
        guess=max(saddle.epsilon, 0.0),
        spread=saddle.spread,
        log_delta=log_delta,
    )
    found = estimate.float_curve(plan, _float_moments).solve(log_delta)
    saddle = replace(saddle, epsilon=found, log_delta=log_delta)
    draft = Draft(product, landscape, saddle, plan.spacing, plan.frequencies, plan.aliases, accuracy, (), ())
    if draft.nats > beginning.nats + _SLACK or _period(draft, _SLACK) > 2 * math.pi / plan.spacing:
        raise Declined("the beginning's tilt serves another ε")
    return replace(plan, guess=found)


def _shift(product: GaussianProduct) -> Fraction:
    return sum(
        (pair.squared_shift * count for pair, count in product if isinstance(pair, ShiftedGaussians)), Fraction(0)
    )


@lru_cache(maxsize=8)
def _beginning(
    unsampled: GaussianProduct,
    sampled: tuple[tuple[SampledGaussians, int], ...],
    block: int,
    log_delta: float,
    accuracy: float,
) -> _Beginning:
    """A contour between the beginning's own and that of as many laws as the block may still bring, for both."""
    grown = (*sampled, *(_next(*both) for both in zip(sampled[-2 * block : -block], sampled[-block:], strict=True)))
    drafts = [estimate.quick_draft(unsampled + _thinned(each), log_delta, accuracy) for each in (sampled, grown)]
    if any(draft.bulk_tilt is not None or any(turn is not None for turn in draft.turns) for draft in drafts):
        raise Declined("jumps are peeled off the whole schedule, not off its beginning")
    tilt, softness = math.sqrt(drafts[0].saddle.tilt * drafts[1].saddle.tilt), drafts[0].landscape.laws[0].softness
    if drafts[1].landscape.laws[0].softness != softness:
        raise Declined("the beginning's cut-off does not serve the whole")
    log_accuracy = math.log(min(draft.accuracy for draft in drafts))
    ends = []
    for draft in drafts:
        here = draft.landscape.saddle(tilt, draft.saddle.epsilon)
        ends.append((draft.landscape, replace(here, log_delta=log_delta)))
    periods = [shortest_period(*end, -log_accuracy) for end in ends]
    _, right, left = max(periods)
    both = [
        replace(draft, saddle=saddle, sigmas=(right, left), accuracy=math.exp(log_accuracy))
        for draft, (_, saddle) in zip(drafts, ends, strict=True)
    ]
    # what comes back beyond the cut-offs, and where they stand, is not seen by few laws
    log_cut = log_delta + log_accuracy
    whole = [
        replace(
            draft,
            landscape=LossSum(tuple(_law(part, softness, log_cut) for part in split(each)[0]), split(unsampled)[1]),
        )
        for draft, each in zip(both, (sampled, grown), strict=True)
    ]
    spacing = dyadic(2 * math.pi / (_ROOM * max(_period(draft) for draft in whole)))
    frequencies = max(last_frequency(draft.landscape, draft.saddle, spacing, -log_accuracy) for draft in whole)
    if frequencies > _DEARER * max(draft.frequencies for draft in drafts):
        raise Declined("one contour for the whole block is dearer than two")
    both = [replace(draft, spacing=spacing, frequencies=frequencies) for draft in both]
    return _Beginning(
        saddle=replace(both[0].saddle, epsilon=0.0, log_delta=0.0),  # the tilt is all that nodes are chosen by
        softness=softness,
        log_cut=log_cut,
        spacing=spacing,
        frequencies=frequencies,
        sigmas=(right, left),
        nats=max(draft.nats for draft in both + whole),
        precision=max(draft.plan.precision for draft in both),
        bits=max(draft.plan.bits for draft in both),
    )


def _thinned(sampled: GaussianProduct) -> GaussianProduct:
    """Few laws that stand for all of them: of neighbours the middle one."""
    size = math.ceil(len(sampled) / _FEW)
    runs = [sampled[start : start + size] for start in range(0, len(sampled), size)]
    return tuple((run[len(run) // 2][0], sum(count for _, count in run)) for run in runs)


def _next(before: tuple[SampledGaussians, int], last: tuple[SampledGaussians, int]) -> tuple[SampledGaussians, int]:
    """What may follow, if noise goes on as it went from one block to the next."""
    factor = min(max(float(last[0].variance / before[0].variance), 1 / _LEAP), _LEAP)
    return replace(last[0], variance=last[0].variance * Fraction(dyadic(factor))), last[1]


def _period(draft: Draft, slack: float = 0.0) -> float:
    """The shortest period at which the draft's aliases cost less than its accuracy, but for some nats."""
    saddle, sigmas = draft.saddle, np.array(draft.sigmas)
    nats = saddle.log_delta + math.log(draft.accuracy) + slack
    need = draft.landscape.log_moment(sigmas) - sigmas * saddle.epsilon - nats
    return float(np.max(need / np.abs(sigmas - saddle.tilt)))


@lru_cache(maxsize=_LAWS)
def _law(part: RepeatedPair, softness: float, log_cut: float) -> CutDistribution:
    return scan(part, softness, log_cut)


@lru_cache(maxsize=_LAWS)
def _nodes(part: RepeatedPair, beginning: _Beginning) -> Nodes:
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
