"""Requirements on published results: one record, all orders, finite bounds; and the versions of the software."""

from __future__ import annotations

import platform
from fractions import Fraction
from importlib.metadata import PackageNotFoundError, version

import flint

from dpbounds.errors import CertificateError, demand
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.privacy.accountants.certified import Account
from dpbounds.privacy.budgets.calibration import Calibration


def finite_ends(enclosure: Enclosure) -> tuple[Fraction, Fraction]:
    """Return both bounds; raise ``CertificateError`` if one is infinite."""
    demand("enclosure", enclosure, Enclosure)
    lower, upper = enclosure.exact_lower, enclosure.exact_upper
    if isinstance(lower, float) or isinstance(upper, float):
        raise CertificateError(f"{enclosure} has an end at infinity: there is no guarantee to certify; add noise")
    return lower, upper


def versions() -> dict[str, str]:
    """Return the versions of the software that made a claim."""
    from dpbounds import __version__

    try:
        binding = version("python-flint")
    except PackageNotFoundError:
        binding = flint.__version__
    return {
        "dpbounds": __version__,
        "python-flint": binding,
        "FLINT": str(flint.__FLINT_VERSION__),
        "Python": platform.python_version(),
    }


def demand_all_orders(subject: Account | Calibration, what: str) -> None:
    """Refuse results for one order of neighbours, which promise no privacy."""
    demand("subject", subject, Account, Calibration)
    if isinstance(subject, Account) and subject.order is not None:
        raise CertificateError(
            f"no {what} for the order {subject.order} alone: differential privacy bounds both orders of neighbours; "
            "leave order out"
        )


def demand_one_record(subject: Account | Calibration, what: str) -> None:
    """Refuse results for groups of records, and for one order of neighbours."""
    demand_all_orders(subject, what)
    if subject.group_size > 1:
        raise CertificateError(
            f"no {what} for groups of {subject.group_size} records: it is about one record; publish a certificate"
        )
