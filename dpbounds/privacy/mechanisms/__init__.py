"""Frozen descriptions of mechanisms, and their algebra: sampled, composed, in parallel.

What they spend is decided elsewhere.

Noise is given per unit of the per-record bound C (``noise_multiplier``, ``radius``), and the neighbouring relation
supplies the factor: a record moves a sum by at most C when added or removed, by at most 2C when replaced. Whoever knows
the final distance between two neighbouring answers passes ``sensitivity`` as well, and no factor is applied.

What is known by its guarantee only (a black box) always says under which relation that guarantee holds.
"""

from typing import TYPE_CHECKING

from dpbounds.by_need import names_by_need

if TYPE_CHECKING:
    from dpbounds.privacy.mechanisms.additive import (
        Gaussian as Gaussian,
        Laplace as Laplace,
        UniformBall as UniformBall,
    )
    from dpbounds.privacy.mechanisms.core import (
        Composed as Composed,
        InParallel as InParallel,
        Mechanism as Mechanism,
        parts_of as parts_of,
    )
    from dpbounds.privacy.mechanisms.guarantees import (
        ZCDP as ZCDP,
        AboveThreshold as AboveThreshold,
        ApproximateDP as ApproximateDP,
        ExponentialMechanism as ExponentialMechanism,
        PermuteAndFlip as PermuteAndFlip,
        PureDP as PureDP,
        RandomizedResponse as RandomizedResponse,
        RenyiDP as RenyiDP,
    )
    from dpbounds.privacy.mechanisms.last_iterate import LastIterate as LastIterate
    from dpbounds.privacy.mechanisms.matrices import MatrixMechanism as MatrixMechanism
    from dpbounds.privacy.mechanisms.mixtures import MixtureOfGaussians as MixtureOfGaussians
    from dpbounds.privacy.mechanisms.sampling import (
        BallsInBins as BallsInBins,
        PoissonSampled as PoissonSampled,
        RandomlyAllocated as RandomlyAllocated,
        SampledWithoutReplacement as SampledWithoutReplacement,
        SampledWithReplacement as SampledWithReplacement,
        Shuffled as Shuffled,
        TruncatedPoisson as TruncatedPoisson,
    )
    from dpbounds.privacy.mechanisms.whole_numbers import (
        DiscreteGaussian as DiscreteGaussian,
        DiscreteLaplace as DiscreteLaplace,
    )

__getattr__, __dir__, __all__ = names_by_need(__name__)
