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
    from dpbounds.errors import BudgetExceeded as BudgetExceeded
    from dpbounds.errors import CertificateError as CertificateError
    from dpbounds.errors import DpboundsError as DpboundsError
    from dpbounds.errors import InvalidValue as InvalidValue
    from dpbounds.errors import NotCertified as NotCertified
    from dpbounds.errors import UnsupportedMechanism as UnsupportedMechanism
    from dpbounds.expressions.enclosure import Enclosure as Enclosure
    from dpbounds.privacy.accountants.certified import Account as Account
    from dpbounds.privacy.accountants.certified import account as account
    from dpbounds.privacy.accountants.certified import delta as delta
    from dpbounds.privacy.accountants.certified import delta_curve as delta_curve
    from dpbounds.privacy.accountants.certified import epsilon as epsilon
    from dpbounds.privacy.accountants.groups import group_account as group_account
    from dpbounds.privacy.accountants.side_by_side import all_methods as all_methods
    from dpbounds.privacy.accountants.side_by_side import by_method as by_method
    from dpbounds.privacy.accountants.trade_off import TradeOff as TradeOff
    from dpbounds.privacy.accountants.trade_off import membership_advantage as membership_advantage
    from dpbounds.privacy.accountants.tuning import RandomRuns as RandomRuns
    from dpbounds.privacy.accountants.tuning import tuned_epsilon as tuned_epsilon
    from dpbounds.privacy.accountants.tuning import tuned_pure as tuned_pure
    from dpbounds.privacy.budgets.ball_noise import BallDescent as BallDescent
    from dpbounds.privacy.budgets.calibration import Calibration as Calibration
    from dpbounds.privacy.budgets.calibration import calibrate as calibrate
    from dpbounds.privacy.budgets.calibration import hidden_constant as hidden_constant
    from dpbounds.privacy.budgets.filters import GaussianFilter as GaussianFilter
    from dpbounds.privacy.budgets.filters import Odometer as Odometer
    from dpbounds.privacy.budgets.filters import RenyiFilter as RenyiFilter
    from dpbounds.privacy.budgets.filters import ZCDPFilter as ZCDPFilter
    from dpbounds.privacy.budgets.remaining import Remaining as Remaining
    from dpbounds.privacy.budgets.remaining import remaining as remaining
    from dpbounds.privacy.budgets.targets import calibrate_to_curve as calibrate_to_curve
    from dpbounds.privacy.budgets.targets import calibrate_to_total_variation as calibrate_to_total_variation
    from dpbounds.privacy.budgets.targets import calibrate_to_zcdp as calibrate_to_zcdp
    from dpbounds.privacy.mechanisms import ZCDP as ZCDP
    from dpbounds.privacy.mechanisms import AboveThreshold as AboveThreshold
    from dpbounds.privacy.mechanisms import ApproximateDP as ApproximateDP
    from dpbounds.privacy.mechanisms import Composed as Composed
    from dpbounds.privacy.mechanisms import ExponentialMechanism as ExponentialMechanism
    from dpbounds.privacy.mechanisms import Gaussian as Gaussian
    from dpbounds.privacy.mechanisms import InParallel as InParallel
    from dpbounds.privacy.mechanisms import Laplace as Laplace
    from dpbounds.privacy.mechanisms import Mechanism as Mechanism
    from dpbounds.privacy.mechanisms import PoissonSampled as PoissonSampled
    from dpbounds.privacy.mechanisms import PureDP as PureDP
    from dpbounds.privacy.mechanisms import RandomizedResponse as RandomizedResponse
    from dpbounds.privacy.mechanisms import RenyiDP as RenyiDP
    from dpbounds.privacy.mechanisms import SampledWithoutReplacement as SampledWithoutReplacement
    from dpbounds.privacy.mechanisms import SampledWithReplacement as SampledWithReplacement
    from dpbounds.privacy.mechanisms import UniformBall as UniformBall
    from dpbounds.privacy.mechanisms.refusals import shuffled_epochs as shuffled_epochs
    from dpbounds.privacy.publishing.interoperability import CertifiedAccountant as CertifiedAccountant
    from dpbounds.privacy.publishing.interoperability import from_dp_event as from_dp_event
    from dpbounds.privacy.publishing.interoperability import get_noise_multiplier as get_noise_multiplier
    from dpbounds.privacy.publishing.interoperability import register_with_opacus as register_with_opacus
    from dpbounds.privacy.publishing.interoperability import to_dp_event as to_dp_event
    from dpbounds.privacy.relations import Relation as Relation
    from dpbounds.rates.plan import plan as plan
    from dpbounds.theorems.record import Theorem as Theorem
    from dpbounds.theorems.registry import theorem as theorem
    from dpbounds.theorems.spending import spending as spending

__version__ = "0.1.0"

# Module -> names. Loaded on first use, so that `import dpbounds` costs next to nothing.
_NAMES = {
    "errors": (
        "BudgetExceeded",
        "CertificateError",
        "DpboundsError",
        "InvalidValue",
        "NotCertified",
        "UnsupportedMechanism",
    ),
    "expressions.enclosure": ("Enclosure",),
    "privacy.relations": ("Relation",),
    "privacy.mechanisms": (
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
        "ZCDP",
    ),
    "privacy.accountants.certified": ("Account", "account", "delta", "delta_curve", "epsilon"),
    "privacy.accountants.groups": ("group_account",),
    "privacy.accountants.side_by_side": ("all_methods", "by_method"),
    "privacy.budgets.targets": ("calibrate_to_curve", "calibrate_to_total_variation", "calibrate_to_zcdp"),
    "privacy.accountants.tuning": ("RandomRuns", "tuned_epsilon", "tuned_pure"),
    "privacy.publishing.interoperability": (
        "from_dp_event",
        "to_dp_event",
        "CertifiedAccountant",
        "get_noise_multiplier",
        "register_with_opacus",
    ),
    "privacy.budgets.calibration": ("Calibration", "calibrate", "hidden_constant"),
    "privacy.budgets.remaining": ("Remaining", "remaining"),
    "privacy.budgets.filters": ("GaussianFilter", "Odometer", "RenyiFilter", "ZCDPFilter"),
    "privacy.accountants.trade_off": ("TradeOff", "membership_advantage"),
    "privacy.budgets.ball_noise": ("BallDescent",),
    "privacy.mechanisms.refusals": ("shuffled_epochs",),
    "theorems.record": ("Theorem",),
    "theorems.registry": ("theorem",),
    "theorems.spending": ("spending",),
    "rates.plan": ("plan",),
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'dpbounds' has no attribute {name!r}")
    value = getattr(import_module(f"dpbounds.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, "__version__"})
