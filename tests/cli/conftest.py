"""The command line as tests use it: what it says, what it answers as JSON, what it refuses."""

import csv
import json

import pytest

from dpbounds.algorithms.ledger_format import write_releases
from dpbounds.cli import main


@pytest.fixture
def said(capsys, request):
    """Run the module's ``VERB`` with arguments: what is on standard output."""

    def say(*arguments, status=0):
        assert main([*getattr(request.module, "VERB", ()), *arguments]) == status
        return capsys.readouterr().out

    return say


@pytest.fixture
def answer(capsys, request):
    """The JSON answer, and what went to standard error."""

    def ask(*arguments):
        assert main([*getattr(request.module, "VERB", ()), *arguments, "--json"]) == 0
        captured = capsys.readouterr()
        return json.loads(captured.out), captured.err

    return ask


@pytest.fixture
def data(said):
    """The JSON answer alone."""
    return lambda *arguments, status=0: json.loads(said(*arguments, "--json", status=status))


@pytest.fixture
def refused(capsys, request):
    """The one line with which bad input is refused."""

    def refuse(*arguments):
        assert main([*getattr(request.module, "VERB", ()), *arguments]) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        assert captured.err.count("\n") == 1
        return captured.err

    return refuse


@pytest.fixture
def ledger(tmp_path):
    """The name of a file that holds a ledger: the releases of a mechanism, or a text as it is."""

    def write(content):
        path = tmp_path / "ledger.json"
        path.write_text(content if isinstance(content, str) else write_releases(content))
        return str(path)

    return write


@pytest.fixture
def rows():
    """The rows of a CSV file, by column."""

    def read(path):
        with open(path, newline="") as file:
            return list(csv.DictReader(file))

    return read
