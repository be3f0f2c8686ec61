"""The certificate that a program re-checks.

It records a claim, the mechanism it is about, and how it was proven; its format is documented in
``certificate_format.md``. Checking believes none of the recorded enclosures: the dominating pairs are derived again,
the claim is compared with another route, and its two exact inequalities are evaluated by ``standalone_checker.py``,
which shares no code with the routes.
"""

from dpbounds.privacy.publishing.certificates.checking import CheckReport, check_certificate, releases_digest
from dpbounds.privacy.publishing.certificates.releases import release_of, why_no_certificate
from dpbounds.privacy.publishing.certificates.writing import (
    FORMAT,
    FORMAT_VERSION,
    account_of_group,
    certificate,
    certificate_text,
    write_certificate,
)
from dpbounds.privacy.publishing.numerals import exact_text
from dpbounds.privacy.publishing.publishable import demand_one_record, finite_ends, versions

__all__ = [
    "FORMAT",
    "FORMAT_VERSION",
    "CheckReport",
    "account_of_group",
    "certificate",
    "certificate_text",
    "check_certificate",
    "demand_one_record",
    "exact_text",
    "finite_ends",
    "release_of",
    "releases_digest",
    "versions",
    "why_no_certificate",
    "write_certificate",
]
