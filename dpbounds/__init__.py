"""Certified privacy and utility bounds for differentially private non-convex optimisation.

>>> import dpbounds as dp
>>> training = dp.PoissonSampled(dp.Gaussian(noise_multiplier=1), sample_rate="0.01") ** 10_000
>>> dp.epsilon(training, delta="1e-6").less_than("6.9074")
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpbounds.by_need import names_by_need

if TYPE_CHECKING:
    from dpbounds.errors import (
        BudgetExceeded as BudgetExceeded,
        CertificateError as CertificateError,
        DpboundsError as DpboundsError,
        InvalidValue as InvalidValue,
        NotCertified as NotCertified,
        UnsupportedMechanism as UnsupportedMechanism,
    )
    from dpbounds.expressions.enclosure import Enclosure as Enclosure
    from dpbounds.privacy.accountants.attackers import (
        bayes_risk as bayes_risk,
        reconstruction_risk as reconstruction_risk,
        trade_off as trade_off,
        true_positive_rate as true_positive_rate,
    )
    from dpbounds.privacy.accountants.audits import ScoreAudit as ScoreAudit, audit_scores as audit_scores
    from dpbounds.privacy.accountants.certified import (
        Account as Account,
        account as account,
        delta as delta,
        delta_curve as delta_curve,
        epsilon as epsilon,
    )
    from dpbounds.privacy.accountants.convert import Conversion as Conversion, convert as convert
    from dpbounds.privacy.accountants.gaussian_dp import gdp_parameter as gdp_parameter
    from dpbounds.privacy.accountants.groups import group_account as group_account
    from dpbounds.privacy.accountants.numbers_of_runs import PoissonRuns as PoissonRuns, RandomRuns as RandomRuns
    from dpbounds.privacy.accountants.probable import (
        Probable as Probable,
        probable_delta as probable_delta,
        probable_epsilon as probable_epsilon,
    )
    from dpbounds.privacy.accountants.rounds import after_rounds as after_rounds
    from dpbounds.privacy.accountants.side_by_side import all_methods as all_methods, by_method as by_method
    from dpbounds.privacy.accountants.trade_off import (
        TradeOff as TradeOff,
        membership_advantage as membership_advantage,
    )
    from dpbounds.privacy.accountants.tuning import (
        tuned_enclosure as tuned_enclosure,
        tuned_epsilon as tuned_epsilon,
        tuned_guarantee as tuned_guarantee,
        tuned_pure as tuned_pure,
    )
    from dpbounds.privacy.budgets.attacker_targets import (
        AttackerCalibration as AttackerCalibration,
        calibrate_to_gdp as calibrate_to_gdp,
        calibrate_to_true_positive_rate as calibrate_to_true_positive_rate,
    )
    from dpbounds.privacy.budgets.ball_noise import BallDescent as BallDescent
    from dpbounds.privacy.budgets.batch_room import least_max_batch_size as least_max_batch_size
    from dpbounds.privacy.budgets.calibration import (
        Calibration as Calibration,
        calibrate as calibrate,
        hidden_constant as hidden_constant,
    )
    from dpbounds.privacy.budgets.filters import (
        GaussianFilter as GaussianFilter,
        Odometer as Odometer,
        RenyiFilter as RenyiFilter,
        ZCDPFilter as ZCDPFilter,
    )
    from dpbounds.privacy.budgets.prefix_sums import optimal_toeplitz as optimal_toeplitz, prefix_error as prefix_error
    from dpbounds.privacy.budgets.remaining import Remaining as Remaining, remaining as remaining
    from dpbounds.privacy.budgets.targets import (
        calibrate_to_curve as calibrate_to_curve,
        calibrate_to_total_variation as calibrate_to_total_variation,
        calibrate_to_zcdp as calibrate_to_zcdp,
    )
    from dpbounds.privacy.mechanisms import (
        ZCDP as ZCDP,
        AboveThreshold as AboveThreshold,
        ApproximateDP as ApproximateDP,
        BallsInBins as BallsInBins,
        Composed as Composed,
        DiscreteGaussian as DiscreteGaussian,
        DiscreteLaplace as DiscreteLaplace,
        ExponentialMechanism as ExponentialMechanism,
        Gaussian as Gaussian,
        GaussianDP as GaussianDP,
        InParallel as InParallel,
        Laplace as Laplace,
        LastIterate as LastIterate,
        MatrixMechanism as MatrixMechanism,
        Mechanism as Mechanism,
        MixtureOfGaussians as MixtureOfGaussians,
        NoiseInShares as NoiseInShares,
        PermuteAndFlip as PermuteAndFlip,
        PoissonByUser as PoissonByUser,
        PoissonSampled as PoissonSampled,
        ProfileDP as ProfileDP,
        PureDP as PureDP,
        RandomizedResponse as RandomizedResponse,
        RandomlyAllocated as RandomlyAllocated,
        RenyiDP as RenyiDP,
        SampledWithoutReplacement as SampledWithoutReplacement,
        SampledWithReplacement as SampledWithReplacement,
        Shuffled as Shuffled,
        Skellam as Skellam,
        TruncatedDiscreteGaussian as TruncatedDiscreteGaussian,
        TruncatedDiscreteLaplace as TruncatedDiscreteLaplace,
        TruncatedPoisson as TruncatedPoisson,
        UniformBall as UniformBall,
    )
    from dpbounds.privacy.mechanisms.noises.rounding import norm_on_grid as norm_on_grid
    from dpbounds.privacy.mechanisms.refusals import shuffled_epochs as shuffled_epochs
    from dpbounds.privacy.mechanisms.schemes.encoders import BinaryTree as BinaryTree, Toeplitz as Toeplitz
    from dpbounds.privacy.publishing.interoperability import (
        CertifiedAccountant as CertifiedAccountant,
        from_dp_event as from_dp_event,
        from_privacy_loss_distribution as from_privacy_loss_distribution,
        get_noise_multiplier as get_noise_multiplier,
        register_with_opacus as register_with_opacus,
        to_dp_event as to_dp_event,
        to_privacy_loss_distribution as to_privacy_loss_distribution,
    )
    from dpbounds.privacy.publishing.interoperability.privacy_accountant import (
        CertifiedPrivacyAccountant as CertifiedPrivacyAccountant,
    )
    from dpbounds.privacy.relations import Relation as Relation
    from dpbounds.rates.plan import plan as plan
    from dpbounds.theorems.record import Theorem as Theorem
    from dpbounds.theorems.registry import theorem as theorem
    from dpbounds.theorems.spending import spending as spending

__version__ = "0.2.0"

__getattr__, _, __all__ = names_by_need(__name__)  # `import dpbounds` costs next to nothing


def __dir__() -> list[str]:
    return sorted({*__all__, "__version__"})
