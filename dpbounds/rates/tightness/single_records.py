"""Descent on single records that pull in two directions, with noise in a ball. The proof is in instances.md."""

from __future__ import annotations

from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING

from dpbounds.errors import NotCertified
from dpbounds.expressions.backends import to_arb
from dpbounds.rates.tightness.instances import Instance, Values
from dpbounds.rates.tightness.losses import huber

if TYPE_CHECKING:
    from flint import arb

_SLOPE = Fraction(23, 100)  # where the mean's loss goes on linearly; the records' own slopes are as much less than G


def steps_of(at: Values) -> int:
    """Return the number of (0, δ)-private steps of the statement: unit intervals s apart have total variation s/2."""
    if at["dimension"] != 1 or at["batch_size"] != 1 or at["radius"] < at["lipschitz"]:
        raise NotCertified("the instance has one dimension, single records, and noise at least as long as a gradient")
    return floor(at["dataset_size"] * at["delta"] * at["radius"] / at["lipschitz"])


def descent(at: Values) -> arb:
    """E|∇F(w_R)|² at the best step size of the statement, R uniform."""
    steps, slope = steps_of(at), at["lipschitz"] - _SLOPE
    start, ball = 2 * at["smoothness"] * at["initial_gap"], at["radius"] ** 2 / 3
    planned = to_arb(at["lipschitz"] ** 2 + ball)
    rate = (2 * to_arb(at["smoothness"] * at["initial_gap"]) / (steps * planned)).sqrt()
    kept = (1 - rate) ** 2
    mean = (1 - kept**steps) / (steps * (1 - kept))
    settled = rate**2 / (1 - kept) * to_arb(slope**2 + ball)
    longest = to_arb(start).sqrt() + to_arb(slope + at["radius"])
    proxy = rate**2 / (1 - kept) * to_arb(slope**2 + at["radius"] ** 2)
    room = to_arb(_SLOPE) - to_arb(start).sqrt()
    if not room > 0:
        raise NotCertified("the instance begins outside of the set where its loss is quadratic")
    left = 2 * steps * (-(room**2) / (2 * proxy)).exp() * longest**2
    linear = to_arb(start) * mean + settled * (1 - mean)
    return (linear - left).union(linear + left)


_VALUES = {
    "smoothness": Fraction(1),
    "lipschitz": Fraction(1),
    "initial_gap": Fraction(8, 10_000),
    "dimension": Fraction(1),
    "dataset_size": Fraction(10**6),
    "batch_size": Fraction(1),
    "radius": Fraction(2),
    "delta": Fraction(1, 100),
}

INSTANCES = (
    Instance(
        "dpbounds/ball-noise-at-fixed-delta",
        "bound",
        _VALUES,
        huber(Fraction(1), _SLOPE, "0.23 G"),
        "20 000 steps on single records, half of which pull each way by 0.77; a random iterate",
        descent,
        "the risk's fall and the noise are charged twice as much as on a bowl; the number of steps is rounded down",
        squared=True,
        start=Fraction(4, 100),
    ),
)
