"""The parameter that a search varies: its range, its nearest values, and the direction in which less is spent.

Searches use y, the logarithm of the parameter, signed so that a larger y spends less (``pairs.md``, section 7).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Literal

from dpbounds.errors import InvalidValue

Solve = Literal["noise", "steps", "sample-rate", "batches"]
WHOLE = ("steps", "batches")
PROBES: dict[Solve, Fraction] = {  # typical values at which the kind of a mechanism is determined
    "noise": Fraction(1),
    "steps": Fraction(1),
    "sample-rate": Fraction(1, 2),
    "batches": Fraction(2),
}
_LARGEST, _SMALLEST = 2.0**60, 2.0**-60
RANGES: dict[Solve, tuple[float, float, float]] = {  # y: start, least and largest value of a search
    "noise": (0.0, math.log(_SMALLEST), math.log(_LARGEST)),
    "steps": (-math.log(64.0), -math.log(_LARGEST), 0.0),
    "sample-rate": (math.log(64.0), 0.0, -math.log(_SMALLEST)),
    "batches": (math.log(64.0), 0.0, math.log(_LARGEST)),
}


def log_of_safety(value: Fraction | float, solve: Solve) -> float:
    """Return y: the logarithm of a parameter, signed so that a larger y spends less."""
    return math.log(value) if solve in ("noise", "batches") else -math.log(value)


def parameter_at(y: float, solve: Solve) -> Fraction:
    """Return the nearest parameter: a double, a whole number of steps or batches, a rate of at most 1."""
    parameter = math.exp(y if solve in ("noise", "batches") else -y)
    if solve in WHOLE:
        return Fraction(max(1, round(parameter)))
    return Fraction(min(parameter, 1.0) if solve == "sample-rate" else parameter)


def one_step_is_too_much(epsilon: Fraction) -> InvalidValue:
    """Return the error for a budget that not even a single step satisfies."""
    return InvalidValue("target_epsilon", float(epsilon), "larger: one step already spends more", "add noise")
