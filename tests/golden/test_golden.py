import json
import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from dpbounds.errors import InvalidValue, NotCertified
from tests.golden import accounts
from tests.golden.__main__ import FAST, NIGHTLY
from tests.golden.compare import compared, differences, fails, interval_verdict, summary, verdict
from tests.golden.mechanisms import made
from tests.golden.recording import Answer, chosen, record, row

_ROOT = Path(__file__).parents[2]


def answered(value=None, text=None, **ends):
    return json.loads(json.dumps(row(lambda: Answer(value, ends, text))))


def refused(error):
    def ask():
        raise error

    return row(ask)


# --- the verdict on one interval ---


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (("1/3", "2/3"), ("1/3", "2/3"), "equal"),
        (("1/3", "2/3"), ("2/6", "4/6"), "equal"),
        (("1/3", "2/3"), ("0.34", "2/3"), "narrower"),
        (("1/3", "2/3"), ("1/3", "0.66"), "narrower"),
        (("1/3", "2/3"), ("1/2", "1/2"), "narrower"),
        (("1/3", "2/3"), ("0.33", "0.5"), "wider"),
        (("1/3", "2/3"), ("0.5", "0.67"), "wider"),
        (("1/3", "2/3"), ("0", "1"), "wider"),
        (("1/3", "2/3"), ("2/3", "1"), "wider"),
        (("1/3", "2/3"), ("0.67", "1"), "contradiction"),
        (("1/3", "2/3"), ("0", "0.33"), "contradiction"),
        (("0", "inf"), ("0", "5"), "narrower"),
        (("0", "5"), ("0", "inf"), "wider"),
        (("inf", "inf"), ("inf", "inf"), "equal"),
        (("0", "5"), ("inf", "inf"), "contradiction"),
        (("-inf", "5"), ("-inf", "5"), "equal"),
    ],
)
def test_interval_verdict(old, new, expected):
    assert interval_verdict(old, new) == expected


def test_ends_are_compared_exactly():
    third = Fraction(1, 3)
    wider = Fraction(2, 3) + Fraction(1, 10**60)
    assert interval_verdict((str(third), "2/3"), (str(third), str(wider))) == "wider"


# --- the verdict on one answer ---


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (answered(1), answered(1), "equal"),
        (answered(1), answered(2), "changed"),
        (answered(1), answered(True), "changed"),
        (answered(None), answered(0), "changed"),
        (answered(1, "said"), answered(1, "other words"), "equal"),
        (answered(e=(1, 3)), answered(e=(1, 2)), "narrower"),
        (answered(e=(1, 3)), answered(e=(1, 4)), "wider"),
        (answered(e=(1, 3)), answered(e=(4, 5)), "contradiction"),
        (answered(e=(1, 3)), answered(d=(1, 3)), "changed"),
        (answered(e=(1, 3)), answered(), "changed"),
        (answered(), answered(e=(1, 3)), "changed"),
        (answered(e=(1, 3), d=(1, 3)), answered(e=(1, 2), d=(1, 4)), "wider"),
        (answered(e=(1, 3), d=(1, 3)), answered(e=(1, 4), d=(8, 9)), "contradiction"),
        (answered(e=(1, 3), d=(1, 3)), answered(e=(1, 3), d=(2, 3)), "narrower"),
        (answered("a", e=(1, 3)), answered("b", e=(2, 3)), "changed"),
        (answered("a", e=(1, 3)), answered("b", e=(4, 5)), "contradiction"),
        (refused(NotCertified("no")), refused(NotCertified("never")), "equal"),
        (refused(NotCertified("no")), refused(InvalidValue("x", 1, "2")), "changed"),
        (refused(NotCertified("no")), answered(e=(1, 3)), "narrower"),
        (answered(e=(1, 3)), refused(NotCertified("no")), "wider"),
        (refused(InvalidValue("x", 1, "2")), answered(1), "changed"),
        (answered(1), refused(InvalidValue("x", 1, "2")), "changed"),
        (answered(1), refused(ZeroDivisionError("no")), "changed"),
        (None, answered(1), "new"),
        (answered(1), None, "missing"),
    ],
)
def test_verdict(old, new, expected):
    assert verdict(old, new) == expected


@pytest.mark.parametrize(
    ("verdict_of_row", "old", "new", "expected"),
    [
        ("equal", {"a": answered(1)}, {"a": answered(1, "told otherwise")}, False),
        ("narrower", {"a": answered(e=(1, 3))}, {"a": answered(e=(1, 2))}, False),
        ("new", {}, {"a": answered(1)}, False),
        ("missing", {"a": answered(1)}, {}, True),
        ("wider", {"a": answered(e=(1, 2))}, {"a": answered(e=(1, 3))}, True),
        ("changed", {"a": answered(1)}, {"a": answered(2)}, True),
        ("contradiction", {"a": answered(e=(1, 2))}, {"a": answered(e=(3, 4))}, True),
    ],
)
def test_what_fails(verdict_of_row, old, new, expected):
    found = differences("kind", old, new)
    assert [one.verdict for one in found] == [verdict_of_row]
    assert fails(found) is expected
    assert fails([*found, *differences("kind", {"b": answered(1)}, {"b": answered(1)})]) is expected


def test_text_is_a_column_of_its_own():
    old = {"a": answered(1, "said"), "b": answered(1, "said"), "c": refused(NotCertified("said"))}
    new = {"a": answered(1, "said"), "b": answered(1, "other"), "c": refused(NotCertified("other"))}
    assert [(one.key, one.verdict, one.text_changed) for one in differences("kind", old, new)] == [
        ("a", "equal", False),
        ("b", "equal", True),
        ("c", "equal", True),
    ]


def test_summary_counts_and_lists():
    old = {f"wide {at}": answered(e=(1, 2)) for at in range(25)} | {"same": answered(1), "said": answered(1, "one")}
    new = {f"wide {at}": answered(e=(1, 3)) for at in range(25)} | {"same": answered(1), "said": answered(1, "two")}
    told = summary(differences("numbers", old, new)).splitlines()
    columns = dict(zip(told[0].split()[:7], told[1].split()[1:], strict=False))
    assert columns == {
        "contradiction": ".",
        "changed": ".",
        "wider": "25",
        "missing": ".",
        "narrower": ".",
        "new": ".",
        "equal": "2",
    }
    assert "wider: 25" in told
    assert "  ... and 5 more" in told
    assert "      e: [1, 2] -> [1, 3], 5.0e-01 of the upper end outside" in told
    assert told[told.index("text changed: 1") + 1] == "  numbers: said"


def test_kind_that_is_in_one_directory_only(tmp_path):
    old, new = tmp_path / "old", tmp_path / "new"
    for directory in (old, new):
        directory.mkdir()
        record([("asked", lambda: Answer(1))], directory / "both.jsonl")
    record([("asked", lambda: Answer(1))], old / "gone.jsonl")
    assert [(one.kind, one.verdict) for one in compared(old, new)] == [("both", "equal"), ("gone", "missing")]
    assert [(one.kind, one.verdict) for one in compared(new, old)] == [("both", "equal"), ("gone", "new")]


# --- recording ---


def test_row_of_a_refusal_and_of_a_defect():
    assert refused(InvalidValue("steps", 0, "positive"))["status"] == "InvalidValue"
    assert refused(ZeroDivisionError("by zero")) == {"status": "defect: ZeroDivisionError", "text": "by zero"}


def test_record_is_read_back(tmp_path):
    path = tmp_path / "kind.jsonl"
    record([("ε", lambda: Answer([Fraction(1, 3), (1, "x")], {"end": (Fraction(1, 3), float("inf"))}, "said"))], path)
    assert [json.loads(line) for line in path.read_text("utf-8").splitlines()] == [
        ["ε", {"status": "answered", "value": ["1/3", [1, "x"]], "ends": {"end": ["1/3", "inf"]}, "text": "said"}]
    ]


def test_no_question_is_asked_twice(tmp_path):
    with pytest.raises(ValueError, match="asked twice: a"):
        record([("a", Answer), ("a", Answer)], tmp_path / "kind.jsonl")


def test_chosen_questions_exist():
    assert [key for key, _ in chosen([("a", Answer), ("b", Answer)], ["b"])] == ["b"]
    with pytest.raises(ValueError, match="c"):
        list(chosen([("a", Answer)], ["c"]))


def test_expressions_know_our_vocabulary_only():
    with pytest.raises(NameError):
        made("__import__('os')")


@pytest.mark.parametrize("name", ["accounts.txt", "slow.txt", "certificates.txt", "certified_ends.txt"])
def test_every_line_is_read(name):
    lines = accounts.lines(name)
    assert len(set(lines)) == len(lines)
    for line in lines:
        relation, target, mechanism = accounts.read(_question(line) if name == "certified_ends.txt" else line)
        assert relation in line
        assert len(target) == 1
        assert mechanism


_FEW = {  # cheap questions, of each kind and of each part of it
    "structural": [
        "ledger: truncated (gaussian) 7",
        "statement: shuffled (gaussian) 1, replace-one",
        "classes: truncated third (gaussian), zero-out-one",
        "event: poisson (laplace), add-or-remove-one",
        "read: bins (gaussian) redraw=0",
        "options: poisson --bound 3, find noise, replace-one",
        "help",
    ],
    "pairs": [
        "moments: poisson (laplace), replace-one",
        "masses: with (gaussian), add-or-remove-one",
        "closed form: poisson (gaussian), add-or-remove-one",
        "groups of 3: poisson (gaussian), add-or-remove-one",
    ],
    "numeric": [
        'add-or-remove-one epsilon 1e-6 poisson(gaussian("1"), "0.01") ** 100',
        "zCDP: gaussian(3) ** 10, add-or-remove-one",
        "convert renyi to epsilon",
        "calibrate noise: gaussian({}) ** 1, add-or-remove-one",
    ],
    "runs": [f"dp-pgd: {part}" for part in ("parameters", "bounds", "run")],
    "refusals": ["dp-pgd {'step_size': -1}", "dp-pgd {'steps': 7}"],
    "slow": ["replace-one epsilon 1e-5 shuffled(gaussian(4), 1000) ** 1"],
    "calibrations": ["noise for 1: blocks(gaussian({}), gaussian(9)) ** 5, add-or-remove-one"],
    "groups": ["2, {'delta': '1e-5'}: response(\"1/4\") ** 10, replace-one"],
    "filters": ["zCDP filter: gaussians, replace-one", "odometer: gaussians, replace-one"],
    "certificates": ["replace-one epsilon 1e-5 gaussian(3) ** 10", "tampered"],
    "verbs": ["epsilon --noise-multiplier 4 --steps 3 --delta 1e-6 --group-size 2 --json", "show nothing --json"],
}


@pytest.mark.seconds
@pytest.mark.parametrize("kind", [*FAST, *NIGHTLY])
def test_two_processes_record_the_same(kind, tmp_path):
    paths = [tmp_path / f"{seed}.jsonl" for seed in (1, 2)]
    for seed, path in enumerate(paths, 1):
        environment = os.environ | {"PYTHONHASHSEED": str(seed), "PYTHONPATH": str(_ROOT)}
        command = [sys.executable, "-m", "tests.golden", "one", kind, path, "--only", *_FEW[kind]]
        subprocess.run(command, cwd=_ROOT, env=environment, check=True, capture_output=True)
    one, other = (path.read_text("utf-8") for path in paths)
    assert one == other
    assert len(one.splitlines()) == len(_FEW[kind])
    assert "defect" not in one
    assert '"json": false' not in one


# --- proven intervals that stay true ---


def _question(line):
    return line.split(maxsplit=2)[2]


@pytest.mark.seconds
@pytest.mark.parametrize("line", accounts.lines("certified_ends.txt"), ids=_question)
def test_certified_ends(line):
    """Two proofs of one number overlap; the later one may be at most 1 % above the earlier."""
    low, high = map(Fraction, line.split()[:2])
    found = accounts.account(_question(line)).enclosure
    assert found.exact_lower <= high
    assert low <= found.exact_upper <= high * Fraction(101, 100)
