"""`dpbounds check`: verify a certificate, by another route than the one that made it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from dpbounds.cli import DOES_NOT_HOLD, DONE
from dpbounds.cli.printing import output
from dpbounds.cli.questions.options import FILE
from dpbounds.errors import CertificateError, InvalidValue

if TYPE_CHECKING:
    from dpbounds.privacy.publishing.certificates import CheckReport
    from dpbounds.privacy.publishing.kernel.checking import KernelReport


@click.command("check", short_help="Check a certificate.")
@click.argument("file", type=FILE, metavar="FILE")
@click.option(
    "--ledger", type=FILE, metavar="FILE", help="Check, too, that the certificate is about the releases in this ledger."
)
@click.option(
    "--kernel",
    is_flag=True,
    help="FILE is a kernel certificate; a checker proven in Coq is built and run (needs Coq and OCaml).",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def command(file: Path, ledger: Path | None, kernel: bool, as_json: bool) -> int:
    """Check a certificate; exit status 1 if it does not hold.

    It prints a verdict, the claim, the releases, the assumptions, and the method of the check. With --kernel, the
    composition is checked by a program that is proven in Coq.

    Example: dpbounds check certificate.json --ledger ledger.json
    """
    from dpbounds import documents
    from dpbounds.privacy.publishing.certificates import check_certificate

    report: CheckReport | KernelReport
    try:
        if kernel:
            from dpbounds.privacy.publishing.kernel.checking import check_kernel_certificate

            report = check_kernel_certificate(file)
        else:
            document = documents.read_json(file, "FILE")  # one reading; what is not a file is bad input
            if not isinstance(document, dict):
                raise CertificateError(f"{documents.quoted(document)} instead of an object")
            report = check_certificate(document)
    except CertificateError as error:  # no certificate at all, rather than one that does not hold
        raise InvalidValue("FILE", file, "a certificate that dpbounds wrote", str(error)) from None
    released = None if ledger is None else _digest_of(ledger)
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
