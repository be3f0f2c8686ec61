"""The command line as tests use it: what it says, what it answers as JSON, what it refuses."""

import csv
import json
from functools import cache
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import dpbounds as dp
from dpbounds.algorithms.ledger_format import write_releases
from dpbounds.cli import main
from dpbounds.cli.answers import cheaper
from dpbounds.privacy.accountants import certified as accountants

SCHEMAS = Path(__file__).parents[2] / "docs" / "schemas"


@cache
def _schema(verb):
    return jsonschema.Draft202012Validator(json.loads((SCHEMAS / f"{verb}.json").read_text(encoding="utf-8")))


def read_answer(text):
    """A JSON answer, which must be as its verb's schema says."""
    answer = json.loads(text)
    verb = answer[0]["verb"] if isinstance(answer, list) else answer["verb"]
    wrong = jsonschema.exceptions.best_match(_schema(verb).iter_errors(answer))
    assert wrong is None, f"{wrong.json_path}: {wrong.message}"
    return answer


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
        return read_answer(captured.out), captured.err

    return ask


@pytest.fixture
def data(said):
    """The JSON answer alone."""
    return lambda *arguments, status=0: read_answer(said(*arguments, "--json", status=status))


@pytest.fixture
def refused(capsys, request):
    """The one line with which bad input is refused, in which each of some words must be ``told``."""

    def refuse(*arguments, told=()):
        assert main([*getattr(request.module, "VERB", ()), *arguments]) == 2
        captured = capsys.readouterr()
        if "--json" in arguments:
            assert captured.err == f"dpbounds: {read_answer(captured.out)['error']['message']}\n"
        else:
            assert captured.out == ""
        assert captured.err.count("\n") == 1
        assert [part for part in told if part not in captured.err] == []
        return captured.err

    return refuse


@pytest.fixture
def questions(monkeypatch):
    """What the accountant was asked: mechanisms and options; it answers quickly, about another mechanism."""
    questions = []
    real = accountants.account

    def account(mechanism, **question):
        questions.append((mechanism, question))
        return real(dp.Gaussian(5), delta="1e-5")

    monkeypatch.setattr(accountants, "account", account)
    return questions


@pytest.fixture
def asked(questions):
    """The mechanisms and relations that the accountant was asked about, but for cheaper ones that a verb adds."""
    added = cheaper.SECONDS
    return lambda: [(each, question["relation"]) for each, question in questions if question["time_limit"] != added]


@pytest.fixture
def own(tmp_path, monkeypatch):
    """Options for a small file of records of one's own, in the directory that the command runs in."""
    monkeypatch.chdir(tmp_path)
    draw = np.random.default_rng(0).uniform(-1, 1, (60, 2))
    (tmp_path / "d.csv").write_text("\n".join(["a,b,y", *(f"{a},{b},{int(a > b)}" for a, b in draw)]))
    (tmp_path / "r.csv").write_text("feature,lower,upper\na,-1,1\nb,-1,1\n")
    return ("--data", "d.csv", "--ranges", "r.csv", "--positive", "1")


@pytest.fixture
def records(tmp_path):
    """The directory of a small file of records with units, and of their ranges."""
    generator = np.random.default_rng(0)
    features = generator.uniform((0, 100), (10, 300), size=(80, 2))
    labels = np.where(features[:, 0] / 10 + features[:, 1] / 300 > 1.1, "yes", "no")
    lines = ["height,weight,ill", *(f"{a},{b},{label}" for (a, b), label in zip(features, labels, strict=True))]
    (tmp_path / "records.csv").write_text("\n".join(lines))
    (tmp_path / "ranges.csv").write_text("feature,lower,upper\nheight,0,10\nweight,100,300\n")
    return tmp_path


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
