"""Descent and DP-STORM on Poisson samples of equal records, rate 1/2. The proofs are in instances.md."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt
from typing import TYPE_CHECKING

from dpbounds.errors import NotCertified
from dpbounds.expressions.backends import to_arb
from dpbounds.rates.tightness.instances import Instance, Values
from dpbounds.rates.tightness.losses import huber
from dpbounds.rates.tightness.noise import Capped, capped

if TYPE_CHECKING:
    from flint import arb

ONE, HALF = Fraction(1), Fraction(1, 2)
_CAP = 12  # noise is held to be at most √d + 12 standard deviations long
_OFF = Fraction(1, 100)  # a sample's size is held to be off by at most this, relatively


def _short(at: Values) -> tuple[Capped, Fraction]:
    cap = Fraction(isqrt(int(at["dimension"])) + 1 + _CAP)
    return capped(int(at["dimension"]), cap), cap


def _near(at: Values) -> arb:
    """Return a lower bound on the probability that a sample's size is near its mean (Hoeffding)."""
    return 1 - 2 * (-to_arb(2 * at["dataset_size"] * (at["sample_rate"] * _OFF) ** 2)).exp()


def _batch(at: Values) -> Fraction:
    if at["sample_rate"] != HALF:
        raise NotCertified("the size of a sample is symmetric about its mean at rate 1/2 only")
    return at["sample_rate"] * at["dataset_size"]


def _either(chance: arb, lower: arb, upper: arb, slope: arb) -> arb:
    """Enclose the mean of a square that is at most G², from its mean while all steps are short."""
    return (chance * lower).union(chance * upper + (1 - chance) * slope**2)


def descent(at: Values) -> arb:
    """E|∇F(w_R)|², R as the statement weighs them."""
    rate, steps, slope, batch = at["smoothness"] * at["step_size"], int(at["steps"]), at["lipschitz"], _batch(at)
    noise, cap = _short(at)
    level = at["noise_multiplier"] * slope / batch
    inside = 2 * at["smoothness"] * at["initial_gap"] <= slope**2
    for size in (1 - _OFF, 1 + _OFF):
        inside &= rate * cap * level <= slope * (1 - abs(1 - rate * size))
    if not inside:
        raise NotCertified("the instance may leave the set where its loss is quadratic")
    near = _near(at)
    moment = to_arb(level) ** 2 * noise.second
    weight = at["step_size"] * (1 - rate / 2)
    last = 1 / (2 * at["smoothness"])

    def mean(variance: arb) -> arb:
        kept = to_arb((1 - rate) ** 2) + to_arb(rate) ** 2 * variance
        now = to_arb(2 * at["smoothness"] * at["initial_gap"])
        total = to_arb(Fraction(0))
        for step in range(steps + 1):
            total += now * to_arb(weight if step < steps else last)
            now = kept * now + to_arb(rate) ** 2 * moment
        return total / to_arb(weight * steps + last)

    drawn = to_arb((1 - at["sample_rate"]) / batch) / near
    chance = (noise.chance * near) ** steps
    return _either(chance, mean(to_arb(Fraction(0))), mean(drawn), to_arb(slope))


def storm(at: Values) -> arb:
    """E|∇F(w_R)|², R as the statement weighs them."""
    steps, slope, batch, kept = int(at["steps"]), at["lipschitz"], _batch(at), 1 - at["momentum"]
    rate, z = at["smoothness"] * at["step_size"], at["noise_multiplier"]
    noise, cap = _short(at)
    first, later = at["first_ratio"] * z * slope / at["dataset_size"], z / batch
    error, inside = first * cap, 2 * at["smoothness"] * at["initial_gap"] <= slope**2
    for _ in range(steps):
        inside &= error <= slope
        error = kept * error + (_OFF + later * cap) * (at["momentum"] * slope + kept * rate * (slope + error))
    if not inside:
        raise NotCertified("the instance may leave the set where its loss is quadratic")
    near = _near(at)

    def total(variance: arb, mixed: int) -> arb:
        """With a sample's variance or none, and of C² all terms or those that are squares."""
        k, keep, r = to_arb(at["momentum"] * slope), to_arb(kept), to_arb(rate)
        gg, ge = to_arb(2 * at["smoothness"] * at["initial_gap"]), to_arb(Fraction(0))
        ee = to_arb(first) ** 2 * noise.second
        found = gg
        for step in range(1, steps + 1):
            vv = gg + 2 * ge + ee
            gg, ge = gg - 2 * r * (gg + ge) + r**2 * vv, keep * (ge - r * (ge + ee))
            reach = k**2 + (keep * r) ** 2 * vv + 2 * mixed * k * keep * r * vv.sqrt()
            ee = keep**2 * ee + (to_arb(later) ** 2 * noise.second + variance) * reach
            found += gg * (1 if step < steps else 1 / r)
        return found / (steps + 1 / r)

    drawn = to_arb((1 - at["sample_rate"]) / batch) / near
    chance = (noise.chance * near) ** steps
    return _either(chance, total(to_arb(Fraction(0)), 0), total(drawn, 1), to_arb(slope))


_SAMPLED = {
    "smoothness": ONE,
    "lipschitz": ONE,
    "dimension": Fraction(10_000),
    "dataset_size": Fraction(10**6),
    "sample_rate": HALF,
    "step_size": HALF,
}
_DESCENT = _SAMPLED | {"steps": Fraction(20), "noise_multiplier": Fraction(2000), "initial_gap": Fraction(1, 20)}
_STORM = _SAMPLED | {
    "steps": Fraction(40),
    "noise_multiplier": Fraction(500),
    "first_ratio": ONE,
    "momentum": Fraction(1, 5),
    "initial_gap": Fraction(1, 200),
}
_EQUAL = "samples of half of the records, which are all alike"

INSTANCES = (
    Instance(
        "dpbounds/noisy-descent-batches",
        "bound",
        _DESCENT,
        huber(ONE, ONE),
        f"20 steps on {_EQUAL}; the weighted iterate",
        descent,
        "records' gradients are charged with G in every step, and a sample's size is all that samples change here",
        squared=True,
        start=Fraction(3, 10),
    ),
    Instance(
        "dpbounds/storm/batches",
        "bound",
        _STORM,
        huber(ONE, ONE),
        f"40 steps on {_EQUAL}; the weighted iterate",
        storm,
        "a square of a sum is at most twice the sum of the squares; what is left of the estimate's error at the end",
        squared=True,
        start=Fraction(1, 10),
    ),
)
