"""The check of a kernel certificate: its masses are computed again, its integers are left to the proven checker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import zip_longest
from pathlib import Path
from typing import Any

from dpbounds import documents
from dpbounds.errors import CertificateError, DpboundsError, InvalidValue
from dpbounds.privacy.domination.composition import NeighbourClass, neighbour_classes
from dpbounds.privacy.mechanisms import Composed
from dpbounds.privacy.proofs import Declined
from dpbounds.privacy.publishing import standalone_checker
from dpbounds.privacy.publishing.certificates.releases import mechanism_of
from dpbounds.privacy.publishing.kernel.composing import Binary, Kind
from dpbounds.privacy.publishing.kernel.files import KernelCertificate, KernelClaim, read
from dpbounds.privacy.publishing.kernel.masses import Lattices, exponential_below, kinds_of, parts_of
from dpbounds.privacy.publishing.kernel.program import demand_tools, run_checker
from dpbounds.privacy.publishing.kernel.writing import claim_name
from dpbounds.privacy.publishing.numerals import exact_text, typed
from dpbounds.privacy.relations import Relation, as_relation
from dpbounds.privacy.routes.allocation.discrete_pairs import Grid
from dpbounds.privacy.routes.allocation.tuning import Fineness

_field = standalone_checker.field
_MOST_MARKS = 100_000
_MOST_PRECISION = 100_000


@dataclass(frozen=True, slots=True)
class KernelReport:
    """The result of checking a kernel certificate.

    Attributes:
        holds: Every claim was accepted, and its masses dominate.
        claims: One entry: ε, δ, the relation, the releases in words, their digest.
        lines: The findings, and what each of them rests on.
        assumptions: What has to be true of a run for the claim to be about it.
    """

    holds: bool
    claims: tuple[Mapping[str, Any], ...]
    lines: tuple[str, ...]
    assumptions: tuple[str, ...]

    @property
    def about(self) -> tuple[str, ...]:
        """Claim and assumptions in words, line by line."""
        (claim,) = self.claims
        epsilon, delta = _decimal(claim["epsilon"]), _decimal(claim["delta"])
        return (
            f"claim: epsilon = {epsilon} at delta = {delta} ({claim['relation']})",
            *(f"  mechanism: {release}" for release in claim["releases"]),
            f"  digest of the releases: {claim['digest']}",
            "assumptions, which a certificate cannot prove and you have to confirm:",
            *(f"  {number}. {text}" for number, text in enumerate(self.assumptions, 1)),
        )

    @property
    def verdict(self) -> str:
        """The verdict in one line."""
        return "the kernel certificate holds" if self.holds else "the kernel certificate does NOT hold"

    def __str__(self) -> str:
        how = (f"  {line}" for line in self.lines)
        return "\n".join((self.verdict, *self.about, "how it was checked:", *how))


@dataclass(frozen=True, slots=True)
class _Words:
    """The second line of a certificate, read."""

    relation: Relation
    releases: list[dict[str, Any]]
    epsilon: Fraction
    delta: Fraction
    classes: list[dict[str, Any]]


def check_kernel_certificate(path: str | Path) -> KernelReport:
    """Check a kernel certificate.

    The masses of one step are computed again, in ball arithmetic, and must not exceed those in the file. A checker that
    Coq has proven computes the composition and δ.

    Raises:
        CertificateError: It cannot be read, or is not a kernel certificate.
        MissingTools: The checker cannot be built here.
    """
    try:
        certificate = read(documents.read_text(path, "certificate"))
    except InvalidValue as reason:
        raise CertificateError(str(reason)) from None
    demand_tools()
    words, classes = _words_and_classes(certificate)
    faults = contradictions(certificate)
    verdict = run_checker(certificate)
    allocated = any(each.get("grid") for each in words.classes)
    lines = [
        *(f"CONTRADICTED: {fault}" for fault in faults),
        *verdict.lines,
        "δ of the product of the pairs, with composition and rounding: proven in Coq (Kernel_certificate), computed by "
        "the extracted checker",
        "that the product dominates the run: proven in Coq for finitely many outputs, on paper for others (pairs.md)",
        f"the masses of one step: {'see above' if faults else 'computed again in ball arithmetic (Arb)'}",
        *(
            ["the pairs of allocated steps: computed again in balls and doubles (bounded rounding)"]
            if allocated
            else []
        ),
        *(f"the pairs of class {each.name}: {text}" for each in classes for text in _derivations(each)),
        "trusted besides: Coq and its extraction, the OCaml compiler, Zarith, GMP, the reader main.ml, Python, Arb",
    ]
    version = max(standalone_checker.version_of(each) for each in words.releases)
    claim = {
        "relation": str(words.relation),
        "epsilon": exact_text(words.epsilon),
        "delta": exact_text(words.delta),
        "releases": [standalone_checker.release_in_words(each) for each in certificate.about["releases"]],
        "digest": standalone_checker.digest(certificate.about["releases"]),
    }
    holds = not faults and verdict.accepted
    return KernelReport(holds, (claim,), tuple(lines), standalone_checker.assumptions_of(version))


def contradictions(certificate: KernelCertificate) -> list[str]:
    """Return why the integers do not stand for the run; empty where they do.

    The masses of one step are computed again and must not exceed those of the certificate. The composition and δ are
    left to the proven checker.

    Raises:
        CertificateError: The certificate is not well-formed.
    """
    words, classes = _words_and_classes(certificate)
    try:
        return _faults(certificate, words, classes)
    except (standalone_checker.Malformed, DpboundsError) as reason:
        raise _malformed(reason) from None


def _words_and_classes(certificate: KernelCertificate) -> tuple[_Words, list[NeighbourClass]]:
    try:
        words = _words(certificate.about)
        mechanism = Composed(tuple((mechanism_of(each), each["count"]) for each in words.releases))
        return words, list(neighbour_classes(mechanism, words.relation).every())
    except (standalone_checker.Malformed, DpboundsError) as reason:
        raise _malformed(reason) from None


def _malformed(reason: Exception) -> CertificateError:
    return CertificateError(f"not a well-formed kernel certificate: {reason}")


def _decimal(text: str) -> str:
    return typed(standalone_checker.rational(text), "up")


def _derivations(each: NeighbourClass) -> list[str]:
    return list(dict.fromkeys(pair.proof for pair, _ in each.product))


def _words(about: Mapping[str, Any]) -> _Words:
    found = dict(about)
    releases = [standalone_checker.read_release(each) for each in _field(found, "releases", list)]
    if not releases:
        raise CertificateError("there must be at least one release")
    return _Words(
        as_relation(_field(found, "relation", str)),
        releases,
        standalone_checker.rational(found.get("epsilon"), 0),
        standalone_checker.rational(found.get("delta"), 0),
        _field(found, "classes", list),
    )


def _faults(certificate: KernelCertificate, words: _Words, classes: list[NeighbourClass]) -> list[str]:
    """Return what does not fit together; empty where the integers stand for the run."""
    found = []
    if certificate.about.get("digest") != standalone_checker.digest(certificate.about["releases"]):
        found.append("the digest is not that of the releases")
    names = [claim_name(each.name) for each in classes]
    if names != [claim.name for claim in certificate.claims] or len(words.classes) != len(classes):
        return [*found, f"the claims must be about the classes {', '.join(names)}, in this order"]
    for each, claim, lattices in zip(classes, certificate.claims, words.classes, strict=True):
        found += [f"{claim.name}: {fault}" for fault in _faults_of(each, claim, lattices, words)]
    return found


def _faults_of(each: NeighbourClass, claim: KernelClaim, lattices: dict[str, Any], words: _Words) -> list[str]:
    if not isinstance(lattices, dict):
        raise CertificateError("each class must be an object")
    grid = _grid(lattices.get("grid"))
    parts = parts_of(each.product, grid)
    on = _lattices(lattices)
    if not len(parts) == len(on.offsets) == len(on.marks) == len(claim.kinds):
        return [f"there are {len(parts)} kinds of steps, not {len(claim.kinds)}"]
    found = []
    if _fraction(claim.threshold) > _fraction(exponential_below(words.epsilon)):
        found.append("the threshold exceeds e^epsilon")
    if _fraction(claim.delta) > words.delta:
        found.append("the delta of the claim exceeds that of the certificate")
    if _fraction(claim.factor) > _fraction(exponential_below(-on.spacing)):
        found.append("the factor exceeds e^-spacing")
    try:
        kinds = kinds_of(parts, on, claim.bits)
    except Declined as reason:
        return [*found, f"its masses are not proven ({reason})"]
    for number, (known, given) in enumerate(zip(kinds, claim.kinds, strict=True), 1):
        found += [f"kind {number}: {fault}" for fault in _compared(known, given)]
    return found


def _compared(known: Kind, given: Kind) -> list[str]:
    found = []
    if given.count < known.count:
        found.append(f"there are {known.count} such steps, not {given.count}")
    if _fraction(given.ratio) > _fraction(known.ratio):
        found.append("the ratio exceeds that at level 0")
    if given.infinite < known.infinite:
        found.append("the mass at infinite loss is too small")
    pairs = zip_longest(known.masses, given.masses, fillvalue=0)
    if (level := next((i for i, (least, mass) in enumerate(pairs) if mass < least), None)) is not None:
        found.append(f"the mass of level {level} is too small")
    return found


def _fraction(value: Binary) -> Fraction:
    return Fraction(value[0], 1 << value[1])


def _lattices(words: dict[str, Any]) -> Lattices:
    precision = _field(words, "precision", int)
    if not 2 <= precision <= _MOST_PRECISION:
        raise CertificateError(f"a precision must be 2 to {_MOST_PRECISION} bits, not {precision}")
    marks = []
    for each in _field(words, "marks", list):
        whole = isinstance(each, list) and all(type(mark) is int and abs(mark) < 2**40 for mark in each)
        if not whole or len(each) > _MOST_MARKS:
            raise CertificateError(f"marks must be at most {_MOST_MARKS} whole numbers")
        marks.append(tuple(each))
    spacing = standalone_checker.rational(words.get("spacing"))
    if spacing <= 0:
        raise CertificateError("a spacing must be greater than 0")
    offsets = tuple(standalone_checker.rational(each) for each in _field(words, "offsets", list))
    return Lattices(spacing, precision, offsets, tuple(marks))


def _grid(words: Any) -> Grid | None:
    if words is None:
        return None
    if not isinstance(words, dict):
        raise CertificateError("a grid must be an object")
    spacing, negligible, least = (
        standalone_checker.rational(words.get(name), 0) for name in ("spacing", "negligible", "least")
    )
    fineness = _field(words, "fineness", list)
    if spacing <= 0 or len(fineness) != 3 or not all(type(each) is int and 0 < each < 1_000 for each in fineness):
        raise CertificateError("a grid has a spacing greater than 0 and three numbers of fineness")
    if max(negligible, least) > 1:
        raise CertificateError("masses of a grid must be at most 1")
    by_threshold = words.get("by_threshold")
    if not isinstance(by_threshold, bool):
        raise CertificateError("by_threshold of a grid must be true or false")
    return Grid(spacing, float(negligible), Fineness(*fineness), float(least), by_threshold=by_threshold)
