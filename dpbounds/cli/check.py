"""`dpbounds check`: verify a certificate, by another route than the one that made it."""

from __future__ import annotations

from pathlib import Path

import click

from dpbounds.cli import DOES_NOT_HOLD, DONE, output
from dpbounds.cli.options import FILE, reading
from dpbounds.errors import CertificateError, InvalidValue


@click.command("check", short_help="Check a certificate.")
@click.argument("file", type=FILE, metavar="FILE")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def command(file: Path, as_json: bool) -> int:
    """Check a certificate; exit status 1 where it does not hold.

    Example: dpbounds check certificate.json
    """
    reading(file, "FILE")  # a file that is not there is bad input, not a certificate that fails

    from dpbounds.privacy.certificates import check_certificate

    try:
        report = check_certificate(file)
    except CertificateError as error:  # no certificate at all, rather than one that does not hold
        raise InvalidValue("FILE", file, "a certificate that dpbounds wrote", str(error)) from None
    if as_json:
        output.print_json({"holds": report.holds, "lines": list(report.lines)})
    else:
        click.echo("\n".join(report.lines))
        click.echo("the certificate holds" if report.holds else "the certificate does NOT hold")
    return DONE if report.holds else DOES_NOT_HOLD
