"""Every end of an interval that a verb prints as JSON lies on the safe side, for readers of doubles and of decimals."""

import json
from decimal import Decimal
from fractions import Fraction

import pytest

from dpbounds.cli import main
from dpbounds.expressions import json_numbers
from dpbounds.expressions.exact import to_float
from tests.cli.test_command_line import EXPLICIT, VERBS

DELTA = ("--delta", "1e-5")
RUN = ("--noise-multiplier", "3", "--steps", "7")
TARGET = ("--target-epsilon", "1", "--target-delta", "1e-5")
NUMBERS = ("n=1e6", "d=100", "epsilon=1", "delta=1e-6", "lipschitz=1", "smoothness=1", "initial_gap=1")
POINT = (
    "smoothness=1",
    "lipschitz=1",
    "initial_gap=0.5",
    "n=1e5",
    "d=50",
    "T=500",
    "noise_stddev=0.001",
    "step_size=1/2",
)
SECONDS = pytest.mark.seconds

# one question at least for each verb
COMMANDS = {
    "epsilon": [
        ("epsilon", *RUN, *DELTA),
        ("epsilon", *RUN, *DELTA, "--explain", "--curve", "CURVE"),
        ("epsilon", *RUN, *DELTA, "--method", "all"),
    ],
    "delta": [("delta", *RUN, "--epsilon", "1/3")],
    "calibrate": [
        ("calibrate", *TARGET, "--steps", "3"),
        ("calibrate", "--target-tpr", "1/3", "--at-fpr", "0.1", "--steps", "3"),
        ("calibrate", "--target-mu", "1/3", "--steps", "3"),
    ],
    "attacker": [
        ("attacker", "--noise-multiplier", "3", "--steps", "3", "--prior", "1/3", "--baseline", "1/7"),
        ("attacker", "--noise-multiplier", "3", "--steps", "3", "--least-rate", "1e-4"),
    ],
    "convert": [
        ("convert", "--from-epsilon", "1/3", "--to", "zcdp"),
        ("convert", "--from-rho", "1/3", "--from-xi", "1/7", "--to", "epsilon", "--delta", "1e-5"),
        ("convert", *RUN, "--to", "trade-off", "--false-positive-rate", "1/7"),
    ],
    "remaining": [("remaining", "--ledger", "LEDGER", *TARGET)],
    "ball": [
        (
            "ball",
            "--sensitivity",
            "2",
            "--dimension",
            "10",
            "--dataset-size",
            "1000",
            "--steps",
            "300",
            "--radius",
            "25",
        )
    ],
    "check": [("check", "CERTIFICATE")],
    "theorems": [("theorems", "--metric", "frank-wolfe-gap")],
    "show": [("show", EXPLICIT)],
    "evaluate": [
        (
            "evaluate",
            EXPLICIT,
            "--part",
            "tuned",
            "smoothness=1",
            "lipschitz=1",
            "initial_gap=0.5",
            "n=1e5",
            "d=50",
            "rho=1/7",
        ),
        ("evaluate", EXPLICIT, "--part", "spent", "n=1000", "rho=1/7", "steps=10"),
    ],
    "compare": [("compare", EXPLICIT, EXPLICIT, *POINT)],
    "tightness": [("tightness", "dpbounds/noisy-descent-exact")],
    "errata": [("errata", "--severity", "privacy")],
    "table": [],  # names of files only
    "new": [],
    "regimes": [("regimes", "population-gradient-norm")],
    "plan": [("plan", "--metric", "population-gradient-norm", *NUMBERS)],
    "demo": [("demo", "--output", "FOLDER", "--epsilon", "4", "--repetitions", "2", "--seed", "3")],
    "run": [("run", "dp-gd", "n=50", "d=2", "steps=4", "--epsilon", "1", *DELTA, "--seed", "3", "--output", "FOLDER")],
    "fit": [],  # no interval
    "verify": [("verify", "tholeti-kalyani-2020/equation-6", "--quick")],
    "audit": [("audit", "dp-pgd", "--runs", "200", "--seconds", "0", "--seed", "3")],
    "explain": [("explain", "dp-pgd", "--repetitions", "4", "--seed", "2")],
}
SLOW = (
    "show",
    "demo",
    "run",
    "verify",
    "audit",
    "explain",
    "tightness",
    "regimes",
    "plan",
    "check",
    "table",
    "compare",
    "remaining",
)
WITHOUT_ENDS = {"check", "theorems", "show", "errata", "regimes"}
AS_TEXT = {"evaluate", "compare", "tightness"}  # decimals of as many digits as are asked for


@pytest.fixture
def ends(monkeypatch):
    """The ends that were rounded for JSON, with their directions."""
    asked = []

    def rounded(end, direction):
        asked.append((Fraction(end), direction))
        return to_float(end, direction)

    monkeypatch.setattr(json_numbers, "to_float", rounded)
    return asked


def numbers(document, name=""):
    """The numbers of a document that are no whole numbers, with the names of their fields."""
    if isinstance(document, dict):
        for field, value in document.items():
            yield from numbers(value, field)
    elif isinstance(document, list):
        for value in document:
            yield from numbers(value, name)
    elif isinstance(document, Decimal):
        yield name, document


def is_outward(decimal, end, direction):
    """Whether a decimal shows an end: the double rounded to its side, and itself on that side."""
    side = Fraction(decimal) <= end if direction == "down" else Fraction(decimal) >= end
    return side and float(decimal) == to_float(end, direction)


def check(texts, ends):
    """All rounded ends stand in documents on the safe side, and no field of an interval holds another number."""
    found = [pair for text in texts for pair in numbers(json.loads(text, parse_float=Decimal))]
    for end, direction in ends:
        assert any(is_outward(decimal, end, direction) for _, decimal in found), (end, direction)
    for name, decimal in found:
        if name.endswith(("lower", "upper", "low", "high")):
            direction = "down" if name.endswith(("lower", "low")) else "up"
            assert any(is_outward(decimal, end, way) for end, way in ends if way == direction), (name, decimal)


def test_every_verb_has_a_question():
    assert set(COMMANDS) == set(VERBS)


@pytest.mark.parametrize(
    ("verb", "words"),
    [
        pytest.param(verb, words, id=f"{verb}-{number}", marks=[SECONDS] if verb in SLOW else [])
        for verb, questions in COMMANDS.items()
        for number, words in enumerate(questions)
    ],
)
def test_the_ends_that_a_verb_prints(verb, words, ends, capsys, tmp_path):
    import dpbounds as dp
    from dpbounds.algorithms.ledger_format import write_releases
    from dpbounds.privacy.publishing.certificates import write_certificate

    files = {
        "LEDGER": tmp_path / "ledger.json",
        "CERTIFICATE": tmp_path / "certificate.json",
        "FOLDER": tmp_path / "made",
        "CURVE": tmp_path / "curve.json",
    }
    if "LEDGER" in words:
        files["LEDGER"].write_text(write_releases(dp.Gaussian(7) ** 3), encoding="utf-8")
    if "CERTIFICATE" in words:
        write_certificate(files["CERTIFICATE"], dp.account(dp.Gaussian(3), delta="1e-5"))
    assert main([str(files.get(word, word)) for word in words] + ["--json"]) == 0
    written = (files["CURVE"], files["FOLDER"] / "run.json", files["FOLDER"] / "demo.json")
    texts = [capsys.readouterr().out, *(file.read_text(encoding="utf-8") for file in written if file.exists())]
    assert len(texts) == (2 if {"CURVE", "FOLDER"} & {*words} else 1)
    if verb not in WITHOUT_ENDS | AS_TEXT:
        assert ends
    check(texts, ends)


def test_an_interval_of_a_tiny_delta_contains_the_value_for_readers_of_decimals(capsys):
    """Noise multiplier 2, 3 steps, δ = 1e-300: the shortest decimal of the lower end lies above the lower end."""
    import dpbounds as dp

    assert main(["epsilon", "--noise-multiplier", "2", "--steps", "3", "--delta", "1e-300", "--json"]) == 0
    found = json.loads(capsys.readouterr().out, parse_float=Decimal)["epsilon"]
    proven = dp.epsilon(dp.Gaussian(2) ** 3, "1e-300")
    assert Fraction(found["lower"]) <= proven.exact_lower
    assert proven.exact_upper <= Fraction(found["upper"])
    assert (float(found["lower"]), float(found["upper"])) == (proven.lower, proven.upper)
