"""Certificates: what stands in them, and what both checkers say."""

from __future__ import annotations

import copy
from fractions import Fraction

import dpbounds as dp
from tests.golden import accounts, adapters
from tests.golden.numeric import factory
from tests.golden.recording import Answer


def questions():
    """One certificate per line of the file, two of calibrations, and one that was tampered with."""
    for line in accounts.lines("certificates.txt"):
        yield line, lambda line=line: _certified(accounts.account(line))
    for expression in ("gaussian({}) ** 3", 'poisson(gaussian({}), "0.01") ** 100'):
        yield (
            f"calibration: {expression}",
            lambda e=expression: _certified(dp.calibrate(factory(e, "noise"), 1, "1e-5")),
        )
    yield "tampered", _tampered


def _certified(subject):
    """Releases and digests as they stand there, the claims, both verdicts; proofs and the checkers' lines are text."""
    document = adapters.certificate(subject)
    status, said = adapters.checked_alone(document)
    report = adapters.checked(document)
    ends, kept = {}, []
    for at, account in enumerate(document["accounts"]):
        claim = dict(account["claim"])
        ends[f"account {at}"] = tuple(str(adapters.exact_number(claim.pop(end))) for end in ("lower", "upper"))
        kept.append((account["role"], claim, account["mechanism"], account["digest"]))
    calibration = document["calibration"]
    if calibration is not None:
        ends["value"] = tuple(str(adapters.exact_number(calibration[end] or "0")) for end in ("fails_at", "value"))
    value = {"format": document["format"], "version": document["version"], "accounts": kept}
    text = [said, report.lines, [account["proofs"] for account in document["accounts"]], document["assumptions"]]
    return Answer(value | {"status": status, "holds": report.holds}, ends, text)


def _tampered():
    """A claim that is a tenth too good is not confirmed."""
    document = copy.deepcopy(adapters.certificate(dp.account(dp.Gaussian(2) ** 3, delta="1e-5")))
    claim = document["accounts"][0]["claim"]
    for end in ("lower", "upper"):
        claim[end] = str(Fraction(claim[end]) * 9 / 10)
    status, said = adapters.checked_alone(document)
    return Answer([status, adapters.checked(document).holds], text=said)
