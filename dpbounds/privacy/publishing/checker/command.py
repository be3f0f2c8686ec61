"""Check a dpbounds privacy certificate without trusting dpbounds: one file, Python and python-flint, nothing else.

Usage: ``python standalone_checker.py certificate.json``. It prints a verdict, then what exactly was claimed, of which
mechanism and under which assumptions (its own list), then how each inequality was decided. Exit status: 0 the
certificate holds; 1 it is refuted, or could not be confirmed; 2 the file is not a well-formed certificate; 3 neither
confirmed nor refuted, because it rests on a method that is not re-done here (``dpbounds check`` covers it).

What it proves. The privacy curve is δ(ε) = max over the orders of the neighbours of E_P[(1 - e^{ε - L})_+] with
L = log dP/dQ and the pairs (P, Q) of ``products_of``. That these dominate all neighbouring datasets is a theorem
(Balle & Wang 2018; Zhu, Dong & Wang 2022; the files named in ``standalone_checker.md``), and the only thing taken
on trust beside Python and Arb.
δ(·) does not increase, so that "ε(δ) lies in [lo, hi]" follows from δ(hi) <= δ and δ(lo) > δ.

How. In ball arithmetic: an ``arb`` is an interval, and ``x < y`` is True only where it holds for all points of both.
Everything in the certificate but the claim and the mechanism is a hint: a bad one makes this checker say that it could
not confirm, never confirm wrongly. The inequalities (1) to (32) are proven in ``standalone_checker.md``.
"""

from __future__ import annotations

import re
import sys
from typing import Any

from dpbounds.privacy.publishing.checker.accounts import check_account
from dpbounds.privacy.publishing.checker.assumptions import FORMAT, VERSIONS, assumptions_of
from dpbounds.privacy.publishing.checker.calibrations import check_calibration
from dpbounds.privacy.publishing.checker.claims import claim_in_words, read_claim
from dpbounds.privacy.publishing.checker.fields import has_fields
from dpbounds.privacy.publishing.checker.limits import RELEASES
from dpbounds.privacy.publishing.checker.reading import field, label, quoted, read
from dpbounds.privacy.publishing.checker.relations import ORDERS
from dpbounds.privacy.publishing.checker.releases import digest, read_release
from dpbounds.privacy.publishing.checker.sheet import sheet
from dpbounds.privacy.publishing.checker.verdicts import (
    CONFIRMED,
    MALFORMED,
    NOT_COVERED,
    VERDICTS,
    WRONG,
    Malformed,
    NotCovered,
)


def well_formed(document: Any) -> int:
    """Refuse anything outside the format, field by field; returns the version."""
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise Malformed(f"the field 'format' must be {FORMAT!r}")
    version = document.get("version")
    if type(version) is not int or version not in VERSIONS:
        raise Malformed(f"version {quoted(version)} is not known: this checker reads {', '.join(map(str, VERSIONS))}")
    has_fields(document, "certificate")
    if document["assumptions"] != list(assumptions_of(version)):
        raise Malformed("the assumptions are not those of the format: what holds under others is not known here")
    for name, text in has_fields(document["versions"], "versions").items():
        if not isinstance(text, str) or re.fullmatch(r"[0-9][0-9A-Za-z.+!_-]{0,39}", text) is None:
            raise Malformed(f"the version {quoted(text)} of {name}")
    accounts, calibration = field(document, "accounts", list), field(document, "calibration", (dict, type(None)))
    roles = ["account"]
    if calibration is not None:
        has_fields(calibration, "calibration")
        roles = ["suffices", "fails"][: len(accounts)]
    if not accounts or [account.get("role") for account in accounts if isinstance(account, dict)] != roles:
        raise Malformed(f"the accounts have the roles {' and '.join(roles)}, one of each")
    for account in accounts:
        has_fields(account, "account", *(["digest"] if version > 1 else []))
        several = isinstance(account["claim"], dict) and "group_size" in account["claim"]
        has_fields(account["claim"], "claim", *(["group_size"] if several and version > 4 else []))
        releases, proofs = field(account, "mechanism", list), field(account, "proofs", list)
        if len(releases) > RELEASES or len(proofs) > len(ORDERS):
            raise Malformed(f"an account has at most {RELEASES} releases, and one proof of each order")
        for release in releases:
            read_release(release, version)
        for proof in proofs:
            has_fields(proof, "proof")
            label(proof, "route")
            label(proof, "method")
            field(proof, "precision", int), field(proof, "parameters", dict), field(proof, "error_budget", dict)
        orders = [field(proof, "order", str) for proof in proofs]
        if len(set(orders)) < len(orders) or not set(orders) <= set(ORDERS):
            raise Malformed(f"the orders proven are {', '.join(map(quoted, orders))}")
    return version


def check(document: object) -> tuple[int, list[str]]:
    """Check a certificate; returns an exit status and the lines of the report, the verdict first."""
    try:
        version = well_formed(document)
        accounts, calibration = field(document, "accounts", list), field(document, "calibration", (dict, type(None)))
        about, claims = sheet({"accounts": accounts, "version": version}), [read_claim(account) for account in accounts]
        wrong = [] if calibration is None else check_calibration(calibration, accounts, claims)
        wrong += digest_faults(accounts, version)
        results = [check_account(account) for account in accounts]
    except Malformed as reason:
        return MALFORMED, [f"malformed: {reason}"]
    except NotCovered as reason:
        return NOT_COVERED, [f"{VERDICTS[NOT_COVERED]}: {reason}", *about]
    statuses = [status for status, *_ in results]
    status = WRONG if wrong or WRONG in statuses else max(statuses)
    said = [f"{verdict}: {claim_in_words(claim)}" for _, verdict, _, claim in results]
    said += [f"REFUTED: {text}" for text in wrong]
    how = [f"  {line}" for _, _, lines, _ in results for line in lines]
    return status, [VERDICTS[status], *said, *about, "how each inequality was decided:", *how]


def digest_faults(accounts: list[Any], version: int) -> list[str]:
    """Accounts whose digest is not that of their releases; version 1 has none."""
    if version == 1:
        return []
    return [
        f"the digest of the account ({account['role']}) is not that of its releases"
        for account in accounts
        if account["digest"] != digest(field(account, "mechanism", list))
    ]


def main(arguments: list[str]) -> int:
    """Check the file named on the command line."""
    if hasattr(sys.stdout, "reconfigure"):  # a terminal without Greek letters gets question marks
        sys.stdout.reconfigure(errors="replace")
    if arguments in (["--help"], ["-h"]):
        print(__doc__)
        return CONFIRMED
    if len(arguments) != 1 or arguments[0].startswith("--"):
        print("usage: standalone_checker.py CERTIFICATE.json (or --help)", file=sys.stderr)
        return MALFORMED
    try:
        status, lines = check(read(arguments[0]))
    except Malformed as reason:
        status, lines = MALFORMED, [f"malformed: {reason}"]
    print("\n".join(lines), file=sys.stderr if status == MALFORMED else sys.stdout)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
