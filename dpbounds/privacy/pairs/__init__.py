"""Pairs of distributions that dominate a mechanism, and the distribution of their privacy loss."""

from typing import TYPE_CHECKING

from dpbounds.by_need import names_by_need

if TYPE_CHECKING:  # listed here, a pair costs nothing where it is not used: the files of mechanisms name many
    from dpbounds.privacy.pairs import (
        bounded_support as bounded_support,
        crowds as crowds,
        shuffled_reports as shuffled_reports,
        skellam as skellam,
        truncation as truncation,
    )
    from dpbounds.privacy.pairs.bounded_support import (
        ShiftedTruncatedNoise as ShiftedTruncatedNoise,
        truncated_noises as truncated_noises,
    )
    from dpbounds.privacy.pairs.discrete_gaussian_sums import (
        ShiftedSumsOfDiscreteGaussians as ShiftedSumsOfDiscreteGaussians,
        closeness as closeness,
        sum_is_listed as sum_is_listed,
    )
    from dpbounds.privacy.pairs.gaussian import together as together
    from dpbounds.privacy.pairs.gaussian_mixtures import mixed as mixed
    from dpbounds.privacy.pairs.pairs import (
        Allocated as Allocated,
        AllocatedTo as AllocatedTo,
        BoundedRangeProfile as BoundedRangeProfile,
        Combined as Combined,
        CrowdedGaussians as CrowdedGaussians,
        Diluted as Diluted,
        Direction as Direction,
        DiscreteGaussianVectors as DiscreteGaussianVectors,
        DrawnGaussians as DrawnGaussians,
        Draws as Draws,
        FourPoints as FourPoints,
        MixedGaussians as MixedGaussians,
        OpposedGaussians as OpposedGaussians,
        Other as Other,
        Pair as Pair,
        Product as Product,
        ProfilePoints as ProfilePoints,
        RenyiProfile as RenyiProfile,
        ReplacedGaussians as ReplacedGaussians,
        ReplacedGroup as ReplacedGroup,
        Responses as Responses,
        Sampled as Sampled,
        SampledBalls as SampledBalls,
        SampledGaussians as SampledGaussians,
        SampledLaplaces as SampledLaplaces,
        ShiftedDiscreteGaussians as ShiftedDiscreteGaussians,
        ShiftedDiscreteLaplaces as ShiftedDiscreteLaplaces,
        ShiftedGaussians as ShiftedGaussians,
        ShiftedLaplaces as ShiftedLaplaces,
        ShuffledBatches as ShuffledBatches,
        Tagged as Tagged,
        TaggedGaussians as TaggedGaussians,
        TwoGuarantees as TwoGuarantees,
        TwoPoints as TwoPoints,
        TwoResponses as TwoResponses,
        UniformBalls as UniformBalls,
        Zeroed as Zeroed,
        are_listed as are_listed,
        discrete_laplaces as discrete_laplaces,
        enlarged as enlarged,
    )
    from dpbounds.privacy.pairs.shuffled_reports import (
        CountedAnswers as CountedAnswers,
        CountedBits as CountedBits,
        ShuffledReports as ShuffledReports,
    )
    from dpbounds.privacy.pairs.skellam import ShiftedSkellams as ShiftedSkellams
    from dpbounds.privacy.pairs.step_bounds import StepBound as StepBound

__getattr__, __dir__, __all__ = names_by_need(__name__)
