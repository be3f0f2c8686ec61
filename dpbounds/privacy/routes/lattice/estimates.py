"""Estimates of log δ(ε) in floating point, for searches and first choices: they prove nothing."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from dpbounds.expressions.working import working
from dpbounds.privacy.pairs.pairs import Product
from dpbounds.privacy.proofs import Declined, planned_in_doubles
from dpbounds.privacy.routes.lattice import saddle as choices
from dpbounds.privacy.routes.lattice.composed import (
    SUM_PRECISION,
    Steps,
    log_of,
)
from dpbounds.privacy.routes.lattice.products import (
    certainly_infinite,
    cut_sketches,
    largest_loss_of,
    sketches_of,
    steps_of,
)
from dpbounds.privacy.routes.lattice.rough import Rough, sharpened
from dpbounds.privacy.routes.lattice.steps import LossStep

_SEEN_UNTILTED = -15.0  # log δ that a transform in floating point sees without a tilt
_FAR_OUT = 10  # how far below log δ losses are cut off for an estimate
_LARGEST_LOG = 1500.0  # logarithm of 1/δ
_LOGS = (15.0, 120.0, _LARGEST_LOG)  # looked at in turn


@planned_in_doubles
def expected_log_delta(product: Product, epsilon: float) -> float:
    """Return an estimate of log δ(ε) by the saddle point, in floating point: for searches, it proves nothing."""
    steps = steps_of(product)
    if not steps:
        return -math.inf
    with working(SUM_PRECISION):
        certain, limit = log_of(certainly_infinite(steps)), largest_loss_of(steps)
    if limit is not None and limit.lower <= epsilon:
        return certain
    try:
        log_delta = rough_log_delta(steps, epsilon, math.inf if limit is None else limit.lower)
    except Declined:  # too small for the route: small enough for an estimate
        return float(np.logaddexp(certain, -_LARGEST_LOG))
    return float(np.logaddexp(certain, estimated_log_delta(steps, epsilon, log_delta)))


@planned_in_doubles
def estimated_profile(product: Product, log_delta: float) -> Callable[[float], float]:
    """Return an estimate of log δ at any ε >= 0 where it is at least ``log_delta``, from one look at the steps.

    For searches that ask for many ε: each costs milliseconds. It proves nothing.
    """
    steps = steps_of(product)
    if not steps:
        return lambda epsilon: -math.inf
    infinite, limit = certainly_infinite(steps), largest_loss_of(steps)
    if infinite >= 1:
        return lambda epsilon: 0.0
    with working(SUM_PRECISION):
        certain = log_of(infinite)
    parts = _far_out(steps, log_delta)
    plain = Rough.of(parts, 0.0)

    def at(epsilon: float) -> float:
        if limit is not None and limit.lower <= epsilon:
            return certain
        seen = plain.at(epsilon)
        if seen is not None and seen[0] > _SEEN_UNTILTED:
            return float(np.logaddexp(certain, min(0.0, seen[0])))
        aim = sharpened(parts, choices.saddle_for_epsilon(parts, epsilon))
        return float(np.logaddexp(certain, min(0.0, aim.log_delta)))

    return at


def estimated_log_delta(steps: Steps, epsilon: float, log_delta: float) -> float:
    """Return a better estimate of log δ(ε) from a rough one."""
    parts = _far_out(steps, log_delta)
    aim = choices.saddle_for_epsilon(parts, epsilon)
    return sharpened(parts, aim).log_delta if is_costly(steps) else aim.log_delta


def _far_out(steps: Steps, log_delta: float) -> list[choices.Sketch]:
    """Return the steps in floats, for an estimate of δ of that size."""
    return cut_sketches(sketches_of(steps, log_delta), log_delta - _FAR_OUT)


def rough_log_delta(steps: Steps, epsilon: float, limit: float) -> float:
    """Return roughly the logarithm of δ(ε): the one for which ``epsilon`` is the expected answer."""
    low = math.log(1e-3)

    def answer(depth: float) -> float:
        log_delta = -math.exp(depth)
        return choices.saddle_for_delta(_far_out(steps, log_delta), log_delta, limit, 1e-9).epsilon

    for largest in _LOGS:  # the farther out, the more of each distribution must be looked at
        high = math.log(largest)
        if answer(high) >= epsilon:
            break
        low = high
    else:
        raise Declined(f"lattice: log δ is below -{_LARGEST_LOG:g}, too small for this route")
    for _ in range(12):
        middle = (low + high) / 2
        low, high = (middle, high) if answer(middle) < epsilon else (low, middle)
    return -math.exp(high)


def is_costly(steps: Steps) -> bool:
    """Return whether cutting takes nearly all the time: a closer look and a finer lattice beat a second attempt."""
    return any(isinstance(step, LossStep) and step.draws.slots > 1 for step, _ in steps)
