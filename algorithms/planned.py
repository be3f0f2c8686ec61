"""What was made against what was planned: releases of one family differ in one number only, their loss."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction

from dpbounds.errors import BudgetExceeded, UnsupportedMechanism
from dpbounds.privacy.mechanisms import (
    ZCDP,
    BallsInBins,
    ExponentialMechanism,
    Gaussian,
    Laplace,
    MatrixMechanism,
    Mechanism,
    PoissonSampled,
    PureDP,
    RandomlyAllocated,
    SampledWithoutReplacement,
    SampledWithReplacement,
    Shuffled,
    TruncatedPoisson,
    UniformBall,
    parts_of,
)


@dataclass(frozen=True, slots=True)
class _Family:
    """Releases that differ in one number, their loss: the larger, the less private.

    Attributes:
        example: One of them.
        adds_up: Whether only the sum of the losses counts.
        losses: How often each occurs.
    """

    example: Mechanism
    adds_up: bool
    losses: Counter[Fraction] = field(default_factory=Counter)


def demand_within_plan(made: Mechanism, planned: Mechanism, ledger: object) -> None:
    """Raise where releases that were made are lossier, or more, than planned ones; see ``Ledger.check_plan``.

    Args:
        made: All that a ledger holds, composed.
        planned: All that was meant to run.
        ledger: Whose releases they are, to be printed in an error.
    """
    allowed = _by_family(planned)
    for key, family in _by_family(made).items():
        if key not in allowed:
            why = f"nothing like {family.example!r} is in the plan {planned!r}: use check(budget)"
            raise UnsupportedMechanism(why)
        _demand_within(family, allowed[key].losses, ledger)


def _by_family(mechanism: Mechanism) -> dict[tuple[object, ...], _Family]:
    families: dict[tuple[object, ...], _Family] = {}
    for part, count in parts_of(mechanism):
        key, loss, adds_up = _placed(part)
        families.setdefault(key, _Family(part, adds_up)).losses[loss] += count
    return families


def _placed(mechanism: Mechanism) -> tuple[tuple[object, ...], Fraction, bool]:
    """The family's key, the loss, and whether losses add up."""
    if isinstance(mechanism, BallsInBins):
        key, loss, _ = _placed_inside(mechanism.mechanism)
        return (BallsInBins, mechanism.bins, mechanism.epochs, mechanism.redraw, *key), loss, False
    if isinstance(mechanism, RandomlyAllocated):
        key, loss, _ = _placed_inside(mechanism.mechanism)
        return (RandomlyAllocated, mechanism.steps, mechanism.participations, *key), loss, False
    if isinstance(mechanism, Shuffled):
        key, loss, _ = _placed_inside(mechanism.mechanism)
        return (Shuffled, mechanism.batches, mechanism.rest, *key), loss, False
    if isinstance(mechanism, TruncatedPoisson):
        key, loss, _ = _placed_inside(mechanism.mechanism)
        cut = mechanism.sample_rate, mechanism.max_batch_size, mechanism.dataset_size
        return (TruncatedPoisson, *cut, *key), loss, False
    if isinstance(mechanism, MatrixMechanism):
        return (mechanism.with_noise(1),), 1 / mechanism.noise_multiplier, False
    if not isinstance(mechanism, PoissonSampled | SampledWithoutReplacement | SampledWithReplacement):
        return _placed_inside(mechanism)
    key, loss, _ = _placed_inside(mechanism.mechanism)
    if isinstance(mechanism, PoissonSampled):
        return (PoissonSampled, mechanism.sample_rate, *key), loss, False
    return (type(mechanism), mechanism.batch_size, mechanism.dataset_size, *key), loss, False


def _placed_inside(mechanism: Mechanism) -> tuple[tuple[object, ...], Fraction, bool]:
    if isinstance(mechanism, Gaussian):
        # per unit of the per-record bound, or of the final distance: these two do not compare
        if mechanism.noise_multiplier is not None:
            return (Gaussian, "per record"), 1 / mechanism.noise_multiplier**2, True
        assert mechanism.noise_stddev is not None
        assert mechanism.sensitivity is not None
        return (Gaussian, "distance"), (mechanism.sensitivity / mechanism.noise_stddev) ** 2, True
    if isinstance(mechanism, ZCDP):
        return (ZCDP, mechanism.relation), mechanism.rho, True
    if isinstance(mechanism, Laplace) and mechanism.noise_multiplier is not None:
        return (Laplace, mechanism.dimension), 1 / mechanism.noise_multiplier, False
    if isinstance(mechanism, UniformBall) and mechanism.sensitivity is None:
        # all that a ball gives away is its total variation, which falls as the radius grows
        return (UniformBall, mechanism.dimension), 1 / mechanism.radius, False
    if isinstance(mechanism, PureDP | ExponentialMechanism):
        monotone = getattr(mechanism, "monotone", None)
        return (type(mechanism), mechanism.relation, monotone), mechanism.epsilon, False
    return (mechanism,), Fraction(0), False  # the very same or nothing


def _demand_within(family: _Family, allowed: Counter[Fraction], ledger: object) -> None:
    made = family.losses
    if family.adds_up:
        shift, planned = (sum(loss * count for loss, count in losses.items()) for losses in (made, allowed))
        if shift > planned:
            what = "rho" if isinstance(family.example, ZCDP) else "(sensitivity / stddev)²"
            raise BudgetExceeded(
                f"the sum of {what} over the ledger is {float(shift):.9g}, more than the planned "
                f"{float(planned):.9g}: less noise was drawn than planned, or more releases were made; "
                f"do not publish the output\n{ledger}"
            )
        return
    # for every loss level: no more releases at least as lossy as it than were planned at least as lossy
    total = 0
    for loss, count in sorted(made.items(), reverse=True):
        total += count
        if total > sum(times for other, times in allowed.items() if other >= loss):
            raise BudgetExceeded(
                f"the ledger holds {total} releases like {family.example!r} or with less noise, more than planned: "
                f"less noise was drawn than planned, or more releases were made; do not publish the output\n{ledger}"
            )
