"""One contour for many ε: the terms of the integral do not depend on ε, so one sum over nodes serves a whole curve.

Unlike in ``plan``, the tilt suits the ε that needs the most accuracy, and cut-offs, aliases and the last frequency are
chosen for the ε that is most demanding of each. Nothing here is proven (see ``plan``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dpbounds.expressions.time_limit import checkpoint
from dpbounds.privacy.pairs.pairs import GaussianProduct
from dpbounds.privacy.proofs import Declined
from dpbounds.privacy.routes.contour.choices import ContourChoices
from dpbounds.privacy.routes.contour.estimate import MOST_TERMS, float_curve
from dpbounds.privacy.routes.contour.landscape import LossSum, SaddlePoint, scan, split, survey
from dpbounds.privacy.routes.contour.plan import DEAR, GOOD, KINDS, SOFTNESSES, Draft, TooDearError, begun, cheapest

_FLATTER = 0.7  # an expensive plan is tried with a smaller tilt, by this factor, as long as that is cheaper
_ROUNDS = 4  # rounds in which log δ is corrected
_CORRECT = 0.5  # correction of log δ below which the rounds stop

Targets = tuple[tuple[float, float], ...]  # ε and log δ


def shared_plan(product: GaussianProduct, epsilons: Sequence[float], accuracy: float) -> ContourChoices:
    """Return a plan for δ at every one of these ε, to about this relative accuracy."""
    landscape = survey(product, 1.0, math.log(1e-3), None, max(epsilons))[0]
    targets = tuple((epsilon, landscape.saddle_for_epsilon(epsilon).log_delta) for epsilon in epsilons)
    softnesses: tuple[float, ...] = SOFTNESSES
    flatness = 1.0
    for _ in range(_ROUNDS):
        draft, flatness = _draft(product, targets, accuracy, softnesses, flatness)
        softnesses = (draft.plan.softness,) if draft.plan.softness else SOFTNESSES
        if draft.plan.products > MOST_TERMS:
            break
        curve = float_curve(draft.plan)
        found = tuple((epsilon, curve.log_delta(epsilon)) for epsilon in epsilons)
        if not all(math.isfinite(log_delta) for _, log_delta in found):
            raise Declined("the floating-point curve is lost in rounding")
        if all(abs(new - old) <= _CORRECT for (_, new), (_, old) in zip(found, targets, strict=True)):
            break
        targets = found
    if draft.plan.cost > DEAR:
        raise TooDearError(draft.plan.cost)
    return draft.finished()


def _draft(
    product: GaussianProduct, targets: Targets, accuracy: float, softnesses: tuple[float, ...], flatness: float
) -> tuple[Draft, float]:
    """Return the cheapest draft among cut-offs, kinds and (for expensive ones) flatness; and its flatness."""
    best: Draft | None = None
    for softness in softnesses:
        checkpoint()
        landscape, saddle = _surveyed(product, softness, math.log(accuracy), targets)
        found = _flattened(product, landscape, saddle, accuracy, flatness)
        while best is None and found is not None and found.plan.cost > GOOD:
            flatter = _flattened(product, landscape, saddle, accuracy, _FLATTER * flatness)
            if flatter is None or flatter.plan.cost >= found.plan.cost:
                break
            found, flatness = flatter, _FLATTER * flatness
        if best is None or (found is not None and found.plan.cost < best.plan.cost):
            best = found
        if (best is not None and best.plan.cost <= GOOD) or not landscape.cut:
            break
    if best is None:
        raise Declined("no contour serves all of these ε")
    return best, flatness


def _flattened(
    product: GaussianProduct, landscape: LossSum, saddle: SaddlePoint, accuracy: float, flatness: float
) -> Draft | None:
    flat = replace(saddle, tilt=flatness * saddle.tilt)
    return cheapest(KINDS, begun(product, landscape, flat, accuracy), None, [], GOOD)


def _surveyed(
    product: GaussianProduct, softness: float, log_accuracy: float, targets: Targets
) -> tuple[LossSum, SaddlePoint]:
    """Return the landscape, cut off where the smallest δ allows, and the tilt best for the most demanding ε."""
    parts, shift = split(product)
    least = min(log_delta for _, log_delta in targets)
    landscape = LossSum(tuple(scan(part, softness, least + log_accuracy) for part in parts), shift)
    (epsilon, log_delta), *others = targets
    ends = [math.log(landscape.saddle_for_epsilon(end).tilt) for end, _ in (min(targets), max(targets))]
    saddle = replace(landscape.saddle(1.0, epsilon), log_delta=log_delta, others=tuple(others))

    def asked(log_tilt: float) -> float:
        tilt = np.array([math.exp(log_tilt)])
        return float((landscape.log_moment(tilt) + saddle.deepest(tilt))[0])

    from scipy.optimize import minimize_scalar  # it imports for long

    tilt = math.exp(minimize_scalar(asked, bounds=(min(ends), max(ends)), method="bounded", options={"xatol": 0.01}).x)
    return landscape, replace(saddle, tilt=tilt, spread=landscape.saddle(tilt, epsilon).spread)
