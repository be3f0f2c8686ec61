"""A plan for a long schedule: its beginning chooses the contour, so that the sums of one epoch serve the next.

A loop that computes ε after each epoch has products that begin with the product before. Plans of their own would differ
a little in every number, so that no sum over nodes could be used twice. Here tilt, frequencies and accuracy are those
of the product's own beginning, and values that depend on one distribution besides are cached under their exact inputs.
The beginning is taken from the product itself, never from earlier questions, so that no answer depends on them. Nothing
here is proven (see ``plan``).
"""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

import numpy as np

from dpbounds.expressions.working import working_bits
from dpbounds.privacy.pairs.pairs import GaussianProduct, SampledGaussians
from dpbounds.privacy.proofs import Declined
from dpbounds.privacy.routes.closed_forms import squared_shift_of
from dpbounds.privacy.routes.contour import estimate
from dpbounds.privacy.routes.contour.choices import ContourChoices, Nodes, dyadic
from dpbounds.privacy.routes.contour.landscape import (
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

_FEWEST = 4  # number of distributions below which a plan of its own is fast
# numbers of blocks tried in turn: a beginning has at least as many, and lacks less than one block of the whole
_BLOCKS = (
    2,
    4,
    8,
)
_LAWS = 512  # distributions kept in the cache
_ROOM = 1.03  # factor of the period, beyond the needs of either end of a block
_FEW = 12  # distributions that represent a schedule in its plan
_DEARER = 2  # largest number of frequencies, in units of the number that one end of a block needs
_LEAP = 2.0  # largest growth of the variance from block to block that a plan allows for
_SLACK = 2.5  # nats of accuracy that the whole schedule may lack


@dataclass(frozen=True, slots=True)
class _Beginning:
    """Parameters that the first levels of a schedule fix for the whole."""

    saddle: SaddlePoint
    softness: float
    log_cut: float
    nats: float
    plan: ContourChoices  # without nodes


def growing_plan(product: GaussianProduct, log_delta: float, accuracy: float) -> ContourChoices:
    """Return a plan for ε(δ) of a schedule of many distributions.

    Raises:
        Declined: There are few distributions, or those that the schedule does not begin with need another contour.
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
    plan = replace(
        beginning.plan,
        nodes=tuple(_nodes(part, beginning) for part in parts),
        squared_shift=squared_shift_of(product),
        guess=max(saddle.epsilon, 0.0),
        spread=saddle.spread,
    )
    found = estimate.float_curve(plan, _float_moments).solve(log_delta)
    saddle = replace(saddle, epsilon=found, log_delta=log_delta)
    draft = Draft(product, landscape, saddle, plan.spacing, plan.frequencies, plan.aliases, accuracy)
    if draft.nats > beginning.nats + _SLACK or _period(draft, _SLACK) > 2 * math.pi / plan.spacing:
        raise Declined("the beginning's tilt serves another ε")
    return replace(plan, guess=found)


@lru_cache(maxsize=8)
def _beginning(
    unsampled: GaussianProduct,
    sampled: tuple[tuple[SampledGaussians, int], ...],
    block: int,
    log_delta: float,
    accuracy: float,
) -> _Beginning:
    """Return a contour between the beginning's own and that of all distributions that the block may bring, for both."""
    grown = (*sampled, *(_next(*both) for both in zip(sampled[-2 * block : -block], sampled[-block:], strict=True)))
    drafts = [estimate.quick_draft(unsampled + _thinned(each), log_delta, accuracy) for each in (sampled, grown)]
    if any(draft.turns for draft in drafts):
        raise Declined("jumps are peeled off the whole schedule, not off its beginning")
    tilt, softness = math.sqrt(drafts[0].saddle.tilt * drafts[1].saddle.tilt), drafts[0].landscape.laws[0].softness
    if drafts[1].landscape.laws[0].softness != softness:
        raise Declined("the beginning's cut-off does not serve the whole")
    log_accuracy = math.log(min(draft.accuracy for draft in drafts))
    saddles = [replace(draft.landscape.saddle(tilt, draft.saddle.epsilon), log_delta=log_delta) for draft in drafts]
    _, *sigmas = max(
        shortest_period(draft.landscape, saddle, -log_accuracy) for draft, saddle in zip(drafts, saddles, strict=True)
    )
    both = [
        replace(draft, saddle=saddle, sigmas=tuple(sigmas), accuracy=math.exp(log_accuracy))
        for draft, saddle in zip(drafts, saddles, strict=True)
    ]
    # what comes back beyond the cut-offs, and where they stand, is not seen by few distributions
    log_cut, shift = log_delta + log_accuracy, split(unsampled)[1]
    whole = [
        replace(draft, landscape=LossSum(tuple(_law(part, softness, log_cut) for part in split(each)[0]), shift))
        for draft, each in zip(both, (sampled, grown), strict=True)
    ]
    spacing = dyadic(2 * math.pi / (_ROOM * max(_period(draft) for draft in whole)))
    frequencies = max(last_frequency(draft.landscape, draft.saddle, spacing, -log_accuracy) for draft in whole)
    if frequencies > _DEARER * max(draft.frequencies for draft in drafts):
        raise Declined("one contour for the whole block takes more work than two")
    both = [replace(draft, spacing=spacing, frequencies=frequencies) for draft in both]
    plans = [draft.plan for draft in both]
    return _Beginning(
        saddle=replace(both[0].saddle, epsilon=0.0, log_delta=0.0),  # the tilt is all that nodes are chosen by
        softness=softness,
        log_cut=log_cut,
        nats=max(draft.nats for draft in both + whole),
        plan=replace(
            plans[0],
            nodes=(),
            precision=max(plan.precision for plan in plans),
            bits=max(plan.bits for plan in plans),
        ),
    )


def _thinned(sampled: GaussianProduct) -> GaussianProduct:
    """Return few distributions that represent all of them: the middle one of each run of neighbours."""
    size = math.ceil(len(sampled) / _FEW)
    runs = [sampled[start : start + size] for start in range(0, len(sampled), size)]
    return tuple((run[len(run) // 2][0], sum(count for _, count in run)) for run in runs)


def _next(before: tuple[SampledGaussians, int], last: tuple[SampledGaussians, int]) -> tuple[SampledGaussians, int]:
    """Extrapolate the next block from the last change of the noise."""
    factor = min(max(float(last[0].variance / before[0].variance), 1 / _LEAP), _LEAP)
    return replace(last[0], variance=last[0].variance * Fraction(dyadic(factor))), last[1]


def _period(draft: Draft, slack: float = 0.0) -> float:
    """Return the shortest period at which the draft's aliases cost less than its accuracy, but for some nats."""
    saddle, sigmas = draft.saddle, np.array(draft.sigmas)
    nats = saddle.log_delta + math.log(draft.accuracy) + slack
    need = draft.landscape.log_moment(sigmas) - sigmas * saddle.epsilon - nats
    return float(np.max(need / np.abs(sigmas - saddle.tilt)))


_law = lru_cache(maxsize=_LAWS)(scan)
_float_moments = lru_cache(maxsize=_LAWS)(estimate.float_moments)


@lru_cache(maxsize=_LAWS)
def _nodes(part: RepeatedPair, beginning: _Beginning) -> Nodes:
    law, plan = _law(part, beginning.softness, beginning.log_cut), beginning.plan
    top = plan.frequencies * plan.spacing
    return choose_nodes(law, beginning.saddle, plan.aliases, top, beginning.nats, None, None, None, cells=True)


def kept_moments(nodes: Nodes) -> Moments:
    """Return the moments of one distribution at the working precision, with all values computed there before."""
    return _moments(nodes, working_bits())


@lru_cache(maxsize=_LAWS)
def _moments(nodes: Nodes, precision: int) -> Moments:
    return Moments(nodes)


def forget() -> None:
    """Empty the caches: answers stay the same, to the last bit."""
    for cache in (_beginning, _law, _nodes, _float_moments, _moments):
        cache.cache_clear()
