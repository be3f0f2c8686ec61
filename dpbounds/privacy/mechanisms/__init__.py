"""Frozen descriptions of mechanisms, and their algebra: sampled, composed, in parallel.

What they spend is decided elsewhere.

Noise is given per unit of the per-record bound C (``noise_multiplier``, ``radius``), and the neighbouring relation
supplies the factor: a record moves a sum by at most C when added or removed, by at most 2C when replaced. Whoever knows
the final distance between two neighbouring answers passes ``sensitivity`` as well, and no factor is applied.

What is known by its guarantee only (a black box) always says under which relation that guarantee holds.
"""

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
