"""The accounts of a certificate, read back; and inconsistencies between a calibration and its accounts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from dpbounds import documents
from dpbounds.errors import CertificateError, InvalidValue
from dpbounds.privacy.domination.composition import neighbour_classes
from dpbounds.privacy.mechanisms import Composed, Mechanism
from dpbounds.privacy.publishing import standalone_checker
from dpbounds.privacy.publishing.certificates.releases import mechanism_of
from dpbounds.privacy.relations import Relation, as_relation


@dataclass(frozen=True, slots=True)
class Claim:
    """One account, read back from a certificate."""

    mechanism: Mechanism
    relation: Relation
    given: str
    target: Fraction
    lower: Fraction
    upper: Fraction
    routes: Mapping[str, str]
    source: dict[str, Any]
    group_size: int = 1

    @property
    def high(self) -> tuple[Fraction, Fraction]:
        """(ε, δ) at the upper bound, where δ(ε) must be at most δ."""
        return (self.upper, self.target) if self.given == "delta" else (self.target, self.upper)

    @property
    def low(self) -> tuple[Fraction, Fraction]:
        """(ε, δ) at the lower bound, which δ(ε) must exceed unless that end is 0."""
        return (self.lower, self.target) if self.given == "delta" else (self.target, self.lower)


def claim_of(entry: Any) -> Claim:
    """Return an account of a document that is well formed; ``UnsupportedMechanism`` where it has no proven pair."""
    field = standalone_checker.field
    claim = standalone_checker.read_claim(entry)
    releases = map(standalone_checker.read_release, field(entry, "mechanism", list))
    parts = tuple((mechanism_of(release), release["count"]) for release in releases)
    routes = {field(proof, "order", str): field(proof, "route", str) for proof in field(entry, "proofs", list)}
    claim["relation"] = as_relation(claim["relation"])
    mechanism = Composed(parts)
    neighbour_classes(mechanism, claim["relation"])  # refuses what has no proven pair
    return Claim(mechanism, **claim, routes=routes, source=dict(entry))


def read_document(certificate: str | Path | Mapping[str, object]) -> dict[str, Any]:
    """Return the certificate as plain data; ``CertificateError`` where it is not a JSON object."""
    if isinstance(certificate, Mapping):
        return dict(certificate)
    try:
        document = documents.read_json(certificate, "certificate")
    except InvalidValue as reason:
        raise CertificateError(str(reason)) from None
    if not isinstance(document, dict):
        raise CertificateError(f"not a certificate: {documents.quoted(document)} instead of an object")
    return document


def calibration_faults(document: Mapping[str, object]) -> list[str]:
    """Describe inconsistencies of a calibration with its accounts (empty without a calibration)."""
    field = standalone_checker.field
    accounts, calibration = field(document, "accounts", list), field(document, "calibration", (dict, type(None)))
    if calibration is None:
        if len(accounts) != 1:
            raise standalone_checker.Malformed("a certificate without a calibration holds one account")
        return []
    claims = [standalone_checker.read_claim(entry) for entry in accounts]
    return standalone_checker.check_calibration(calibration, accounts, claims)


def all_attained(releases: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether the checker can show lower bounds; else 0 is claimed, as the attack behind one is not written."""
    return all(standalone_checker.is_attained(standalone_checker.read_release(each)) for each in releases)
