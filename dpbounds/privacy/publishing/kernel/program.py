"""The checker of kernel certificates, a program extracted from Coq: it is built from its source, and run."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from dpbounds import documents
from dpbounds.errors import DpboundsError
from dpbounds.privacy.publishing.kernel.files import KernelCertificate

TOOLS = ("coqc", "ocamlfind", "ocamlopt", "sh")
HOW_TO_GET_THEM = (
    "the checker is built with Coq and OCaml; on Debian 12: apt-get install --no-install-recommends coq ocaml-nox "
    "ocaml-findlib libzarith-ocaml-dev"
)
_HERE = Path(__file__).parent
# In a wheel, and in the project.
_SOURCES = (_HERE / "coq" / "extracted" / "build.sh", _HERE.parents[3] / "proofs" / "kernel" / "extracted" / "build.sh")
_BUILD_SECONDS, _RUN_SECONDS = 300, 3_600
_ACCEPTED, _REFUSED = 0, 1


class MissingTools(DpboundsError):
    """A tool that builds or runs the checker is missing or fails; the message says how to get it."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer of the checker: whether it accepts every claim, and a line for each."""

    accepted: bool
    lines: tuple[str, ...]


def demand_tools() -> None:
    """Raise ``MissingTools`` where a tool is not installed, or the checker's source is not there."""
    if missing := [tool for tool in TOOLS if shutil.which(tool) is None]:
        raise MissingTools(f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing: {HOW_TO_GET_THEM}")
    _build_script()


def _build_script() -> Path:
    found = next((script for script in _SOURCES if script.is_file()), None)
    if found is None:
        raise MissingTools("the checker's source is not installed: take dpbounds from its repository or from a wheel")
    return found


def run_checker(certificate: KernelCertificate) -> Verdict:
    """Build the checker in a temporary folder, and let it read the certificate.

    Raises:
        MissingTools: A tool is not installed, or does not work.
    """
    demand_tools()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        built = _run(["sh", str(_build_script()), str(folder / "checker")], _BUILD_SECONDS)
        if built.returncode:
            raise MissingTools(f"the checker could not be built ({_last(built)}): {HOW_TO_GET_THEM}")
        file = folder / "certificate"
        documents.write(file, certificate.text())
        answer = _run([str(folder / "checker" / "check_kernel"), str(file)], _RUN_SECONDS)
    if answer.returncode not in (_ACCEPTED, _REFUSED):
        raise MissingTools(f"the checker stopped without a verdict ({_last(answer)}); please report it, with the file")
    lines = tuple(answer.stdout.splitlines())
    accepted = [line.startswith("accepted ") for line in lines]
    whole = len(lines) == len(certificate.claims)
    return Verdict(answer.returncode == _ACCEPTED and whole and all(accepted), lines)


def _run(command: list[str], seconds: int) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(  # noqa: S603 (the checker, and its build)
            command, capture_output=True, text=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        raise MissingTools(
            f"{Path(command[0]).name} took more than {seconds} seconds; check the file on a faster machine"
        ) from None


def _last(result: subprocess.CompletedProcess[str]) -> str:
    lines = (result.stderr or result.stdout).strip().splitlines()
    return lines[-1] if lines else f"status {result.returncode}"
