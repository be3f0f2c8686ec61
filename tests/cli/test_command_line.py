import json
import subprocess
import sys

import click
import pytest

import dpbounds
import dpbounds.privacy.accountants.groups  # before anything is replaced: it remembers what it imports
from dpbounds.cli import main
from dpbounds.cli.printing.output import SCHEMA_VERSION
from dpbounds.errors import (
    BudgetExceeded,
    CertificateError,
    DpboundsError,
    InvalidValue,
    NotCertified,
    UnsupportedMechanism,
)
from tests.cli.conftest import read_answer

RUN = ["--noise-multiplier", "1", "--sample-rate", "0.01", "--steps", "100"]
FIXED = [*RUN[:2], "--sampling", "without-replacement", "--batch-size", "10", "--dataset-size", "1000"]
BINS = ["--delta", "1e-6", *RUN[:2], "--sampling", "balls-in-bins", "--batches", "5"]
ALLOCATED = ["--delta", "1e-6", *RUN[:2], "--sampling", "random-allocation", "--batches", "5"]
REPLACED = [*RUN[:2], "--sampling", "with-replacement"]
POISSON = ["--sampling", "poisson"]
BALL = ["--sensitivity", "2", "--dimension", "3", "--dataset-size", "100", "--steps", "10"]
GROUPS = {
    "Account": ["calibrate", "epsilon", "delta", "attacker", "convert", "remaining", "ball", "check"],
    "Theorems": ["theorems", "show", "evaluate", "compare", "tightness", "errata", "table", "regimes", "plan"],
    "Runs": ["demo", "run", "fit", "verify", "audit", "explain"],
    "Contribute": ["new"],
}
VERBS = tuple(verb for verbs in GROUPS.values() for verb in verbs)
EXPLICIT = "wang-xu-2019/theorem-2/explicit"
NUMBERS = (
    *("--metric", "gradient-norm", "--n", "1e6", "--d", "100", "--epsilon", "1", "--delta", "1e-6"),
    *("--lipschitz", "1", "--smoothness", "1", "--initial-gap", "1"),
)
TARGET = ["--target-epsilon", "1", "--target-delta", "1e-6"]

BAD_INPUT = [  # one for each place that refuses
    (["epsilon", *RUN, "--delta", "2"], ["--delta", "2", "at least 0 and less than 1"]),
    (["calibrate", "--target-tpr", "0.1", "--steps", "1"], ["--at-fpr", "missing", "--target-tpr"]),
    (["calibrate", "--target-tpr", "0.1", "--at-fpr", "0.2", "--steps", "1"], ["target", "0.1", "guessing"]),
    (["calibrate", "--least-rate", "0.1", "--steps", "1"], ["--target-mu", "missing", "--least-rate"]),
    (["calibrate", "--target-mu", "1", "--at-fpr", "0.1", "--steps", "1"], ["--at-fpr", "--target-mu"]),
    (["calibrate", "--target-mu", "1", "--least-rate", "0.5", "--steps", "1"], ["--least-rate", "0.5", "1/2"]),
    (["calibrate", *TARGET, "--target-mu", "1", "--steps", "1"], ["--target-epsilon", "--target-mu"]),
    (["calibrate", *TARGET, "--target-advantage", "0.1", "--steps", "1"], ["--target-epsilon", "--target-advantage"]),
    (["calibrate", "--target-epsilon", "1", "--target-delta", "0", "--steps", "1"], ["target_delta", "not pure"]),
    (["attacker", *RUN, "--false-positive-rate", "0.1,2"], ["--false-positive-rate", "2", "0 to 1"]),
    (["convert", "--to", "gdp", "--from-rho", "1", "--delta", "0.1"], ["delta", "left out", "gdp"]),
    (["convert", "--to", "epsilon", "--from-rho", "1"], ["delta", "given"]),
    (["convert", "--to", "zcdp", "--from-rho", "1", "--from-mu", "1"], ["--from-mu", "--from-rho"]),
    (["convert", "--to", "zcdp", "--from-xi", "1", "--from-mu", "1"], ["--from-xi", "--from-rho only"]),
    (["convert", "--to", "zcdp", "--from-rho", "1", "--steps", "3"], ["--steps", "a guarantee is given"]),
    (["convert", "--to", "zcdp", "--from-renyi", "2"], ["--from-renyi", "A:B"]),
    (["convert", "--to", "pure", "--from-mu", "1"], ["no finite", "Gaussian noise are unbounded"]),
    (["epsilon", *RUN, "--delta", "one"], ["--delta", "'one'", "1e-6"]),
    (["epsilon", *RUN, "--delta", "1/0"], ["--delta", "1/0", "zero"]),
    (["epsilon", *RUN, "--delta"], ["--delta"]),
    (["delta", *RUN, "--epsilon", "-1"], ["--epsilon", "-1", "at least 0"]),
    (["epsilon", "--delta", "1e-6", "--steps", "3", "--noise-multiplier", "0"], ["--noise-multiplier", "0"]),
    (["epsilon", "--delta", "1e-6", "--noise-multiplier", "1", "--sample-rate", "0.01"], ["--steps", "--epochs"]),
    (["epsilon", "--delta", "1e-6", *RUN[:4], "--steps", "2.5"], ["--steps", "2.5", "whole"]),
    (["epsilon", "--delta", "1e-6", *RUN, "--epochs", "3"], ["--epochs", "3", "--steps"]),
    (["epsilon", "--delta", "1e-6", *RUN[:2], "--steps", "9", "--sample-rate", "1.5"], ["--sample-rate", "1.5"]),
    (
        ["epsilon", "--delta", "1e-6", *RUN[:2], "--steps", "9", "--sample-rate", "0"],
        ["--sample-rate must be", "not 0", "no record is ever used"],
    ),
    (["epsilon", "--delta", "1e-6", "--noise-multiplier", "0"], ["not 0", "without noise", "epsilon is infinite"]),
    (["delta", "--epsilon", "inf", *RUN], ["not inf", "train without noise"]),
    (["calibrate", "--target-epsilon", "0", "--target-delta", "1e-6"], ["not 0", "ask with --target-advantage"]),
    (["calibrate", "--target-epsilon", "inf", "--target-delta", "1e-6"], ["not inf", "state no guarantee"]),
    (["epsilon", "--delta", "1e-6", *RUN, "--relation", "replace"], ["--relation", "replace", "add-or-remove-one"]),
    (
        ["epsilon", "--delta", "1e-6", *RUN, "--sampling", "with-replacement"],
        ["--sample-rate", "0.01", "with-replacement", "--batch-size"],
    ),
    (["epsilon", "--delta", "1e-6", *RUN, "--sampling", "sorted"], ["--sampling", "sorted", "poisson", "with-repl"]),
    *(
        (["epsilon", "--delta", "1e-6", *RUN, "--sampling", name], [f"--sampling {name}: ", *told, "instead", "read"])
        for name, told in (
            ("cyclic", ["fixed-order is not supported", "Chua et al."]),
            ("dp-ftrl", ["tree-aggregation is not supported", "Kairouz"]),
        )
    ),
    (["epsilon", *BINS, "--epochs", "2"], ["--redraw", "missing", "--same-bins"]),
    (["epsilon", *BINS, "--redraw"], ["--epochs", "missing"]),
    (["epsilon", *BINS, "--epochs", "2", "--redraw", "--steps", "9"], ["--steps", "9", "--batches M and --epochs N"]),
    (
        ["epsilon", *BINS, "--epochs", "2", "--redraw", "--participations", "2"],
        ["--participations", "random-allocation"],
    ),
    (["epsilon", *ALLOCATED, "--epochs", "2", "--same-bins"], ["--same-bins", "balls-in-bins"]),
    (["epsilon", *ALLOCATED, "--epochs", "2", "--participations", "6"], ["--participations", "6", "at most", "5"]),
    (
        ["calibrate", *TARGET, *ALLOCATED[2:], "--epochs", "2", "--solve", "steps"],
        ["--epochs 2", "--solve steps", "leave it out"],
    ),
    (["epsilon", "--delta", "1e-6", *RUN, "--batches", "5"], ["--batches", "5", "poisson", "balls-in-bins"]),
    (["epsilon", "--delta", "1e-6", *FIXED[:4], "--steps", "3", *FIXED[4:6]], ["--dataset-size", "missing"]),
    (["epsilon", "--delta", "1e-6", *RUN, "--max-batch-size", "9"], ["--max-batch-size 9", "truncated-poisson"]),
    (
        ["epsilon", "--delta", "1e-6", *RUN, "--sampling", "truncated-poisson", "--dataset-size", "9"],
        ["--max-batch-size", "missing"],
    ),
    (
        ["epsilon", "--delta", "1e-6", *FIXED[:6], "--dataset-size", "9", "--steps", "3"],
        ["--batch-size", "10", "at most", "9"],
    ),
    (
        ["epsilon", "--delta", "1e-6", *FIXED[:6], "--dataset-size", "10", "--steps", "3"],
        ["--batch-size", "10", "less than --dataset-size, 10, under add-or-remove-one"],
    ),
    (
        ["epsilon", "--delta", "1e-6", *REPLACED, "--batch-size", "3", "--dataset-size", "1", "--steps", "3"],
        ["--dataset-size", "1", "at least 2 under add-or-remove-one"],
    ),
    (
        ["calibrate", *TARGET, "--solve", "sample-rate", *FIXED, "--steps", "3"],
        ["--solve", "sample-rate", "noise or steps", "--batch-size B", "--sampling poisson"],
    ),
    (
        [
            *("epsilon", "--delta", "1e-6", *FIXED, "--noise", "laplace", "--steps", "3"),
            *("--relation", "zero-out-one", "--certificate", "c"),
        ],
        ["--certificate", "not possible", "replace-one has a certificate"],
    ),
    (["epsilon", "--delta", "1e-6", *RUN, "--group-size", "0"], ["--group-size", "0"]),
    (["epsilon", "--delta", "1e-6", *RUN, "--group-size", "2", "--statement"], ["--statement", "--group-size"]),
    (["epsilon", "--delta", "1e-6", *RUN, "--group-size", "2", "--tolerance", "0.1"], ["--tolerance", "--group-size"]),
    (["delta", "--epsilon", "1", *RUN, "--trade-off", "no/such/place.csv"], ["--trade-off", "no/such/place.csv"]),
    (["ball", *BALL], ["--radius", "missing", "--target-delta"]),
    (["ball", *BALL, "--radius", "1", "--target-delta", "0.1"], ["--radius", "1", "--target-delta"]),
    (["epsilon", "--delta", "1e-6", *RUN, "--sampling", "full-batch"], ["--sample-rate", "0.01", "full-batch"]),
    (
        ["epsilon", "--delta", "1e-6", *RUN[:2], "--steps", "9", "--batch-size", "5", "--dataset-size", "100"],
        ["--batch-size", "5", "poisson", "shuffled", "without-replacement", "with-replacement"],
    ),
    (
        ["epsilon", "--delta", "1e-6", *RUN[:2], "--steps", "9", "--batch-size", "5", "--sampling", "poisson"],
        ["--dataset-size", "missing"],
    ),
    (
        ["epsilon", "--delta", "1e-6", *RUN, "--batch-size", "5", "--dataset-size", "500", "--sampling", "poisson"],
        ["--batch-size", "5", "--sample-rate"],
    ),
    (
        ["delta", "--epsilon", "1", *RUN[:2], "--steps", "9", *POISSON, "--batch-size", "5", "--dataset-size", "4"],
        ["--batch-size", "5", "at most", "4"],
    ),
    *(
        (["epsilon", "--delta", "1e-6", *RUN, "--method", "rdp", *option], [option[0], "--method certified"])
        for option in (["--explain"], ["--group-size", "2"])
    ),
    (["epsilon", "--delta", "1e-6", *RUN, "--method", "moments"], ["--method", "moments", "certified"]),
    (["epsilon", "--delta", "1e-6", *RUN, "--tolerance", "0"], ["--tolerance", "0"]),
    (["epsilon", "--delta", "1e-6", *RUN, "--ledger", "nowhere.json"], ["--noise-multiplier", "1", "--ledger"]),
    (["epsilon", "--delta", "1e-6", *RUN, "--steeps", "3"], ["--steeps"]),
    (["epsilon", "--delta", "1e-6", *RUN, "more"], ["more"]),
    (["epsilon", "--delta", "1e-6", *RUN, "--certificate", "no/place.json"], ["--certificate", "no/place.json"]),
    (["calibrate", *TARGET, "--certificate", "."], ["--certificate must be", "not .;", "directory"]),
    (["calibrate", "--target-epsilon", "0", "--target-delta", "1e-6"], ["--target-epsilon", "0"]),
    (["calibrate", *TARGET, "--solve", "epochs"], ["--solve epochs", "--sampling shuffled", "--solve steps"]),
    (["calibrate", *TARGET, *RUN], ["--noise-multiplier", "1", "--solve noise"]),
    (["calibrate", *TARGET, "--solve", "steps", *RUN], ["--steps", "100", "--solve steps"]),
    (["calibrate", *TARGET, "--solve", "steps", "--sample-rate", "0.1"], ["--noise-multiplier", "missing"]),
    (["calibrate", *TARGET, "--solve", "sample-rate", *RUN], ["--sample-rate", "0.01", "--solve sample-rate"]),
    (["calibrate", *TARGET, "--solve", "sample-rate", *RUN[:2], "--epochs", "2"], ["--epochs", "2", "--steps"]),
    (
        ["calibrate", *TARGET, "--solve", "sample-rate", *RUN[:2], "--steps", "2", "--sampling", "full-batch"],
        ["--sampling", "full-batch", "poisson"],
    ),
    (["check"], ["FILE"]),
    (["check", "nowhere.json"], ["FILE", "nowhere.json"]),
    (["demo", "--epsilon", "0"], ["--epsilon", "0", "greater than 0"]),
    (["demo", "--epsilon", "1", "--epsilon", "1.0"], ["--epsilon", "once"]),
    (["demo", "--label", "x"], ["--label", "x", "--data"]),
    (["demo", "--repetitions", "0"], ["--repetitions", "0"]),
    (["demo", "--seed", "-1"], ["--seed", "-1"]),
    (["demo", "--centre", "2"], ["--centre", "2", "from 0 to 1"]),
    (["verify", "nobody-1999"], ["statement with a check"]),
    (["verify", "lowy-ullman-wright-2024/lemma-6.5"], ["none: a lower bound on all algorithms at once"]),
    (["verify", "--quick", "--full"], ["one of the two"]),
    (["verify", "--jobs", "0"], ["--jobs"]),
    (["verify", "--export", "cells.txt"], [".parquet"]),
    (["verify", "--scheduler", "localhost"], ["tcp://"]),
    (["regimes", "nonsense"], ["metric must be one of", "not nonsense", "gradient-norm"]),
    (["regimes", "sosp", "--epsilon-power", "-1"], ["--epsilon-power", "at least 0"]),
    (["regimes", "sosp", "--output", "map.txt"], ["--plot", ".png, .svg, .pdf"]),
    (["regimes", "sosp", "--output", "map.png", "--epsilon-power", "0"], ["--epsilon-power 0", "does not fit a map"]),
    (
        ["regimes", "sosp", "--axis", "rank", "--output", "map.png"],
        ["--axis rank fits neither a map"],
    ),
    (["regimes", "sosp", "--status", "nice"], ["status must be one of", "not nice"]),
    (["regimes", "sosp", "--assuming", "round"], ["assuming must be one of", "not round"]),
    (["regimes", "sosp", "--with", "zzz=2"], ["zzz"]),
    (["audit", "dp-pgd", "--output", "somewhere"], ["--output somewhere needs all or --mutations"]),
    (["audit"], ["--mutations, or --scores"]),
    (["audit", "nobody"], ["one of "]),
    (["audit", "all", "--one-run"], ["--one-run needs one ALGORITHM"]),
    (["audit", "dp-spider", "--one-run"], ["one for a generalised linear model"]),
    (["audit", "dp-fw-l2", "--one-run"], ["one that runs in 400 dimensions"]),
    (["audit", "dp-pgd", "--runs", "4"], ["runs"]),
    (["audit", "dp-pgd", "--confidence", "1"], ["--confidence"]),
    (["explain", "nobody"], ["one of "]),
    (["explain", "above-threshold"], ["above-threshold has none: its bound holds with a probability"]),
    (["explain", "dp-spider", "--data", "pyproject.toml"], ["goes with dp-pgd, not with dp-spider"]),
    (["plan", "--metric", "gradient-norm", "--n", "10"], ["d, epsilon, delta"]),
    (["plan", "--metric", "slowness", "n=1", "d=1", "epsilon=1", "delta=0.1"], ["one of gradient-norm"]),
    (["plan", *NUMBERS, "n=5"], ["given once only"]),
    (["plan", *NUMBERS, "colour=5"], ["symbol table"]),
    (["plan", *NUMBERS, "--diameter", "wide"], ["a number such as"]),
    (["table", "nonsense"], ["one of gradient-norm"]),
    (["table", "all"], ["--output DIR or --check"]),
    (["table", "all", "--format", "csv"], ["one table's name"]),
    (["table", "errata", "--format", "csv"], ["Markdown"]),
    (["table", "sosp", "--format", "pdf"], ["one of md, latex, bib, html, csv"]),
    (["table", "ball-noise", "--at", "n=10"], ["a grid of its own"]),
    (["table", "sosp", "--at", "n=10,G=1"], ["--at must be a quantity's name", "not G"]),
    (["evaluate", EXPLICIT, "n=0"], ["dataset_size must be", "not 0", "whole number at least 1"]),
    (["evaluate", EXPLICIT, "n=10"], [" is missing: ", "smoothness: ", "steps or T: ", "give NAME=VALUE"]),
    (["evaluate", EXPLICIT, "n=10", "dataset_size=10"], ["another name of dataset_size"]),
    (["evaluate", EXPLICIT, "n=10", "n=11"], ["given once only"]),
    (["evaluate", EXPLICIT, "zzz=10"], ["zzz", "it uses: "]),
    (["evaluate", EXPLICIT, "n"], ["name=value"]),
    (["evaluate", EXPLICIT, "--part", "nonsense"], ["one of the parts of"]),
    (["evaluate", EXPLICIT, "--relation", "replace-one"], ["--relation replace-one needs --part spent"]),
    (["spend"], ["unknown command", "spend", "dpbounds --help"]),
    (["epsilno"], ["unknown command", "epsilno", "epsilon"]),
    (["--nonsense"], ["--nonsense"]),
]


@pytest.mark.parametrize(("arguments", "fragments"), BAD_INPUT, ids=lambda value: " ".join(value))
def test_bad_input_is_one_line_that_names_the_option_and_the_value(
    arguments, fragments, refused, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    assert refused(*arguments, told=fragments).startswith("dpbounds: ")


NEEDED = {  # a command whose every option is needed
    "epsilon": ["--delta", "1e-6", "--noise-multiplier", "1"],
    "delta": ["--epsilon", "1", "--noise-multiplier", "1"],
    "remaining": ["--ledger", "x.json", *TARGET],
    "ball": BALL,
    "calibrate": TARGET,
}


@pytest.mark.parametrize("verb", NEEDED)
def test_an_option_that_is_needed_is_named(verb, refused):
    words = NEEDED[verb]
    for place in range(0, len(words), 2):
        assert f"{words[place]} is missing" in refused(verb, *words[:place], *words[place + 2 :])


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (InvalidValue("x", 1, "2"), 2),
        (UnsupportedMechanism("no proof"), 2),
        (DpboundsError("something"), 2),
        (NotCertified("the proof\ndid not close"), 1),
        (BudgetExceeded("too much"), 1),
        (CertificateError("does not check"), 1),
        (PermissionError(13, "Permission denied", "file.json"), 2),
        (click.Abort(), 130),
    ],
    ids=lambda value: type(value).__name__,
)
def test_every_error_has_its_status_and_one_line(error, status, capsys, monkeypatch):
    def fail(*arguments, **options):
        raise error

    monkeypatch.setattr("dpbounds.privacy.accountants.certified.account", fail)
    words = ["epsilon", *RUN, "--delta", "1e-6"]
    assert main(words) == status
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert main([*words, "--json"]) == status
    again = capsys.readouterr()
    assert again.err == captured.err
    assert read_answer(again.out) == {
        "schema_version": SCHEMA_VERSION,
        "dpbounds_version": dpbounds.__version__,
        "verb": "epsilon",
        "error": {"message": again.err.removeprefix("dpbounds: ").rstrip("\n"), "status": status},
    }


@pytest.mark.parametrize(
    "bug", [ZeroDivisionError("a bug"), RecursionError("deep"), MemoryError(), OverflowError("x" * 9000)]
)
def test_a_bug_has_a_status_of_its_own(bug, monkeypatch, capsys):
    def fail(*arguments, **options):
        raise bug

    monkeypatch.setattr("dpbounds.privacy.accountants.certified.account", fail)
    monkeypatch.delenv("DPBOUNDS_TRACEBACK", raising=False)
    words = ["epsilon", *RUN, "--delta", "1e-6"]
    assert main(words) == 3
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert len(captured.err) <= 501
    for part in ("please report it", type(bug).__name__, "dpbounds epsilon --noise-multiplier 1"):
        assert part in captured.err
    monkeypatch.setenv("DPBOUNDS_TRACEBACK", "1")
    assert main(words) == 3
    assert "Traceback" in capsys.readouterr().err


def test_an_interruption_is_told(monkeypatch, capsys):
    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("dpbounds.privacy.accountants.certified.account", interrupt)
    assert main(["epsilon", *RUN, "--delta", "1e-6"]) == 130
    assert "interrupted" in capsys.readouterr().err


@pytest.mark.parametrize("verb", ["theorems", "errata"])
def test_nobody_reads_is_no_verdict(verb):
    script = f"{sys.executable} -c 'import sys; from dpbounds.cli import main; sys.exit(main())' {verb}"
    found = subprocess.run(
        ["bash", "-c", f"{script} | true; echo ${{PIPESTATUS[0]}}"], capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() in ("0", "141")  # it may have ended before
    assert found.stderr == ""


@pytest.mark.parametrize("unbuffered", ["", "1"])  # Python's own variable: a buffer fails once more when it ends
def test_a_full_standard_output_is_one_line(unbuffered, monkeypatch):
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    script = f"{sys.executable} -c 'import sys; from dpbounds.cli import main; sys.exit(main())' theorems > /dev/full"
    found = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
    assert found.returncode == 2
    assert found.stderr.count("\n") == 1
    assert found.stderr.startswith("dpbounds: the system reports No space left")


@pytest.mark.parametrize(
    "words",
    [
        ["epsilon", *RUN, "--delta", "X" * 100_000],
        ["epsilon", *RUN, "--delta", "1e-6", "--method", "\x1b[2J\x1b[31mOK" * 900],
        ["epsilon", *RUN, "--delta", "1e-6", "--relation", "Y" * 100_000],
        ["check", "x/" * 3000],
        ["check", "a\x00b"],
        ["check", "\u202egnp.exe"],
        ["theorems", "--paper", "a\nb" * 4000],
        ["verify", "nonsense"],
        ["Z" * 100_000],
        ["plan", "--metric", "gradient-norm", "nosuch=1"],
        ["show", "W" * 100_000],
    ],
)
def test_an_error_is_one_short_line_that_commands_no_terminal(words, capsys):
    assert main(words) == 2
    line = capsys.readouterr().err
    assert line.endswith("\n")
    assert line[:-1].isprintable()
    assert len(line) <= 501


@pytest.mark.parametrize(
    "words",
    [["epsilonn"], ["show", "wang-xu-2019/theorem-22"], ["audit", "dp-pdg"], ["plan", "--metric", "gradient-nrm"]],
)
def test_a_slip_is_answered_with_what_may_have_been_meant(words, capsys):
    assert main(words) == 2
    err = capsys.readouterr().err
    assert any(meant in err for meant in ("epsilon?", "wang-xu-2019/theorem-2", "dp-pgd", "gradient-norm"))


_PLAN = ["plan", "--metric", "gradient-norm"]
_TRAIN = ["--target-epsilon", "1", "--target-delta", "1e-5"]


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["evaluate", "wang-xu-2019/theorem-2/explicit", "smothness=1"], "smoothness"),
        (["evaluate", "wang-xu-2019/theorem-2/explicit", "lipshitz=1"], "lipschitz"),
        (["evaluate", "wang-xu-2019/theorem-2/explicit", "--part", "tund", "n=100"], "tuned"),
        (["evaluate", "wang-xu-2019/theorem-2/explicit", "--relation", "replace_one"], "replace-one"),
        ([*_PLAN, "smothness=5"], "smoothness"),
        ([*_PLAN, "inital_gap=5"], "initial_gap"),
        ([*_PLAN, "--relation", "replce-one"], "replace-one"),
        (["epsilon", "--relation", "add-remove-one"], "add-or-remove-one"),
        (["epsilon", "--relation", "add-one"], "add-or-remove-one"),
        (["remaining", "--relation", "unbounded"], "add-or-remove-one"),
        (["audit", "dp-pgd", "--relation", "substitute"], "replace-one"),
        ([*_PLAN, "--relation", "replace-special"], "zero-out-one"),
        (["calibrate", *_TRAIN, "--solve", "nose"], "noise"),
        (["calibrate", *_TRAIN, "--solve", "stpes"], "steps"),
        (["calibrate", *_TRAIN, "--sampling", "random-alocation"], "random-allocation"),
        (["explain", "dp-gd", "--mapping", "noissy"], "noisy"),
        (["run", "--noise", "gausian"], "gaussian"),
    ],
)
def test_a_word_that_is_misspelt_is_answered_with_the_one_that_was_meant(words, meant, capsys):
    assert main(words) == 2
    assert f"did you mean {meant}?" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["calibrate", *_TRAIN, "--solve", "zzz"], [*_PLAN, "qqqq=5"], ["qqqq"]])
def test_nothing_is_meant_by_a_word_like_no_other(words, capsys):
    assert main(words) == 2
    assert "did you mean" not in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"]])
def test_help_lists_every_verb_in_its_group(arguments, capsys):
    assert main(arguments) == 0
    lines = capsys.readouterr().out.splitlines()
    for group, verbs in GROUPS.items():
        first = lines.index(f"{group}:") + 1
        assert [line.split()[0] for line in lines[first : first + len(verbs)]] == verbs


def test_a_schema_refuses_what_is_missing_unknown_or_of_another_kind(data):
    answer = data("ball", *BALL, "--radius", "1")
    assert (answer["schema_version"], answer["verb"]) == (SCHEMA_VERSION, "ball")
    less = {name: value for name, value in answer.items() if name != "tight"}
    for wrong in (less, {**answer, "extra": 1}, {**answer, "delta": 0.5}, {**answer, "error": {}}):
        with pytest.raises(AssertionError, match=r"\$"):
            read_answer(json.dumps(wrong))


def test_an_error_of_no_verb_is_json_too(capsys):
    assert main(["--json"]) == main(["spend", "--json"]) == 2
    found = capsys.readouterr()
    for document in found.out.replace("}\n{", "}\n\n{").split("\n\n"):
        assert json.loads(document)["verb"] is None


def test_an_error_where_nothing_can_be_written_has_its_status(capsys, monkeypatch):
    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("dpbounds.cli.printing.output.print_json", full)
    monkeypatch.setattr("dpbounds.cli._drop_output", lambda: None)
    assert main(["epsilon", "--json"]) == 2
    assert capsys.readouterr().err.startswith("dpbounds: --delta is missing")


# What a shell asks for when Tab is pressed after these words.
COMPLETED = [
    ("cal", {"calibrate"}),
    ("show dpbounds/noisy-descent-e", {"dpbounds/noisy-descent-exact"}),
    ("compare dpbounds/storm dpbounds/stor", {"dpbounds/storm", "dpbounds/storm/batches"}),
    ("plan --metric population-s", {"population-sosp"}),
    ("theorems --status disp", {"disputed"}),
    ("theorems --paper wang-x", {"wang-xu-2019"}),
    ("errata --paper tho", {"tholeti-kalyani-2020"}),
    ("run dp-st", {"dp-storm", "dp-storm-batches"}),
    ("audit dp-spi", {"dp-spider", "dp-spider-as-printed"}),
    ("explain clipped-gd-p", {"clipped-gd-poisson"}),
    ("verify dpbounds/sto", {"dpbounds/storm", "dpbounds/storm/batches"}),
    ("tightness dpbounds/geometric", {"dpbounds/geometric-noise-under-pl"}),
    ("table open-", {"open-problems"}),
    ("regimes frank", {"frank-wolfe-gap"}),
    ("epsilon --relation z", {"zero-out-one"}),
]


@pytest.mark.parametrize(("words", "offered"), COMPLETED)
def test_a_shell_completes_what_is_begun(words, offered, capsys, monkeypatch):
    monkeypatch.setenv("_DPBOUNDS_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", f"dpbounds {words}")
    monkeypatch.setenv("COMP_CWORD", str(len(words.split())))
    assert main([]) == 0
    assert set(capsys.readouterr().out.split()) == {f"plain,{word}" for word in offered}


@pytest.mark.parametrize(
    ("verb", "why"),
    [
        ("epsilon", "Default: as in Opacus and"),
        ("plan", "Default: as in the theorems."),
        ("audit", "Default: as in the theorems, but add-or-remove-one with --scores."),
    ],
)
def test_a_default_relation_has_its_reason_beside_it(verb, why, said):
    assert why in " ".join(said(verb, "--help").split())


@pytest.mark.parametrize("verb", VERBS)
def test_each_verb_explains_itself_with_an_example(verb, said):
    out = said(verb, "--help")
    assert f"Example: dpbounds {verb}" in out
    assert "--json" in out


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"dpbounds {dpbounds.__version__}\n"


def _in_a_new_process(code, *arguments, **options):
    return subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, **options)


def test_the_process_exits_with_the_status():
    code = "import runpy; runpy.run_module('dpbounds', run_name='__main__')"
    done = _in_a_new_process(code, "epsilon", "--noise-multiplier", "5", "--steps", "1", "--delta", "1e-5", "--json")
    assert done.returncode == 0
    assert done.stderr == ""
    assert json.loads(done.stdout)["certified"] is True
    bad = _in_a_new_process(code, "epsilon", "--noise-multiplier", "5", "--steps", "1", "--delta", "7")
    assert (bad.returncode, bad.stdout, bad.stderr.count("\n")) == (2, "", 1)


def test_a_terminal_without_greek_letters_gets_no_traceback():
    code = "import sys; from dpbounds.cli import main; sys.exit(main())"
    done = _in_a_new_process(
        code, "epsilon", "--help", env={"PYTHONIOENCODING": "latin-1", "PYTHONPATH": ":".join(sys.path)}
    )
    assert done.returncode == 0, done.stderr
    assert "? at a given ?" in done.stdout


def test_help_and_bad_input_need_no_heavy_library():
    code = (
        "import sys; from dpbounds.cli import main; main(['--help']); main(['epsilon', '--delta', '2']);"
        "print([m for m in ('sympy', 'numpy', 'scipy', 'flint', 'matplotlib', 'sklearn', 'rich') if m in sys.modules])"
    )
    done = _in_a_new_process(code)
    assert done.stdout.endswith("[]\n"), done.stdout + done.stderr


@pytest.mark.seconds
@pytest.mark.parametrize(
    "asked",
    [
        "epsilon --noise-multiplier 20 --steps 1 --delta 1e-5",
        "epsilon --noise-multiplier 1 --sample-rate 0.01 --steps 10000 --delta 1e-6",
        "calibrate --target-epsilon 1 --target-delta 1e-6 --sample-rate 0.01 --steps 10000",
    ],
)
def test_a_first_answer_waits_for_no_heavy_library(asked):
    code = (
        f"import sys; from dpbounds.cli import main; status = main({asked.split()!r});"
        "print(status, [m for m in ('scipy', 'sympy', 'mpmath', 'attrs', 'matplotlib', 'rich') if m in sys.modules])"
    )
    done = _in_a_new_process(code)
    assert done.stdout.endswith("0 []\n"), done.stdout + done.stderr
