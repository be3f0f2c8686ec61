"""Frank-Wolfe steps on a linear risk over a segment: which end is chosen does not depend on the place."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from dpbounds.expressions.backends import to_arb
from dpbounds.rates.tightness.instances import Instance, Values
from dpbounds.rates.tightness.losses import cone

if TYPE_CHECKING:
    from flint import arb


def _mean_gap(at: Values, slope: Fraction, length: Fraction, wrong: arb) -> arb:
    """Over t < T, from the bad end.

    The mean distance from the good end becomes 1-γ times it, and γ times the length more if the wrong end was chosen.
    """
    fraction, steps = to_arb(at["step_fraction"]), int(at["steps"])
    rest = wrong * to_arb(length)
    kept = (1 - (1 - fraction) ** steps) / (fraction * steps)
    return to_arb(slope) * (rest + (to_arb(length) - rest) * kept)


def with_gaussian_noise(at: Values) -> arb:
    """The wrong end is chosen where the noise is more than the slope."""
    slope, noise = to_arb(at["lipschitz"]), to_arb(at["noise_stddev"])
    return _mean_gap(at, at["lipschitz"], at["diameter"], (slope / noise / to_arb(Fraction(2)).sqrt()).erfc() / 2)


def with_choices(at: Values) -> arb:
    """The exponential mechanism with factor ε₀n/(4G₁C₁) chooses among two ends."""
    spread = at["lipschitz_l1"] * at["l1_diameter"]
    factor = at["step_epsilon"] * at["dataset_size"] / (4 * at["lipschitz_l1"] * at["l1_norm_bound"])
    return _mean_gap(at, at["lipschitz_l1"], at["l1_diameter"], 1 / (1 + to_arb(factor * spread).exp()))


_ONE, _TWO = Fraction(1), Fraction(2)
_RUN = {"initial_gap": _TWO, "steps": Fraction(100), "step_fraction": Fraction(1, 50)}
_GAUSSIAN = _RUN | {
    "lipschitz": _ONE,
    "smoothness": Fraction(1, 10),
    "diameter": _TWO,
    "noise_stddev": Fraction(3, 10),
    "gaussian_width": Fraction(797885, 10**6),  # √(2/π), rounded up
}
_CHOICES = _RUN | {
    "lipschitz_l1": _ONE,
    "smoothness_l1": Fraction(1, 10),
    "l1_diameter": _TWO,
    "l1_norm_bound": _ONE,
    "candidates": _TWO,
    "dataset_size": Fraction(1000),
    "step_epsilon": Fraction(1, 100),
}
_GAP = "noise as large in every step as where it does most harm; the curvature, which a linear risk lacks"

INSTANCES = (
    Instance(
        "wang-xu-2019/theorem-4/explicit",
        "bound",
        _GAUSSIAN,
        cone(_ONE),
        "100 steps on a segment",
        with_gaussian_noise,
        _GAP,
        start=_TWO,
        reach=_TWO,
    ),
    Instance(
        "wang-xu-2019/theorem-6/explicit",
        "bound",
        _CHOICES,
        cone(_ONE),
        "100 steps on a segment",
        with_choices,
        _GAP,
        start=_TWO,
        reach=_TWO,
    ),
)
