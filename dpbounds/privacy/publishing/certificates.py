"""The certificate that a program re-checks.

It records a claim, the mechanism it is about, and how it was proven; its format is documented in
``certificate_format.md``. Checking believes none of the recorded enclosures: the dominating pairs are derived again,
the claim is held against another route, and its two exact inequalities are evaluated by ``standalone_checker.py``,
which shares no code with the routes.
"""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal

import flint

from dpbounds import documents
from dpbounds.errors import CertificateError, DpboundsError, InvalidValue, NotCertified, demand
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.exact import ExactLike, to_decimal
from dpbounds.privacy.accountants.certified import Account, account, account_at, prove_delta, prove_epsilon
from dpbounds.privacy.accountants.groups import group_account
from dpbounds.privacy.budgets.calibration import Calibration
from dpbounds.privacy.domination.composition import neighbour_classes
from dpbounds.privacy.mechanisms import (
    Composed,
    Gaussian,
    LastIterate,
    MatrixMechanism,
    Mechanism,
    PoissonSampled,
    SampledWithoutReplacement,
    SampledWithReplacement,
    TruncatedPoisson,
    parts_of,
)
from dpbounds.privacy.mechanisms.descriptions import FULL_BATCH, MECHANISMS, SAMPLINGS, written
from dpbounds.privacy.mechanisms.parameters import parameters_of
from dpbounds.privacy.mechanisms.schemes.encoders import BinaryTree, Encoder, LowerTriangular, Toeplitz
from dpbounds.privacy.mechanisms.schemes.sampling import Sampling
from dpbounds.privacy.pairs import pairs
from dpbounds.privacy.pairs.pairs import Product, SampledGaussians, ShiftedGaussians, as_gaussian
from dpbounds.privacy.proofs import Declined, Proof
from dpbounds.privacy.publishing import standalone_checker
from dpbounds.privacy.publishing.hints import hints_for
from dpbounds.privacy.publishing.numerals import typed
from dpbounds.privacy.relations import Order, Relation, as_relation
from dpbounds.privacy.routes.contour import contour_at_most
from dpbounds.privacy.routes.lattice import delta_bounds, epsilon_bounds
from dpbounds.privacy.values import Target

FORMAT, FORMAT_VERSION = standalone_checker.FORMAT, standalone_checker.VERSION

_LONGEST_TEXT = 60  # characters up to which p/q is written out
_ORDERS = {str(order): str(pairs.Direction.of(order)) for order in Order}  # of neighbours, and of their pairs
_Counts = tuple[Fraction, dict[tuple[Fraction, Fraction], int]]  # μ², and {(q, z²): count}
_ROUNDED = Fraction(1, 2**100)  # relative, of a squared shift
_SECOND_TOLERANCE = 1e-3  # relative, of a lattice run that is held against a contour integral


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What came of checking a certificate; as text, the verdict comes first.

    Attributes:
        holds: Every claim was confirmed by means other than those recorded, and nothing contradicts it.
        lines: What was confirmed, to what relative width, what contradicts, what could not be confirmed.
        claims: Of each account: role, relation, relation_in_words, given, target, lower, upper (exact, as text),
            releases (in words, one text for equal ones), digest (of the releases).
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
        """In one line."""
        return "the certificate holds" if self.holds else "the certificate does NOT hold"

    def __str__(self) -> str:
        how = (f"  {line}" for line in self.lines)
        return "\n".join((self.verdict, *self.about, "how it was checked:", *how))


def finite_ends(enclosure: Enclosure) -> tuple[Fraction, Fraction]:
    """Both ends, or ``CertificateError`` where one is infinite."""
    demand("enclosure", enclosure, Enclosure)
    lower, upper = enclosure.exact_lower, enclosure.exact_upper
    if isinstance(lower, float) or isinstance(upper, float):
        raise CertificateError(f"{enclosure} has an end at infinity: there is no guarantee to certify; add noise")
    return lower, upper


def versions() -> dict[str, str]:
    """Of what a claim was made with."""
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


# --- writing -------------------------------------------------------------------------------------------------------


def exact_text(value: Fraction) -> str:
    """Write a rational number exactly: p, p/q, or (where that is long) p/q*2**a*5**b with p, q free of 2 and 5.

    >>> exact_text(Fraction(1, 3)), exact_text(Fraction(7, 2**400))
    ('1/3', '7*2**-400')
    """
    number, denominator = value.numerator, value.denominator
    if number.bit_length() + denominator.bit_length() < 3 * _LONGEST_TEXT and len(str(value)) <= _LONGEST_TEXT:
        return str(value)
    text = ""
    for base in (2, 5):
        power = _power_of(base, number) - _power_of(base, denominator)
        number, denominator = number // base ** max(power, 0), denominator // base ** max(-power, 0)
        text += f"*{base}**{power}" if power else ""
    return f"{Fraction(number, denominator)}{text}"


def _power_of(base: int, number: int) -> int:
    """How often ``base`` divides a number (0 for the number 0)."""
    power = 0
    while number and number % base == 0:
        number, power = number // base, power + 1
    return power


def certificate(subject: Account | Calibration) -> dict[str, object]:
    """Return the certificate as plain data, ready for JSON; the same subject always gives the same certificate.

    Args:
        subject: An account; or a calibration, of which the accounts of the value that suffices and of the one that
            fails are computed anew. Of kinds that take version 5 or 6 only the first of these is written; where the
            stand-alone checker can confirm it only a little above the budget, the account alone.

    Raises:
        CertificateError: There is nothing to certify (an end at infinity), or the calibration's value does not itself
            stand in its mechanism, so that a checker could not see what the value is.
        NotCertified: The account of a calibration's mechanism could not be proven again.
    """
    demand("subject", subject, Account, Calibration)
    calibration: dict[str, object] | None = None
    if isinstance(subject, Calibration):
        subjects = [_spent(subject)]
        if subject.group_size > 1 or not _shows_what_fails(subject.mechanism, subject.relation):
            return _of_drawn_calibration(subject, subjects[0])
        roles = ["suffices", "fails"]
        if subject.failing is not None:
            subjects.append(account(subject.failing, delta=subject.target_delta, relation=subject.relation))
        calibration = {
            "solve": str(subject.solve),
            "value": exact_text(subject.value),
            "fails_at": None if subject.fails_at is None else exact_text(subject.fails_at),
            "target_epsilon": exact_text(subject.target_epsilon),
            "target_delta": exact_text(subject.target_delta),
        }
    else:
        subjects, roles = [subject], ["account"]
    return _document_of([_account(entry, role) for entry, role in zip(subjects, roles, strict=False)], calibration)


def _spent(found: Calibration) -> Account:
    at_delta, relation = found.target_delta, found.relation
    if found.group_size > 1:
        return account_of_group(found.mechanism, found.group_size, delta=at_delta, relation=relation)
    return account(found.mechanism, delta=at_delta, relation=relation)


def _shows_what_fails(mechanism: Mechanism, relation: Relation) -> bool:
    """Whether the checker can show that another value fails; errors as for :func:`certificate`."""
    releases = [release_of(*part, relation) for part in parts_of(mechanism)]
    return _version_of(releases) < 5 and _attained(releases)


def _of_drawn_calibration(subject: Calibration, spent: Account) -> dict[str, object]:
    """That the value suffices; that another fails is shown by nothing that the checker does."""
    entry = _account(spent, "suffices", subject.target_epsilon)
    if standalone_checker.rational(entry["claim"]["upper"]) > subject.target_epsilon:
        return _document_of([{**entry, "role": "account"}], None)
    calibration: dict[str, object] = {
        "solve": str(subject.solve),
        "value": exact_text(subject.value),
        "fails_at": None,
        "target_epsilon": exact_text(subject.target_epsilon),
        "target_delta": exact_text(subject.target_delta),
    }
    return _document_of([entry], calibration)


def account_of_group(
    mechanism: Mechanism,
    group_size: int,
    *,
    delta: ExactLike | None = None,
    epsilon: ExactLike | None = None,
    relation: str | Relation = Relation.ADD_OR_REMOVE_ONE,
) -> Account:
    """What so many records spend at once, as an account that :func:`certificate` takes.

    Arguments and errors as for :func:`dpbounds.privacy.accountants.groups.group_account`.
    """
    found = group_account(mechanism, group_size, delta=delta, epsilon=epsilon, relation=relation)
    target = Target.of(delta, epsilon)
    given: Literal["delta", "epsilon"] = "delta" if target.for_epsilon else "epsilon"
    return Account(mechanism, as_relation(relation), given, target.value, found, (), group_size=group_size)


def _document_of(accounts: list[dict[str, Any]], calibration: dict[str, object] | None) -> dict[str, object]:
    of_groups = any("group_size" in entry["claim"] for entry in accounts)
    format_version = 5 if of_groups else _version_of([each for entry in accounts for each in entry["mechanism"]])
    document = {
        "format": FORMAT,
        "version": format_version,
        "calibration": calibration,
        "accounts": accounts,
        "assumptions": list(standalone_checker.assumptions_of(format_version)),
        "versions": versions(),
    }
    try:
        standalone_checker.well_formed(document)
        wrong = _calibration_faults(document)
    except standalone_checker.Malformed as reason:  # such as numbers that are too long for whoever checks
        raise CertificateError(f"no certificate: {reason}") from None
    if wrong:
        raise CertificateError(
            f"no certificate: {'; '.join(wrong)}; certify the account of the calibrated mechanism instead"
        )
    return document


def demand_one_record(subject: Account | Calibration, what: str) -> None:
    """Refuse what is not about one record."""
    demand("subject", subject, Account, Calibration)
    if subject.group_size > 1:
        raise CertificateError(
            f"no {what} for groups of {subject.group_size} records: it speaks of one record; publish a certificate"
        )


def write_certificate(path: str | Path, subject: Account | Calibration) -> None:
    """Write the certificate as JSON (UTF-8), whole or not at all; errors as for :func:`certificate`, ``OSError``."""
    documents.write(path, certificate_text(subject))


def certificate_text(subject: Account | Calibration) -> str:
    """The certificate as JSON, as it stands in a file; errors as for :func:`certificate`."""
    text = json.dumps(certificate(subject), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    if len(text.encode()) > standalone_checker.BYTES:
        raise CertificateError(
            f"a certificate has at most {standalone_checker.BYTES} bytes, and this one, of so large a matrix, has "
            f"{len(text.encode())}: describe the matrix by its coefficients"
        )
    return text


def _account(subject: Account, role: str, budget: Fraction | None = None) -> dict[str, Any]:
    releases = [release_of(*part, subject.relation, subject.group_size) for part in parts_of(subject.mechanism)]
    if subject.group_size > 1 or _version_of(releases) > 4:
        return _drawn_account(subject, role, releases, budget)
    proofs = [
        {
            "order": _ORDERS.get(name, name),
            "route": proof.route,
            "method": _label(proof.enclosure.method),
            "precision": proof.enclosure.precision,
            "parameters": {name: _data(value) for name, value in proof.parameters.items()},
            "error_budget": {name: _data(value) for name, value in proof.error_budget.items()},
        }
        for name, proof in subject.proofs
    ]
    lower, upper = finite_ends(subject.enclosure)
    return _as_account(subject, role, releases, (lower if _attained(releases) else Fraction(0), upper), proofs)


def _label(method: str) -> str:
    """The ways in which a number was enclosed, as many as a certificate has room for."""
    ways = method.split(" and ")
    labels = (method, *(" and ".join([*ways[:kept], "more"]) for kept in range(len(ways) - 1, 0, -1)))
    return next(
        (label for label in labels if len(label) <= standalone_checker.LABEL), method[: standalone_checker.LABEL]
    )


def _attained(releases: list[dict[str, Any]]) -> bool:
    """Whether the checker can show lower ends; else 0 is claimed, as the attack behind one is not written."""
    return all(standalone_checker.is_attained(standalone_checker.read_release(each)) for each in releases)


def _as_account(
    subject: Account, role: str, releases: list[dict[str, Any]], ends: tuple[Fraction, Fraction], proofs: list[Any]
) -> dict[str, Any]:
    return {
        "role": role,
        "claim": {
            "relation": str(subject.relation),
            "given": subject.given,
            "target": exact_text(subject.target),
            "lower": exact_text(ends[0]),
            "upper": exact_text(ends[1]),
            **({"group_size": subject.group_size} if subject.group_size > 1 else {}),
        },
        "mechanism": releases,
        "digest": standalone_checker.digest(releases),
        "proofs": proofs,
    }


def _drawn_account(
    subject: Account, role: str, releases: list[dict[str, Any]], budget: Fraction | None
) -> dict[str, Any]:
    """An account of releases whose profiles the checker composes, with hints that lead it to confirm the claim."""
    claimed, lower, hints = hints_for(subject, releases, budget)
    return _as_account(
        subject,
        role,
        releases,
        (lower, claimed),
        [
            {"order": order, "route": "profiles", "method": _label(subject.enclosure.method), "precision": 0}
            | {"parameters": _data(found), "error_budget": {}}
            for order, found in hints.items()
        ],
    )


def _version_of(releases: Sequence[Mapping[str, Any]]) -> int:
    """The lowest version that has these kinds, so that older checkers can read it."""
    return max(3, *(standalone_checker.version_of(standalone_checker.read_release(each)) for each in releases))


_NO_PAIR = "the stand-alone checker does not re-derive"


def why_no_certificate(part: Mechanism, relation: Relation, group_size: int = 1) -> str | None:
    """Why certificates cannot describe a part of a composition, and what to do; None where they can."""
    inner = part.mechanism if isinstance(part, Sampling) else part
    if group_size > 1:
        batch = isinstance(part, SampledWithoutReplacement | SampledWithReplacement)
        known = isinstance(part, Gaussian | PoissonSampled) or (batch and relation is not Relation.ZERO_OUT_ONE)
        if not (known and isinstance(inner, Gaussian)):
            return (
                f"{_NO_PAIR} groups of records with {part!r} under {relation}: Gaussian noise on all records, on "
                "Poisson samples, and (but for zero-out-one) on batches of a fixed size has a certificate"
            )
    match part:
        case MatrixMechanism(participation="minimum-separation", sample_rate=Fraction()):
            told = (
                "steps drawn apart at a sample rate: leave the rate out, the certificate without it holds for them, too"
            )
            return f"{_NO_PAIR} {told}"
        case LastIterate() | MatrixMechanism():
            return None
    noise = standalone_checker.NOISES.get(inner.name)
    if noise is None:
        return f"{_NO_PAIR} {part!r}: publish the command and what it says"
    if part is inner:
        return None
    if part.name not in standalone_checker.SCHEMES:
        return f"{_NO_PAIR} {part!r}: publish the command and what it says"
    given_finally = getattr(inner, "sensitivity", None) is not None
    if isinstance(part, PoissonSampled):
        if isinstance(inner, Gaussian) and given_finally and relation is Relation.REPLACE_ONE and part.sample_rate < 1:
            return f"{_NO_PAIR} noise with its final distance on a sample under replace-one: give noise_multiplier"
        if not noise.on_poisson_samples(standalone_checker.read_noise(_noise(inner), part.name)):
            return f"{_NO_PAIR} {inner!r} on samples of vectors of that norm: bound each coordinate"
        return None
    beside = {SampledWithoutReplacement.name: noise.displaces, TruncatedPoisson.name: noise.truncates}
    if not (isinstance(inner, Gaussian) or beside.get(part.name)) or given_finally:
        return f"{_NO_PAIR} {inner!r} on such samples: Gaussian noise, given by noise_multiplier, has a certificate"
    if not isinstance(inner, Gaussian) and relation is Relation.ZERO_OUT_ONE:
        return f"{_NO_PAIR} {inner!r} on such samples, a record being zeroed: replace-one has a certificate"
    return None


def release_of(mechanism: Mechanism, count: int, relation: Relation, group_size: int = 1) -> dict[str, Any]:
    """Equal releases as a certificate writes them, or ``CertificateError`` where it cannot."""
    reason = why_no_certificate(mechanism, relation, group_size)
    if reason is not None:
        raise CertificateError(f"no certificate: {reason}")
    if isinstance(mechanism, LastIterate):
        return {"kind": mechanism.name, **_numbers(mechanism.mechanism), **_numbers(mechanism), "count": count}
    if isinstance(mechanism, MatrixMechanism):
        return {"kind": mechanism.name, **_numbers(mechanism), "count": count}
    if isinstance(mechanism, Sampling):
        inner, kind, drawn = mechanism.mechanism, mechanism.name, _numbers(mechanism)
    else:
        inner, kind, drawn = mechanism, FULL_BATCH, {}
    if isinstance(inner, Gaussian) and kind in (FULL_BATCH, PoissonSampled.name):
        return {"kind": inner.name, **_numbers(inner), "sample_rate": drawn.get("sample_rate"), "count": count}
    return {"kind": kind, "mechanism": _noise(inner), **drawn, "count": count}


def _noise(mechanism: Mechanism) -> dict[str, object]:
    return {"kind": mechanism.name, **_numbers(mechanism)}


def _numbers(mechanism: Mechanism) -> dict[str, object]:
    """The parameters of one record, those that are not given as null."""
    return {**dict.fromkeys(parameters_of(mechanism)), **written(mechanism, exact_text)}


def _data(value: object) -> object:
    """A parameter of a proof as JSON holds it."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Fraction):
        return exact_text(value)
    if isinstance(value, Mapping):
        return {str(name): _data(inner) for name, inner in value.items()}
    if isinstance(value, Iterable):
        return [_data(inner) for inner in value]
    raise CertificateError(f"a proof's parameter {value!r} cannot be written down")


# --- checking ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Claim:
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
        """(ε, δ) at the upper end, where δ(ε) must be at most δ."""
        return (self.upper, self.target) if self.given == "delta" else (self.target, self.upper)

    @property
    def low(self) -> tuple[Fraction, Fraction]:
        """(ε, δ) at the lower end, which δ(ε) must exceed unless that end is 0."""
        return (self.lower, self.target) if self.given == "delta" else (self.target, self.lower)


def check_certificate(certificate: str | Path | Mapping[str, object]) -> CheckReport:
    """Check a certificate by means other than those that made it.

    Args:
        certificate: A file, or the document itself.

    Returns:
        Whether it holds, with reasons line by line. It holds only where every claim was confirmed.

    Raises:
        CertificateError: It cannot be read, or is not a certificate of a known format.
    """
    document = _document(certificate)
    try:
        version = standalone_checker.well_formed(document)
        about = standalone_checker.sheet(document)
        claims = [_claim(entry) for entry in document["accounts"]]
        faults = _calibration_faults(document) + standalone_checker.digest_faults(document["accounts"], version)
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
    """The digest of the releases that a certificate is about (of a calibration: with the value that suffices).

    It is computed from the releases, not read off. Errors as :func:`check_certificate`.
    """
    document = _document(certificate)
    try:
        standalone_checker.well_formed(document)
        return standalone_checker.digest(document["accounts"][0]["mechanism"])
    except standalone_checker.Malformed as reason:
        raise CertificateError(f"not a well-formed certificate: {reason}") from None


def _as_data(claim: _Claim) -> dict[str, object]:
    read = claim.source["claim"]
    return {
        "role": claim.source["role"],
        "relation": str(claim.relation),
        "relation_in_words": standalone_checker.relation_in_words(standalone_checker.read_claim(claim.source)),
        **{name: read[name] for name in ("given", "target", "lower", "upper")},
        "releases": [standalone_checker.release_in_words(release) for release in claim.source["mechanism"]],
        "digest": standalone_checker.digest(claim.source["mechanism"]),
    }


def _document(certificate: str | Path | Mapping[str, object]) -> dict[str, Any]:
    if isinstance(certificate, Mapping):
        return dict(certificate)
    try:
        document = documents.read_json(certificate, "certificate")
    except InvalidValue as reason:
        raise CertificateError(str(reason)) from None
    if not isinstance(document, dict):
        raise CertificateError(f"not a certificate: {documents.quoted(document)} instead of an object")
    return document


def _calibration_faults(document: Mapping[str, object]) -> list[str]:
    """What is inconsistent between a calibration and its accounts (nothing where there is no calibration)."""
    field = standalone_checker.field
    accounts, calibration = field(document, "accounts", list), field(document, "calibration", (dict, type(None)))
    if calibration is None:
        if len(accounts) != 1:
            raise standalone_checker.Malformed("a certificate without a calibration holds one account")
        return []
    claims = [standalone_checker.read_claim(entry) for entry in accounts]
    return standalone_checker.check_calibration(calibration, accounts, claims)


def _claim(entry: Any) -> _Claim:
    field = standalone_checker.field
    claim = standalone_checker.read_claim(entry)
    releases = map(standalone_checker.read_release, field(entry, "mechanism", list))
    parts = tuple((_mechanism(release), release["count"]) for release in releases)
    routes = {field(proof, "order", str): field(proof, "route", str) for proof in field(entry, "proofs", list)}
    claim["relation"] = as_relation(claim["relation"])
    mechanism = Composed(parts)
    neighbour_classes(mechanism, claim["relation"])  # refuses what has no proven pair
    return _Claim(mechanism, **claim, routes=routes, source=dict(entry))


def _mechanism(release: Mapping[str, Any]) -> Mechanism:
    """The mechanism of a release, whose numbers have been read."""
    kind = release["kind"]
    if "mechanism" in release:
        noise = release["mechanism"]
        inner = _made(MECHANISMS[noise["kind"]], noise)
        return inner if kind == FULL_BATCH else _made(SAMPLINGS[kind], release, inner)
    if kind == MatrixMechanism.name:
        return _made(MatrixMechanism, {**release, "matrix": _encoder(release["matrix"])})
    gaussian = _made(Gaussian, release)
    if kind == LastIterate.name:
        return _made(LastIterate, release, gaussian)
    rate = release["sample_rate"]
    return gaussian if rate is None else PoissonSampled(gaussian, rate)


def _made(make: Callable[..., Mechanism], numbers: Mapping[str, Any], *inner: Mechanism) -> Mechanism:
    return make(*inner, **{name: numbers[name] for name in parameters_of(make) if name in numbers})


def _encoder(given: Mapping[str, Any]) -> Encoder:
    match given["kind"]:
        case "toeplitz":
            return Toeplitz(given["coefficients"], given["steps"])
        case "lower-triangular":
            return LowerTriangular(given["rows"])
    return BinaryTree(given["steps"])


def _same(one: _Counts, other: _Counts) -> bool:
    """Whether two derivations agree: the costs of last iterates are rounded up, each in its own way."""
    return one[1] == other[1] and abs(one[0] - other[0]) <= one[0] * _ROUNDED


def _check_drawn(claim: _Claim) -> tuple[bool, list[str]]:
    """By the stand-alone checker; what that cannot decide, and the lower end, by accounting anew."""
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
    return True, [*lines, f"accounted anew by {claim.source['proofs'][0]['method']}: the claimed upper end suffices"]


def _accounted_anew(claim: _Claim) -> tuple[Fraction, Fraction]:
    target = Target("delta" if claim.given == "delta" else "epsilon", claim.target)
    if claim.group_size > 1:
        given: dict[str, Any] = {claim.given: claim.target, "relation": claim.relation}
        return finite_ends(group_account(claim.mechanism, claim.group_size, **given))
    return finite_ends(account_at(claim.mechanism, target, claim.relation).enclosure)


def _check_claim(claim: _Claim) -> tuple[bool, list[str]]:
    releases = map(standalone_checker.read_release, claim.source["mechanism"])
    if claim.group_size > 1 or any(map(standalone_checker.is_drawn, releases)):
        return _check_drawn(claim)
    if claim.lower > 0 and not _attained(claim.source["mechanism"]):
        return _check_attacked(claim)
    products = tuple(each.product for each in neighbour_classes(claim.mechanism, claim.relation).every())
    derived = {_order(product): _as_counts(product) for product in products}
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
    refuted, exactly, found = _by_other_route(claim, products)
    lines += found + [f"exact evaluation: {line}" for line in (*details, verdict)]
    if refuted or status == standalone_checker.WRONG:  # it does the recorded method again, if with other choices
        return False, lines
    if not exactly and status != standalone_checker.CONFIRMED:
        exactly, found = _at_the_ends(claim, products)
        lines += found or ["NOT CONFIRMED: no other means could decide the claim's two inequalities"]
    return exactly or status == standalone_checker.CONFIRMED, lines


def _check_attacked(claim: _Claim) -> tuple[bool, list[str]]:
    """Both ends apart: what is known to dominate shows the upper one only, an attack found anew the lower one."""
    source = {**claim.source, "claim": {**claim.source["claim"], "lower": "0"}}
    holds, lines = _check_claim(replace(claim, lower=Fraction(0), source=source))
    try:
        lower, _ = _accounted_anew(claim)
    except NotCertified as reason:
        return False, [*lines, f"NOT CONFIRMED: accounted anew: {reason}"]
    word = "an attack shows the lower end" if lower >= claim.lower else "NOT CONFIRMED: no attack shows the lower end"
    return holds and lower >= claim.lower, [*lines, f"accounted anew: {word}, {typed(lower, 'down')} at least"]


def _order(product: Product) -> str:
    return next((str(pair.direction) for pair, _ in product if isinstance(pair, SampledGaussians)), "both orders")


def _as_counts(product: Product) -> _Counts:
    shift = sum((pair.squared_shift * n for pair, n in product if isinstance(pair, ShiftedGaussians)), Fraction(0))
    sampled = {(pair.sample_rate, pair.variance): n for pair, n in product if isinstance(pair, SampledGaussians)}
    return shift, sampled


def _by_other_route(claim: _Claim, products: tuple[Product, ...]) -> tuple[bool, bool, list[str]]:
    """Enclose the claimed value by routes not recorded: (contradicts, confirms both ends, lines)."""
    lines: list[str] = []
    enclosure: Enclosure | None = None
    names: list[str] = []
    complete = True
    for product in products:
        order = _order(product)
        recorded = claim.routes.get(order, "none")
        if recorded == "dominated":
            gaussian = as_gaussian(product)
            if gaussian is not None and claim.high[1] > 0 and contour_at_most(gaussian, *claim.high):
                lines.append(
                    f"order {order}: a Chernoff bound at the claimed upper end shows again that it spends no more"
                )
                continue
        proof, reason = _second_proof(claim, product, recorded)
        if proof is None:
            lines.append(f"order {order}: no other route gave an answer ({reason})")
            complete = False
            continue
        names.append(proof.route)
        enclosure = proof.enclosure if enclosure is None else enclosure.larger(proof.enclosure)
    if enclosure is None:
        return False, False, lines
    low, high = finite_ends(enclosure)
    how = " and ".join(dict.fromkeys(names))
    width = to_decimal((high - low) / high, 2, "up") if high > 0 else "0"
    if low > claim.upper or (complete and high < claim.lower):
        lines.append(f"CONTRADICTED: by the {how} route the value lies in {enclosure}")
        return True, False, lines
    if not complete:
        return False, False, lines
    within = low >= claim.lower and high <= claim.upper
    lines.append(
        f"confirmed by the {how} route to a relative width of {width}"
        + (", which lies within the claim" if within else f": {enclosure} agrees with the claim")
    )
    return False, within, lines


def _second_proof(claim: _Claim, product: Product, recorded: str) -> tuple[Proof | None, str]:
    """An enclosure by another route than the one recorded; with a lattice, also by a finer one."""
    asks_epsilon, others = claim.given == "delta", ("lattice",) if recorded == "contour" else ("contour", "lattice")
    reasons = []
    for route in others:
        try:
            if route == "lattice":
                tolerance = _SECOND_TOLERANCE / 2 if recorded == "lattice" else _SECOND_TOLERANCE
                bounds = epsilon_bounds if asks_epsilon else delta_bounds
                return bounds(product, claim.target, tolerance=tolerance), ""
            prove = prove_epsilon if asks_epsilon else prove_delta
            return prove(product, claim.target, 1e-9, "contour"), ""
        except (Declined, NotCertified) as reason:
            reasons.append(f"{route}: {reason}")
    return None, "; ".join(reasons)


def _at_the_ends(claim: _Claim, products: tuple[Product, ...]) -> tuple[bool, list[str]]:
    """δ at the two ends of the claim, freshly enclosed: what is left for claims that a lattice made."""
    high, low = claim.high, claim.low
    try:
        above = [prove_delta(product, high[0], 1e-9).enclosure for product in products]
        below = above if low[0] == high[0] else [prove_delta(product, low[0], 1e-9).enclosure for product in products]
    except (Declined, NotCertified) as reason:
        return False, [f"delta at the ends of the claim could not be enclosed: {reason}"]
    suffices = all(enclosure.exact_upper <= high[1] for enclosure in above)
    needed = claim.lower == 0 or any(enclosure.exact_lower > low[1] for enclosure in below)
    if not (suffices and needed):
        return False, []
    methods = " and ".join(dict.fromkeys(enclosure.method for enclosure in (*above, *below)))
    return True, [f"delta at the ends of the claim, enclosed anew ({methods}), confirms both inequalities"]
