"""Frozen descriptions of mechanisms, and their algebra: sampled, composed, in parallel.

What they spend is decided elsewhere.

Noise is given per unit of the per-record bound C (``noise_multiplier``, ``radius``), and the neighbouring relation
supplies the factor: a record moves a sum by at most C when added or removed, by at most 2C when replaced. Whoever knows
the final distance between two neighbouring answers passes ``sensitivity`` as well, and no factor is applied.

What is known by its guarantee only (a black box) always says under which relation that guarantee holds.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpbounds.privacy.mechanisms.additive import Gaussian, Laplace, UniformBall
    from dpbounds.privacy.mechanisms.algebra import Composed, InParallel, Mechanism, parts_of
    from dpbounds.privacy.mechanisms.guarantees import (
        ZCDP,
        AboveThreshold,
        ApproximateDP,
        ExponentialMechanism,
        PureDP,
        RandomizedResponse,
        RenyiDP,
    )
    from dpbounds.privacy.mechanisms.sampling import PoissonSampled, SampledWithoutReplacement, SampledWithReplacement

__all__ = [
    "ZCDP",
    "AboveThreshold",
    "ApproximateDP",
    "Composed",
    "ExponentialMechanism",
    "Gaussian",
    "InParallel",
    "Laplace",
    "Mechanism",
    "PoissonSampled",
    "PureDP",
    "RandomizedResponse",
    "RenyiDP",
    "SampledWithReplacement",
    "SampledWithoutReplacement",
    "UniformBall",
    "parts_of",
]

_HOMES = {
    "additive": ("Gaussian", "Laplace", "UniformBall"),
    "algebra": ("Composed", "InParallel", "Mechanism", "parts_of"),
    "guarantees": (
        *("ZCDP", "AboveThreshold", "ApproximateDP", "ExponentialMechanism", "PureDP", "RandomizedResponse", "RenyiDP"),
    ),
    "sampling": ("PoissonSampled", "SampledWithReplacement", "SampledWithoutReplacement"),
}


def __getattr__(name: str) -> Any:
    """A mechanism, loaded when it is first asked for: a statement that adds noise needs no samples, no black box."""
    for home, names in _HOMES.items():
        if name in names:
            found = globals()[name] = getattr(import_module(f"{__name__}.{home}"), name)
            return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
