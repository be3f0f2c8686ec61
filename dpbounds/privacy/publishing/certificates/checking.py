"""Check of certificates, by other methods than those that made them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from dpbounds.errors import CertificateError, DpboundsError, NotCertified
from dpbounds.privacy.accountants.certified import account_at
from dpbounds.privacy.accountants.groups import group_account
from dpbounds.privacy.domination.composition import neighbour_classes
from dpbounds.privacy.pairs.pairs import Product, SampledGaussians, ShiftedGaussians
from dpbounds.privacy.publishing import standalone_checker
from dpbounds.privacy.publishing.certificates.claims import (
    Claim,
    all_attained,
    calibration_faults,
    claim_of,
    read_document,
)
from dpbounds.privacy.publishing.certificates.other_routes import at_the_ends, by_other_route, order_of
from dpbounds.privacy.publishing.numerals import typed
from dpbounds.privacy.publishing.publishable import finite_ends
from dpbounds.privacy.values import Target

_Counts = tuple[Fraction, dict[tuple[Fraction, Fraction], int]]  # μ², and {(q, z²): count}
_ROUNDED = Fraction(1, 2**100)  # relative error of a squared shift


@dataclass(frozen=True, slots=True)
class CheckReport:
    """The result of checking a certificate; as text, the verdict comes first.

    Attributes:
        holds: Every claim was confirmed by means other than those recorded, and nothing contradicts it.
        lines: The result of a check: confirmed bounds with their relative width, contradictions, and bounds that stay
            open.
        claims: The claim of each account: role, relation, relation_in_words, given, target, lower, upper (exact, as
            text), releases (in words, one text for equal ones), digest (of the releases).
        assumptions: The checker's own list: what has to be true of a run for the claim to be about it.
        about: Claims and assumptions in words, line by line.
    """

    holds: bool
    lines: tuple[str, ...]
    claims: tuple[Mapping[str, object], ...] = ()
    assumptions: tuple[str, ...] = standalone_checker.ASSUMPTIONS
    about: tuple[str, ...] = ()

    @property
    def verdict(self) -> str:
        """The verdict in one line."""
        return "the certificate holds" if self.holds else "the certificate does NOT hold"

    def __str__(self) -> str:
        how = (f"  {line}" for line in self.lines)
        return "\n".join((self.verdict, *self.about, "how it was checked:", *how))


def check_certificate(certificate: str | Path | Mapping[str, object]) -> CheckReport:
    """Check a certificate, by other methods than those that made it.

    Args:
        certificate: A file, or the document itself.

    Returns:
        Whether it holds, with reasons line by line. It holds only where every claim was confirmed.

    Raises:
        CertificateError: It cannot be read, or is not a certificate of a known format.
    """
    document = read_document(certificate)
    try:
        version = standalone_checker.well_formed(document)
        about = standalone_checker.sheet(document)
        claims = [claim_of(entry) for entry in document["accounts"]]
        faults = calibration_faults(document) + standalone_checker.digest_faults(document["accounts"], version)
        outcomes = [_check_claim(claim) for claim in claims]
    except (standalone_checker.Malformed, DpboundsError) as reason:
        raise CertificateError(f"not a well-formed certificate: {reason}") from None
    lines = [f"CONTRADICTED: {fault}" for fault in faults]
    for claim, (_, found) in zip(claims, outcomes, strict=True):
        role = str(claim.source["role"])
        lines += [f"{role}: {line}" if len(claims) > 1 else line for line in found]
    if document["calibration"] is not None and not faults:
        lines.append("calibration: the value keeps the target and the one that fails exceeds it, if both accounts hold")
    holds = not faults and all(confirmed for confirmed, _ in outcomes)
    assumptions = standalone_checker.assumptions_of(version)
    return CheckReport(holds, tuple(lines), tuple(map(_as_data, claims)), assumptions, tuple(about))


def releases_digest(certificate: str | Path | Mapping[str, object]) -> str:
    """Return the digest of the releases that a certificate is about (of a calibration: with the value that suffices).

    It is computed from the releases, not read off. Errors as :func:`check_certificate`.
    """
    document = read_document(certificate)
    try:
        standalone_checker.well_formed(document)
        return standalone_checker.digest(document["accounts"][0]["mechanism"])
    except standalone_checker.Malformed as reason:
        raise CertificateError(f"not a well-formed certificate: {reason}") from None


def _as_data(claim: Claim) -> dict[str, object]:
    read = claim.source["claim"]
    return {
        "role": claim.source["role"],
        "relation": str(claim.relation),
        "relation_in_words": standalone_checker.relation_in_words(standalone_checker.read_claim(claim.source)),
        **{name: read[name] for name in ("given", "target", "lower", "upper")},
        "releases": [standalone_checker.release_in_words(release) for release in claim.source["mechanism"]],
        "digest": standalone_checker.digest(claim.source["mechanism"]),
    }


def _same(one: _Counts, other: _Counts) -> bool:
    """Return whether two derivations agree: the costs of last iterates are rounded up, each in its own way."""
    return one[1] == other[1] and abs(one[0] - other[0]) <= one[0] * _ROUNDED


def _check_drawn(claim: Claim) -> tuple[bool, list[str]]:
    """Check with the stand-alone checker; account anew for undecided claims and for the lower bound."""
    try:
        status, verdict, details, _ = standalone_checker.check_account(claim.source)
    except standalone_checker.NotCovered as reason:
        status, verdict, details = standalone_checker.NOT_COVERED, f"not covered ({reason})", []
    lines = [f"exact evaluation: {line}" for line in (*details, verdict)]
    if status == standalone_checker.CONFIRMED:
        return True, lines
    try:
        lower, upper = _accounted_anew(claim)
    except NotCertified as reason:
        return False, [*lines, f"NOT CONFIRMED: accounted anew: {reason}"]
    if lower > claim.upper:
        return False, [*lines, f"CONTRADICTED: accounted anew, the value is at least {typed(lower, 'down')}"]
    if upper > claim.upper or claim.lower > 0:
        return False, [*lines, "NOT CONFIRMED: accounted anew, the claim does not follow"]
    return True, [*lines, f"accounted anew by {claim.source['proofs'][0]['method']}: the claimed upper bound suffices"]


def _accounted_anew(claim: Claim) -> tuple[Fraction, Fraction]:
    target = Target("delta" if claim.given == "delta" else "epsilon", claim.target)
    if claim.group_size > 1:
        given: dict[str, Any] = {claim.given: claim.target, "relation": claim.relation}
        return finite_ends(group_account(claim.mechanism, claim.group_size, **given))
    return finite_ends(account_at(claim.mechanism, target, claim.relation).enclosure)


def _check_claim(claim: Claim) -> tuple[bool, list[str]]:
    releases = map(standalone_checker.read_release, claim.source["mechanism"])
    if claim.group_size > 1 or any(map(standalone_checker.is_drawn, releases)):
        return _check_drawn(claim)
    if claim.lower > 0 and not all_attained(claim.source["mechanism"]):
        return _check_attacked(claim)
    products = tuple(each.product for each in neighbour_classes(claim.mechanism, claim.relation).every())
    derived = {order_of(product): _as_counts(product) for product in products}
    try:
        again = {
            {"both": "both orders"}.get(order, order): (squared_shift, dict(sampled))
            for order, squared_shift, sampled in standalone_checker.products_of(
                claim.source["mechanism"], str(claim.relation)
            )
        }
        status, verdict, details, _ = standalone_checker.check_account(claim.source)
    except standalone_checker.OutOfReach as reason:
        return False, [f"NOT CONFIRMED: {reason}"]
    except standalone_checker.NotCovered as reason:
        again, status, verdict, details = derived, standalone_checker.NOT_COVERED, f"not covered ({reason})", []
    if set(derived) != set(again) or not all(_same(derived[order], again[order]) for order in derived):
        return False, ["CONTRADICTED: the two derivations of the dominating pairs differ"]
    if set(claim.routes) != set(derived):
        return False, [
            f"CONTRADICTED: the orders proven, {sorted(claim.routes)}, are not those needed, {sorted(derived)}"
        ]
    lines = [f"the dominating pairs follow from the mechanism and {claim.relation} (derived twice)"]
    refuted, exactly, found = by_other_route(claim, products)
    lines += found + [f"exact evaluation: {line}" for line in (*details, verdict)]
    if refuted or status == standalone_checker.WRONG:  # it does the recorded method again, if with other choices
        return False, lines
    if not exactly and status != standalone_checker.CONFIRMED:
        exactly, found = at_the_ends(claim, products)
        lines += found or ["NOT CONFIRMED: no other means could decide the claim's two inequalities"]
    return exactly or status == standalone_checker.CONFIRMED, lines


def _check_attacked(claim: Claim) -> tuple[bool, list[str]]:
    """Check both bounds separately: a dominating pair shows the upper one, and an attack, found anew, the lower one."""
    source = {**claim.source, "claim": {**claim.source["claim"], "lower": "0"}}
    holds, lines = _check_claim(replace(claim, lower=Fraction(0), source=source))
    try:
        lower, _ = _accounted_anew(claim)
    except NotCertified as reason:
        return False, [*lines, f"NOT CONFIRMED: accounted anew: {reason}"]
    word = (
        "an attack proves the lower bound"
        if lower >= claim.lower
        else "NOT CONFIRMED: no attack proves the lower bound"
    )
    return holds and lower >= claim.lower, [*lines, f"accounted anew: {word}, {typed(lower, 'down')} at least"]


def _as_counts(product: Product) -> _Counts:
    shift = sum((pair.squared_shift * n for pair, n in product if isinstance(pair, ShiftedGaussians)), Fraction(0))
    sampled = {(pair.sample_rate, pair.variance): n for pair, n in product if isinstance(pair, SampledGaussians)}
    return shift, sampled
