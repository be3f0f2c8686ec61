"""Frozen descriptions of mechanisms, and their algebra: sampled, composed, in parallel.

The accountants compute what they spend.

Noise is given per unit of the per-record bound C (``noise_multiplier``, ``radius``), and the neighbouring relation
supplies the factor: a record moves a sum by at most C when added or removed, by at most 2C when replaced. If the final
distance between two neighbouring answers is known, pass ``sensitivity`` as well; no factor is then applied.

A mechanism that is given by its guarantee only names the relation under which the guarantee holds.
"""

from typing import TYPE_CHECKING

from dpbounds.by_need import names_by_need

if TYPE_CHECKING:
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
        GaussianDP as GaussianDP,
        PermuteAndFlip as PermuteAndFlip,
        ProfileDP as ProfileDP,
        PureDP as PureDP,
        RandomizedResponse as RandomizedResponse,
        RenyiDP as RenyiDP,
    )
    from dpbounds.privacy.mechanisms.noises.bounded_support import (
        TruncatedDiscreteGaussian as TruncatedDiscreteGaussian,
        TruncatedDiscreteLaplace as TruncatedDiscreteLaplace,
    )
    from dpbounds.privacy.mechanisms.noises.gaussian import Gaussian as Gaussian
    from dpbounds.privacy.mechanisms.noises.laplace import Laplace as Laplace
    from dpbounds.privacy.mechanisms.noises.mixture import MixtureOfGaussians as MixtureOfGaussians
    from dpbounds.privacy.mechanisms.noises.shares import NoiseInShares as NoiseInShares
    from dpbounds.privacy.mechanisms.noises.skellam import Skellam as Skellam
    from dpbounds.privacy.mechanisms.noises.uniform_ball import UniformBall as UniformBall
    from dpbounds.privacy.mechanisms.noises.whole_numbers import (
        DiscreteGaussian as DiscreteGaussian,
        DiscreteLaplace as DiscreteLaplace,
    )
    from dpbounds.privacy.mechanisms.schemes.allocation import (
        BallsInBins as BallsInBins,
        RandomlyAllocated as RandomlyAllocated,
    )
    from dpbounds.privacy.mechanisms.schemes.by_user import PoissonByUser as PoissonByUser
    from dpbounds.privacy.mechanisms.schemes.fixed_size import (
        SampledWithoutReplacement as SampledWithoutReplacement,
        SampledWithReplacement as SampledWithReplacement,
    )
    from dpbounds.privacy.mechanisms.schemes.last_iterate import LastIterate as LastIterate
    from dpbounds.privacy.mechanisms.schemes.matrices import MatrixMechanism as MatrixMechanism
    from dpbounds.privacy.mechanisms.schemes.poisson import PoissonSampled as PoissonSampled
    from dpbounds.privacy.mechanisms.schemes.shuffled import Shuffled as Shuffled
    from dpbounds.privacy.mechanisms.schemes.truncated import TruncatedPoisson as TruncatedPoisson

__getattr__, __dir__, __all__ = names_by_need(__name__)
