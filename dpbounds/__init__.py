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
    from dpbounds.privacy.accountants import Account, account, delta, epsilon
    from dpbounds.privacy.calibration import Calibration, calibrate, hidden_constant
    from dpbounds.privacy.interoperability import get_noise_multiplier
    from dpbounds.privacy.mechanisms import Composed, Gaussian, Mechanism, PoissonSampled
    from dpbounds.privacy.relations import Relation

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
    "Account": "privacy.accountants",
    "account": "privacy.accountants",
    "delta": "privacy.accountants",
    "epsilon": "privacy.accountants",
    "Calibration": "privacy.calibration",
    "calibrate": "privacy.calibration",
    "hidden_constant": "privacy.calibration",
    "get_noise_multiplier": "privacy.interoperability",
    "Composed": "privacy.mechanisms",
    "Gaussian": "privacy.mechanisms",
    "Mechanism": "privacy.mechanisms",
    "PoissonSampled": "privacy.mechanisms",
    "Relation": "privacy.relations",
}

__all__ = [
    "Account",
    "BudgetExceeded",
    "Calibration",
    "CertificateError",
    "Composed",
    "DpboundsError",
    "Enclosure",
    "Gaussian",
    "InvalidValue",
    "Mechanism",
    "NotCertified",
    "PoissonSampled",
    "Relation",
    "UnsupportedMechanism",
    "account",
    "calibrate",
    "delta",
    "epsilon",
    "get_noise_multiplier",
    "hidden_constant",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'dpbounds' has no attribute {name!r}")
    value = getattr(import_module(f"dpbounds.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
