"""`dpbounds check`: verify a certificate, by another route than the one that made it."""

from __future__ import annotations

from pathlib import Path

import click

from dpbounds.cli import DOES_NOT_HOLD, DONE
from dpbounds.cli.printing import output
from dpbounds.cli.questions.options import FILE
from dpbounds.errors import CertificateError, InvalidValue


@click.command("check", short_help="Check a certificate.")
@click.argument("file", type=FILE, metavar="FILE")
@click.option(
    "--ledger", type=FILE, metavar="FILE", help="Check, too, that the certificate is about the releases in this ledger."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def command(file: Path, ledger: Path | None, as_json: bool) -> int:
    """Check a certificate; exit status 1 if it does not hold.

    It prints a verdict, the claim, the releases, the assumptions, and the method of the check.

    Example: dpbounds check certificate.json --ledger ledger.json
    """
    from dpbounds import documents
    from dpbounds.privacy.publishing.certificates import check_certificate

    document = documents.read_json(file, "FILE")  # one reading; what is not a file is bad input
    released = None if ledger is None else _digest_of(ledger)
    try:
        if not isinstance(document, dict):
            raise CertificateError(f"{documents.quoted(document)} instead of an object")
        report = check_certificate(document)
    except CertificateError as error:  # no certificate at all, rather than one that does not hold
        raise InvalidValue("FILE", file, "a certificate that dpbounds wrote", str(error)) from None
    matches = released is None or released == report.claims[0]["digest"]
    if as_json:
        told = {
            "holds": report.holds and matches,
            "verdict": report.verdict if matches else _OTHER,
            "lines": list(report.lines),
            "claims": [dict(claim) for claim in report.claims],
            "assumptions": list(report.assumptions),
        }
        if ledger is not None:
            told["ledger"] = {"file": str(ledger), "digest": released, "matches": matches}
        output.print_json(told)
    elif matches:
        click.echo(str(report))
        if ledger is not None:
            click.echo(f"  the releases are those in {ledger}, by their digest")
    else:
        click.echo(f"{_OTHER} (digest {released}); by itself, {report.verdict}")
        click.echo("\n".join(report.about))
    return DONE if report.holds and matches else DOES_NOT_HOLD


_OTHER = "the certificate is about other releases than the ledger"


def _digest_of(ledger: Path) -> str:
    from dpbounds.cli.questions.subjects import read_ledger
    from dpbounds.privacy.mechanisms.descriptions import digest

    return digest(read_ledger(ledger).mechanism)
