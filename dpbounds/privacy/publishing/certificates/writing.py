"""A certificate of an account or of a calibration, as data and as a file."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

from dpbounds import documents
from dpbounds.errors import CertificateError
from dpbounds.expressions.exact import ExactLike
from dpbounds.privacy.accountants.certified import Account, account
from dpbounds.privacy.accountants.groups import group_account
from dpbounds.privacy.budgets.calibration import Calibration
from dpbounds.privacy.mechanisms import Mechanism, parts_of
from dpbounds.privacy.pairs import pairs
from dpbounds.privacy.publishing import standalone_checker
from dpbounds.privacy.publishing.certificates.claims import all_attained, calibration_faults
from dpbounds.privacy.publishing.certificates.releases import release_of
from dpbounds.privacy.publishing.hints import hints_for
from dpbounds.privacy.publishing.numerals import exact_text
from dpbounds.privacy.publishing.publishable import demand_all_orders, finite_ends, versions
from dpbounds.privacy.relations import Order, Relation, as_relation
from dpbounds.privacy.values import Target

FORMAT, FORMAT_VERSION = standalone_checker.FORMAT, standalone_checker.VERSION

_ORDERS = {str(order): str(pairs.Direction.of(order)) for order in Order}  # orders of neighbours, and of their pairs


def certificate(subject: Account | Calibration) -> dict[str, object]:
    """Return the certificate as plain data, ready for JSON; the same subject always gives the same certificate.

    Args:
        subject: An account; or a calibration, of which the accounts of the value that suffices and of the one that
            fails are computed anew. Of kinds that take version 5 or 6 only the first of these is written; where the
            stand-alone checker can confirm it only a little above the budget, the account alone.

    Raises:
        CertificateError: There is nothing to certify (an infinite bound, or one order of neighbours), δ is 0, or the
            calibration's value is not a parameter of its mechanism, so that a checker could not identify it.
        NotCertified: The account of a calibration's mechanism could not be proven again.
    """
    demand_all_orders(subject, "certificate")
    _demand_a_delta(subject)
    calibration: dict[str, object] | None = None
    if isinstance(subject, Calibration):
        subjects = [_spent(subject)]
        if subject.group_size > 1 or not _shows_what_fails(subject.mechanism, subject.relation):
            return _of_drawn_calibration(subject, subjects[0])
        roles = ["suffices", "fails"]
        if subject.failing is not None:
            subjects.append(account(subject.failing, delta=subject.target_delta, relation=subject.relation))
        calibration = _calibration(subject, subject.fails_at)
    else:
        subjects, roles = [subject], ["account"]
    return _document_of([_account(entry, role) for entry, role in zip(subjects, roles, strict=False)], calibration)


def _demand_a_delta(subject: Account | Calibration) -> None:
    """Refuse δ = 0, where the proof is a sum that needs no checker."""
    account_at_zero = isinstance(subject, Account) and subject.given == "delta" and subject.target == 0
    if account_at_zero or (isinstance(subject, Calibration) and subject.target_delta == 0):
        raise CertificateError(
            "no certificate: the stand-alone checker knows no rule for delta = 0, where epsilon is the sum of the "
            "largest losses (`dpbounds epsilon --explain`); publish that, or certify a delta greater than 0"
        )


def _spent(found: Calibration) -> Account:
    at_delta, relation = found.target_delta, found.relation
    if found.group_size > 1:
        return account_of_group(found.mechanism, found.group_size, delta=at_delta, relation=relation)
    return account(found.mechanism, delta=at_delta, relation=relation)


def _shows_what_fails(mechanism: Mechanism, relation: Relation) -> bool:
    """Return whether the checker can show that another value fails; errors as for :func:`certificate`."""
    releases = [release_of(*part, relation) for part in parts_of(mechanism)]
    return _version_of(releases) < 5 and all_attained(releases)


def _of_drawn_calibration(subject: Calibration, spent: Account) -> dict[str, object]:
    """Return the certificate that the value suffices; the checker cannot show that another one fails."""
    entry = _account(spent, "suffices", subject.target_epsilon)
    if standalone_checker.rational(entry["claim"]["upper"]) > subject.target_epsilon:
        return _document_of([{**entry, "role": "account"}], None)
    return _document_of([entry], _calibration(subject, None))


def _calibration(subject: Calibration, fails_at: Fraction | None) -> dict[str, object]:
    return {
        "solve": str(subject.solve),
        "value": exact_text(subject.value),
        "fails_at": None if fails_at is None else exact_text(fails_at),
        "target_epsilon": exact_text(subject.target_epsilon),
        "target_delta": exact_text(subject.target_delta),
    }


def account_of_group(
    mechanism: Mechanism,
    group_size: int,
    *,
    delta: ExactLike | None = None,
    epsilon: ExactLike | None = None,
    relation: str | Relation = Relation.ADD_OR_REMOVE_ONE,
) -> Account:
    """Account for ``group_size`` records at once, for :func:`certificate`.

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
        wrong = calibration_faults(document)
    except standalone_checker.Malformed as reason:  # such as numbers that are too long for the checker
        raise CertificateError(f"no certificate: {reason}") from None
    if wrong:
        raise CertificateError(
            f"no certificate: {'; '.join(wrong)}; certify the account of the calibrated mechanism instead"
        )
    return document


def write_certificate(path: str | Path, subject: Account | Calibration) -> None:
    """Write the certificate as JSON (UTF-8), whole or not at all; errors as for :func:`certificate`, ``OSError``."""
    documents.write(path, certificate_text(subject))


def certificate_text(subject: Account | Calibration) -> str:
    """Return the certificate as JSON text, as written to a file; errors as for :func:`certificate`."""
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
    return _as_account(subject, role, releases, (lower if all_attained(releases) else Fraction(0), upper), proofs)


def _label(method: str) -> str:
    """Return the ways in which a number was enclosed, as many as a certificate has room for."""
    ways = method.split(" and ")
    labels = (method, *(" and ".join([*ways[:kept], "more"]) for kept in range(len(ways) - 1, 0, -1)))
    return next(
        (label for label in labels if len(label) <= standalone_checker.LABEL), method[: standalone_checker.LABEL]
    )


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
    """Return the lowest version that has these kinds, so that older checkers can read it."""
    return max(3, *(standalone_checker.version_of(standalone_checker.read_release(each)) for each in releases))


def _data(value: object) -> object:
    """Return a parameter of a proof as JSON holds it."""
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
