"""Certified privacy and utility bounds for differentially private non-convex optimisation.

>>> import dpbounds as dp
>>> training = dp.PoissonSampled(dp.Gaussian(noise_multiplier=1), sample_rate="0.01") ** 10_000
>>> dp.epsilon(training, delta="1e-6").less_than("6.9074")
True
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpbounds.errors import (
        BudgetExceeded,
        CertificateError,
        DpboundsError,
        InvalidValue,
        NotCertified,
        UnsupportedMechanism,
    )
    from dpbounds.expressions.enclosure import Enclosure
    from dpbounds.privacy.accountants.certified import Account, account, delta, delta_curve, epsilon
    from dpbounds.privacy.accountants.groups import group_account
    from dpbounds.privacy.accountants.side_by_side import all_methods, by_method
    from dpbounds.privacy.accountants.trade_off import TradeOff, membership_advantage
    from dpbounds.privacy.accountants.tuning import RandomRuns, tuned_epsilon, tuned_pure
    from dpbounds.privacy.budgets.ball_noise import BallDescent
    from dpbounds.privacy.budgets.calibration import Calibration, calibrate, hidden_constant
    from dpbounds.privacy.budgets.filters import GaussianFilter, Odometer, RenyiFilter, ZCDPFilter
    from dpbounds.privacy.budgets.remaining import Remaining, remaining
    from dpbounds.privacy.budgets.targets import calibrate_to_curve, calibrate_to_total_variation, calibrate_to_zcdp
    from dpbounds.privacy.mechanisms import (
        ZCDP,
        AboveThreshold,
        ApproximateDP,
        Composed,
        ExponentialMechanism,
        Gaussian,
        InParallel,
        Laplace,
        Mechanism,
        PoissonSampled,
        PureDP,
        RandomizedResponse,
        RenyiDP,
        SampledWithoutReplacement,
        SampledWithReplacement,
        UniformBall,
    )
    from dpbounds.privacy.mechanisms.refusals import shuffled_epochs
    from dpbounds.privacy.publishing.interoperability import (
        CertifiedAccountant,
        from_dp_event,
        get_noise_multiplier,
        register_with_opacus,
        to_dp_event,
    )
    from dpbounds.privacy.relations import Relation
    from dpbounds.rates.plan import plan
    from dpbounds.theorems.record import Theorem
    from dpbounds.theorems.registry import theorem
    from dpbounds.theorems.spending import spending

__version__ = "0.1.0"

# Name -> module. Loaded on first use, so that `import dpbounds` costs next to nothing.
_HOMES = {
    "BudgetExceeded": "errors",
    "CertificateError": "errors",
    "DpboundsError": "errors",
    "InvalidValue": "errors",
    "NotCertified": "errors",
    "UnsupportedMechanism": "errors",
    "Enclosure": "expressions.enclosure",
    "Relation": "privacy.relations",
    "AboveThreshold": "privacy.mechanisms",
    "ApproximateDP": "privacy.mechanisms",
    "Composed": "privacy.mechanisms",
    "ExponentialMechanism": "privacy.mechanisms",
    "Gaussian": "privacy.mechanisms",
    "InParallel": "privacy.mechanisms",
    "Laplace": "privacy.mechanisms",
    "Mechanism": "privacy.mechanisms",
    "PoissonSampled": "privacy.mechanisms",
    "PureDP": "privacy.mechanisms",
    "RandomizedResponse": "privacy.mechanisms",
    "RenyiDP": "privacy.mechanisms",
    "SampledWithReplacement": "privacy.mechanisms",
    "SampledWithoutReplacement": "privacy.mechanisms",
    "UniformBall": "privacy.mechanisms",
    "ZCDP": "privacy.mechanisms",
    "Account": "privacy.accountants.certified",
    "account": "privacy.accountants.certified",
    "delta": "privacy.accountants.certified",
    "delta_curve": "privacy.accountants.certified",
    "epsilon": "privacy.accountants.certified",
    "group_account": "privacy.accountants.groups",
    "all_methods": "privacy.accountants.side_by_side",
    "by_method": "privacy.accountants.side_by_side",
    "calibrate_to_curve": "privacy.budgets.targets",
    "calibrate_to_total_variation": "privacy.budgets.targets",
    "calibrate_to_zcdp": "privacy.budgets.targets",
    "RandomRuns": "privacy.accountants.tuning",
    "tuned_epsilon": "privacy.accountants.tuning",
    "tuned_pure": "privacy.accountants.tuning",
    "from_dp_event": "privacy.publishing.interoperability",
    "to_dp_event": "privacy.publishing.interoperability",
    "CertifiedAccountant": "privacy.publishing.interoperability",
    "Calibration": "privacy.budgets.calibration",
    "calibrate": "privacy.budgets.calibration",
    "hidden_constant": "privacy.budgets.calibration",
    "Remaining": "privacy.budgets.remaining",
    "remaining": "privacy.budgets.remaining",
    "GaussianFilter": "privacy.budgets.filters",
    "Odometer": "privacy.budgets.filters",
    "RenyiFilter": "privacy.budgets.filters",
    "ZCDPFilter": "privacy.budgets.filters",
    "TradeOff": "privacy.accountants.trade_off",
    "membership_advantage": "privacy.accountants.trade_off",
    "BallDescent": "privacy.budgets.ball_noise",
    "shuffled_epochs": "privacy.mechanisms.refusals",
    "get_noise_multiplier": "privacy.publishing.interoperability",
    "register_with_opacus": "privacy.publishing.interoperability",
    "Theorem": "theorems.record",
    "theorem": "theorems.registry",
    "spending": "theorems.spending",
    "plan": "rates.plan",
}

__all__ = [
    "ZCDP",
    "AboveThreshold",
    "Account",
    "ApproximateDP",
    "BallDescent",
    "BudgetExceeded",
    "Calibration",
    "CertificateError",
    "CertifiedAccountant",
    "Composed",
    "DpboundsError",
    "Enclosure",
    "ExponentialMechanism",
    "Gaussian",
    "GaussianFilter",
    "InParallel",
    "InvalidValue",
    "Laplace",
    "Mechanism",
    "NotCertified",
    "Odometer",
    "PoissonSampled",
    "PureDP",
    "RandomRuns",
    "RandomizedResponse",
    "Relation",
    "Remaining",
    "RenyiDP",
    "RenyiFilter",
    "SampledWithReplacement",
    "SampledWithoutReplacement",
    "Theorem",
    "TradeOff",
    "UniformBall",
    "UnsupportedMechanism",
    "ZCDPFilter",
    "account",
    "all_methods",
    "by_method",
    "calibrate",
    "calibrate_to_curve",
    "calibrate_to_total_variation",
    "calibrate_to_zcdp",
    "delta",
    "delta_curve",
    "epsilon",
    "from_dp_event",
    "get_noise_multiplier",
    "group_account",
    "hidden_constant",
    "membership_advantage",
    "plan",
    "register_with_opacus",
    "remaining",
    "shuffled_epochs",
    "spending",
    "theorem",
    "to_dp_event",
    "tuned_epsilon",
    "tuned_pure",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'dpbounds' has no attribute {name!r}")
    value = getattr(import_module(f"dpbounds.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, "__version__"})
