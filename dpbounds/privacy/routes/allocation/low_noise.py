"""Random allocation with so little noise that the record's step can be distinguished (``proof.md``, 10)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from dpbounds.errors import NotCertified
from dpbounds.expressions.enclosure import ball_end
from dpbounds.expressions.working import working
from dpbounds.privacy.pairs.losses import ball, upper_tail
from dpbounds.privacy.pairs.pairs import (
    Allocated,
    AllocatedTo,
    Direction,
    Pair,
    Product,
    SecretSteps,
    ShiftedGaussians,
    is_attack,
)
from dpbounds.privacy.proofs import Declined, Proof
from dpbounds.privacy.routes.allocation.rounding import PRECISION
from dpbounds.privacy.routes.allocation.tuning import TUNING

Ends = tuple[Fraction, Fraction]


@dataclass(frozen=True, slots=True)
class _Step:
    """Independent steps of one kind: one of ``ways`` sets of steps, ``apart`` of them disjoint."""

    squared_shift: Fraction
    ways: int
    apart: int
    count: int


def told_apart(
    product: Product,
    targets: Sequence[Fraction],
    for_epsilon: bool,
    width: float,
    prove: Callable[[Product, Sequence[Fraction], float], Sequence[Proof]],
    *,
    however_low: bool = False,
) -> list[Ends] | None:
    """Return both bounds at each target, or None if they are too wide; the upper one of an attack is not proven.

    Args:
        product: Pairs with multiplicities.
        targets: Values of δ if ε is the unknown, else of ε.
        for_epsilon: Whether ε is the unknown.
        width: As in ``enclosed``.
        prove: Proves what a Gaussian spends at targets.
        however_low: Accept any lower bound of an attack, however small.
    """
    found = _steps(product)
    if found is None:
        return None
    steps, direction, plain = found
    if direction is Direction.ADD and plain:
        return None
    whole = plain + sum((step.count * step.squared_shift for step in steps), Fraction(0))
    gaussian = ((ShiftedGaussians(whole), 1),)
    with working(PRECISION):
        secret = sum((step.count * arb(step.ways).log() for step in steps), arb(0))
        most, least = ball_end(secret, "up"), ball_end(secret, "down")

    def ends(at: Sequence[Fraction], which: int) -> list[Fraction]:
        proofs = prove(gaussian, at, width)
        return [Fraction((each.enclosure.exact_lower, each.enclosure.exact_upper)[which]) for each in proofs]

    try:
        if for_epsilon:
            lows = [max(Fraction(0), low - most) for low in ends(targets, 0)]
            deltas, epsilons = list(targets), lows
        else:
            deltas, epsilons = ends([at + most for at in targets], 0), list(targets)
            lows = deltas
        if not all(lows):
            return None
        if direction is Direction.ADD:
            if any(_added(steps, at) > delta for at, delta in zip(epsilons, deltas, strict=True)):
                return None
            return [(Fraction(0), low) for low in lows]  # the other order spends that much at least
        attacked = is_attack(product)
        slack, rare = _reach(
            steps, TUNING.low_noise.seldom if attacked else TUNING.given_up * max(min(map(float, deltas)), 1e-300)
        )
        if slack > width * float(min(epsilons)) and (not however_low if attacked else for_epsilon):
            return None
        if attacked:
            return [(low, low) for low in lows]
        if for_epsilon:
            highs = ends([at - rare for at in targets], 1)
            return [(low, max(low, high - least + slack)) for low, high in zip(lows, highs, strict=True)]
        return list(zip(lows, at_most(ends, [at + least - slack for at in targets], rare), strict=True))
    except (Declined, NotCertified):
        return None


@dataclass(frozen=True, slots=True)
class InPlace:
    """Bounds on one of m steps under replace-one where the record's step is distinguished (``proof.md``, 12).

    Attributes:
        product: The product it is compared with: δ(ε) is δ of this at ε + ``shift``, up to the terms below.
        shift: Both bounds of Σ log(m - 1).
        more, less: In logarithms, how far the ratio may lie above, and below, that of the product.
        rare: The probability that it lies farther away.
        spacing: Spacing of a grid for it: a choice.
    """

    product: Product
    shift: Ends
    more: Fraction
    less: Fraction
    rare: Fraction
    spacing: float


def in_place(product: Product, width: float, *, for_epsilon: bool = True) -> InPlace | None:
    """Return such bounds for Gaussians and one of m equal steps under replace-one; None for others."""
    steps, plain = list[_Step](), Fraction(0)
    for pair, count in product:
        match pair:
            case ShiftedGaussians(squared_shift=squared):
                plain += count * squared
            case Allocated(direction=Direction.REPLACE, bins=bins) if bins > 1 and (step := _step(pair, count)):
                steps.append(step)
            case _:
                return None
    if not steps:
        return None
    count = sum(step.count for step in steps)
    plain += sum((step.count * step.squared_shift * (1 + (step.ways == 2)) for step in steps), Fraction(0))
    others: list[tuple[Pair, int]] = [
        (Allocated(Direction.ADD, step.ways - 1, ((ShiftedGaussians(step.squared_shift), step.ways - 1),)), step.count)
        for step in steps
        if step.ways > 2  # a single other step is a Gaussian, which is counted above
    ]
    whole, most = sum(step.count * float(step.squared_shift) for step in steps), max(step.ways for step in steps)
    # scale to which the width refers: δ falls with a deviation's scale
    loss = whole if for_epsilon else math.sqrt(whole)
    with working(PRECISION):
        more = less = rare = shift = arb(0)
        for step in steps:
            mu = ball(step.squared_shift).sqrt()
            slack = ball(Fraction(TUNING.low_noise.slack * width * loss / count))
            apart = ((step.ways - 1) / slack).log() / mu  # b: any number is valid
            smaller = (-mu * apart).exp()
            more += step.count * ((step.ways - 1) * smaller).log1p()
            less += step.count * (smaller / (step.ways - 1)).log1p()
            rare += step.count * (step.ways - 1) * upper_tail((mu - apart) / arb(2).sqrt())
            shift += step.count * arb(step.ways - 1).log()
        return InPlace(
            product=((ShiftedGaussians(plain), 1), *others),
            shift=(ball_end(shift, "down"), ball_end(shift, "up")),
            more=ball_end(more, "up"),
            less=ball_end(less, "up"),
            rare=ball_end(rare, "up"),
            spacing=min(
                0.5, math.sqrt(TUNING.low_noise.squared_spacing * width * loss / count / (1 + math.log2(most)))
            ),
        )


def at_most(
    ends: Callable[[Sequence[Fraction], int], Sequence[Fraction]], epsilons: Sequence[Fraction], rare: Fraction
) -> list[Fraction]:
    """Bound δ at each ε from above, up to events of probability ``rare``: (1 - e^ε A)_+ <= (1 - A)_+ - ε for ε < 0."""
    zero = Fraction(0)
    found = ends([max(zero, epsilon) for epsilon in epsilons], 1)
    return [
        min(Fraction(1), delta + rare + max(zero, -epsilon)) for delta, epsilon in zip(found, epsilons, strict=True)
    ]


def _steps(product: Product) -> tuple[list[_Step], Direction, Fraction] | None:
    """Return the secret steps, the one order of all, and the squared shift of the public part; None for other pairs."""
    steps, orders, plain = list[_Step](), set[Direction](), Fraction(0)
    for pair, count in product:
        match pair:
            case ShiftedGaussians(squared_shift=squared):
                plain += count * squared
            case SecretSteps():
                step = _step(pair, count)
                if step is None:
                    return None
                steps.append(step)
                orders.add(pair.direction)
            case _:
                return None
    if len(orders) != 1 or Direction.REPLACE in orders:
        return None
    return steps, orders.pop(), plain


def _step(pair: Pair, count: int) -> _Step | None:
    match pair:
        case Allocated(bins=bins, shares=((ShiftedGaussians(squared_shift=squared), alike),)) if alike == bins:
            return _Step(squared, bins, bins, count)
        case AllocatedTo(steps=t, participations=k, base=ShiftedGaussians(squared_shift=squared)):
            return _Step(k * squared, math.comb(t, k), t // k, count)
    return None


def _added(steps: Sequence[_Step], epsilon: Fraction) -> Fraction:
    """Return an upper bound on δ(ε) if the record is added: some R_t < e^(-ε/T) has small terms only."""
    count, found = sum(step.count for step in steps), arb(0)
    with working(PRECISION):
        for step in steps:
            shift = ball(step.squared_shift).sqrt()
            reach = (ball(epsilon / count) - arb(step.ways).log()) / shift - shift / 2
            found += step.count * upper_tail(reach) ** step.apart
        return ball_end(found, "up")


def _reach(steps: Sequence[_Step], rarely: float) -> tuple[Fraction, Fraction]:
    """Return how far, in logarithms, a whole ratio may exceed its own term over m, and the probability of more.

    The probability is to be about ``rarely``.
    """
    terms = sum(step.count * step.ways for step in steps)
    wanted = math.log(terms) - math.log(rarely)
    far = math.sqrt(2 * wanted)
    for _ in range(4):
        far = math.sqrt(2 * max(1.0, wanted - math.log(far * math.sqrt(2 * math.pi))))
    slack = rare = arb(0)
    with working(PRECISION):
        for step in steps:
            shift = ball(step.squared_shift).sqrt()
            slack += step.count * ((step.ways - 1) * (2 * far * shift - shift * shift).exp()).log1p()
            rare += step.count * step.ways * upper_tail(arb(far))
        return ball_end(slack, "up"), ball_end(rare, "up")
