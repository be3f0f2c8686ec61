"""Cost of a participation in a last iterate (11), with step sizes that change (25)."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any

from flint import arb, ctx

from dpbounds.privacy.publishing.checker.balls import number, rounded_up
from dpbounds.privacy.publishing.checker.work import effort


def window(rise: Fraction, steps: int) -> Fraction:
    """1 / (1 + c^-2 + ... + c^-2(steps - 1)) from above, c = 1 + rise."""
    if rise == 0 or steps == 1:
        return Fraction(1, steps)
    with ctx.workprec(1024):
        twice = -2 * number(rise).log1p()
        value = twice.expm1() / (steps * twice).expm1()
        return min(Fraction(1), Fraction(rounded_up(value, 300), 2**300))


def is_scheduled(release: dict[str, Any]) -> bool:
    """Return whether step sizes change, of a last iterate."""
    return isinstance(release.get("smoothness_step"), list)


def windows_of(release: dict[str, Any]) -> Callable[[int, int], arb]:
    """(11), (25) The cost of a participation in step i, from above, up to the next one, or to publication, in j."""
    if not is_scheduled(release):
        rise = release["smoothness_step"] - release["weight_decay_step"]
        of_length = lru_cache(maxsize=None)(lambda steps: number(window(rise, steps)))
        return lambda i, j: of_length(j - i)
    steps = release["batches"] * release["epochs"]
    times = steps // len(release["smoothness_step"])
    effort.spend(3 * steps, 2 * steps)
    with ctx.workprec(512):
        sizes = [number(each) for each in release["smoothness_step"] for _ in range(times)]
        rest = [arb(0)] * (steps + 1)  # Σ_{j >= i} λ_j² η_j², from the last step on
        shrink = [arb(1)] * (steps + 2)  # the product of c_k² over k < j
        for i in reversed(range(steps)):
            follows = (1 + sizes[i + 1]) ** -2 if i + 1 < steps else arb(0)
            rest[i] = sizes[i] ** 2 + follows * rest[i + 1]
        for i in range(steps):
            shrink[i + 1] = shrink[i] * (1 + sizes[i]) ** 2

    def cost(i: int, j: int) -> arb:
        beyond = rest[j] * shrink[i + 1] / shrink[j + 1]  # λ_j = 1/(c_{i+1} … c_j)
        value = sizes[i] ** 2 / (rest[i] - beyond)
        return value.min(arb(1)) if value.is_finite() else arb(1)

    return cost


def scheduled_costs(release: dict[str, Any]) -> list[Fraction]:
    """(25) For each position, kept in every epoch: windows up to the next participation, or to publication."""
    m, epochs, cost = release["batches"], release["epochs"], windows_of(release)
    ends, costs = {*release["checkpoints"], epochs}, []
    with ctx.workprec(512):
        for p in range(m):
            total = sum((cost(e * m + p, (e + 1) * m + (0 if e + 1 in ends else p)) for e in range(epochs)), arb(0))
            costs.append(min(Fraction(epochs), Fraction(rounded_up(total, 300), 2**300)))
    return costs


def in_every_step(rise: Fraction, steps: int) -> Fraction:
    """(1 + c)(1 - c^T) / ((1 - c)(1 + c^T)) from above where c < 1, else T, for T steps, c = 1 + rise."""
    if rise >= 0:
        return Fraction(steps)
    with ctx.workprec(1024):
        power = steps * number(rise).log1p()
        value = number(2 + rise) * -power.expm1() / (number(-rise) * (1 + power.exp()))
        return min(Fraction(steps), Fraction(rounded_up(value, 300), 2**300))
