"""Every printed number is rounded to its safe side: in text, in JSON and in reports.

The library's answers are replaced by numbers that no decimal and no double holds, so that each has to be rounded.
"""

import re
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import pytest

import dpbounds as dp
from dpbounds.cli.answers import reports
from dpbounds.cli.printing import output
from dpbounds.cli.verbs import audit, plan, run
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.privacy.budgets import calibration

TARGET = ("--target-epsilon", "7", "--target-delta", "1e-5")
SPENT = Enclosure(Fraction(2, 3), Fraction(2 * 10**20 + 1, 3 * 10**20), "lattice")
NUMBER = r"(\d[\d.]*(?:e-?\d+)?)"


def first_number(text):
    """The first number of a text, exactly."""
    return Fraction(re.search(NUMBER, text)[1])


def check_up(printed, exact, within=Fraction(1, 1000)):
    assert exact <= Fraction(printed) <= exact * (1 + within)


def check_down(printed, exact, within=Fraction(1, 1000)):
    assert exact * (1 - within) <= Fraction(printed) <= exact


CHECKS = {"up": check_up, "down": check_down}


@pytest.fixture
def reported(monkeypatch):
    """The numbers and the verdicts of the reports that were asked for, instead of pages."""
    asked = []

    def kept(kind, verdict, holds, found, *, numbers, **others):
        asked.append((verdict, dict(numbers)))

    monkeypatch.setattr(reports, "account_report", kept)
    monkeypatch.setattr(reports, "write", lambda path, report: None)
    return asked


@pytest.fixture
def calibrated(monkeypatch):
    """A calibration of a third, which two thirds or a sixth fail; the two ends of what it spends are thirds, too."""

    def solved(solve):
        fails = Fraction(1, 6) if solve == "noise" else Fraction(2, 3)
        found = replace(dp.calibrate(dp.Gaussian, 1, "1e-5"), value=Fraction(1, 3), fails_at=fails, solve=solve)
        found = replace(found, epsilon=SPENT, target_epsilon=Fraction(7))
        monkeypatch.setattr(calibration, "calibrate", lambda *arguments, **options: found)
        return found

    return solved


@pytest.mark.parametrize(
    ("solve", "options", "field", "safe", "unsafe"),
    [
        ("noise", ("--steps", "3"), "noise_multiplier", "up", "down"),
        ("sample-rate", ("--noise-multiplier", "2", "--steps", "3"), "sample_rate", "down", "up"),
    ],
)
def test_a_calibration(solve, options, field, safe, unsafe, calibrated, reported, said, data, tmp_path):
    found = calibrated(solve)
    words = ("calibrate", *TARGET, "--solve", solve, *options)
    lines = said(*words, "--report", str(tmp_path / "r.html")).splitlines()
    written = data(*words)
    ((verdict, numbers),) = reported
    name = field.replace("_", " ")
    sheet = dict(found._sheet().facts)
    for text in (lines[0], written[field], numbers[f"{name}, proven to suffice"], verdict, sheet[solve], str(found)):
        CHECKS[safe](first_number(str(text)), found.value)
    for text in (lines[1], written["fails_at"], numbers[f"{name}, proven not to"], sheet["fails at"]):
        CHECKS[unsafe](first_number(str(text)), found.fails_at)
    apart = f"{numbers['gap, not within 0.1 %']}"
    for text in (lines[2].partition(": ")[2], apart, sheet["not within tolerance"]):
        check_up(first_number(text) / 100, found.gap)
    check_up(written["gap"], found.gap)
    for text in (lines[3], written["epsilon"]["upper"], numbers["ε spent"], sheet["epsilon"]):
        check_up(first_number(str(text)), SPENT.exact_upper)
    check_down(written["epsilon"]["lower"], SPENT.exact_lower)
    assert (written["target_epsilon"], written["relation"]) == (7, "add-or-remove-one")


@pytest.mark.parametrize(("verb", "asked", "given"), [("epsilon", "delta", "1e-5"), ("delta", "epsilon", "1")])
@pytest.mark.parametrize("digits", ["1", "6", "20"])
def test_what_is_spent(verb, asked, given, digits, reported, said, data, tmp_path):
    words = (verb, "--noise-multiplier", "3", "--steps", "2", f"--{asked}", given)
    found = dp.account(dp.Gaussian(3) ** 2, **{asked: given}).enclosure
    assert found.exact_lower < found.exact_upper
    line = said(*words, "--digits", digits, "--report", str(tmp_path / "r.html")).splitlines()[0]
    coarse = Fraction(10, 10 ** int(digits))
    check_up(first_number(line), found.exact_upper, coarse)
    lower, inner = re.search(rf"lies in \[{NUMBER}, {NUMBER}\]", line).groups()
    check_down(lower, found.exact_lower)
    check_up(inner, found.exact_upper)
    ends = data(*words, "--digits", digits)[verb]
    check_down(ends["lower"], found.exact_lower)
    check_up(ends["upper"], found.exact_upper)
    ((verdict, numbers),) = reported
    check_up(numbers[f"{verb}, proven to suffice"], found.exact_upper)
    check_down(numbers[f"{verb}, proven to be needed"], found.exact_lower)
    check_up(re.search(rf"{'ε' if verb == 'epsilon' else 'δ'} = {NUMBER}", verdict)[1], found.exact_upper)


def test_an_attack_attains_no_more_than_it_does():
    line = output.shown(SPENT, tight=False)
    check_up(first_number(line), SPENT.exact_upper)
    check_down(re.search(f"attains {NUMBER}", line)[1], SPENT.exact_lower)


@pytest.mark.parametrize("method", ["rdp", "zcdp", "basic", "all"])
def test_other_methods(method, said, data):
    words = ("epsilon", "--noise-multiplier", "3", "--steps", "2", "--delta", "1e-5", "--method", method)
    exact = {one.method: one.enclosure for one in dp.all_methods(dp.Gaussian(3) ** 2, delta="1e-5") if one.enclosure}
    out, written = said(*words), data(*words)
    entries = written["methods"] if method == "all" else [written]
    for entry in entries:
        if entry["method"] not in exact:
            assert entry["certified"] is False
            continue
        upper = exact[entry["method"]].exact_upper
        check_up(entry["epsilon"]["upper"], upper)
        start = entry["method"] if method == "all" else "epsilon"
        check_up(re.search(rf"^{re.escape(start)} +{NUMBER}", out, re.MULTILINE)[1], upper)


def test_what_is_left_of_a_budget(monkeypatch, reported, ledger, said, data, tmp_path):
    from dpbounds.privacy.budgets import remaining as budgets

    path = ledger(dp.Gaussian(5))
    found = dp.remaining(dp.Gaussian(5), 7, "1e-5")
    noise = replace(found.noise, value=Fraction(1, 3), fails_at=Fraction(1, 6))
    found = replace(found, noise=noise, spent=replace(found.spent, enclosure=SPENT))
    monkeypatch.setattr(budgets, "remaining", lambda *arguments, **options: found)
    words = ("remaining", "--ledger", path, *TARGET)
    out = said(*words, "--report", str(tmp_path / "r.html"))
    written = data(*words)
    ((verdict, numbers),) = reported
    fits, fails = re.search(rf"noise multiplier {NUMBER} fits .*, {NUMBER} does not", out).groups()
    for printed in (fits, written["noise_multiplier"]):
        check_up(printed, noise.value)
    for printed in (fails, written["noise_fails_at"]):
        check_down(printed, noise.fails_at)
    spent = re.search(f"ε = {NUMBER} is spent", verdict)[1]
    for printed in (first_number(out), written["epsilon"]["upper"], numbers["ε spent, at most"], spent):
        check_up(printed, SPENT.exact_upper)


def test_noise_on_a_ball(monkeypatch, said, data):
    size = ("ball", "--sensitivity", "2", "--dimension", "3", "--dataset-size", "100", "--steps", "10")
    descent = dp.BallDescent(2, 3, 100, 10)
    found = replace(descent.radius("0.01"), value=Fraction(4, 3), fails_at=Fraction(7, 6))
    monkeypatch.setattr(dp.BallDescent, "radius", lambda self, target: found)
    out, written = said(*size, "--target-delta", "0.01"), data(*size, "--target-delta", "0.01")
    radius, fails, delta = (re.search(rf"^{name} +{NUMBER}", out, re.MULTILINE)[1] for name in
                            ("radius", "fails at", "delta"))  # fmt: skip
    for printed in (radius, written["radius"]):
        check_up(printed, found.value)
    for printed in (fails, written["fails_at"]):
        check_down(printed, found.fails_at)
    for printed in (delta, written["delta"]["upper"]):
        check_up(printed, descent.delta(found.value).exact_upper)


def test_a_plan_s_releases_and_bounds():
    third = Fraction(1, 3)
    check_up(first_number(plan._release(dp.Gaussian(third))), third)
    selection = dp.ExponentialMechanism(third, relation="replace-one")
    check_down(first_number(plan._release(selection)), third)
    check_up(plan._up(third), third)


def test_a_run_s_bound(monkeypatch):
    bound = Enclosure(Fraction(1, 2), Fraction(2, 3), "theorem")
    found = SimpleNamespace(bounds={"mean_square": bound}, measured=lambda name: None)
    told = run._bound(found, "mean_square")
    value, root = re.search(f"<= {NUMBER} .its root: {NUMBER}", told).groups()
    check_up(value, bound.exact_upper)
    assert bound.exact_upper <= Fraction(root) ** 2 <= bound.exact_upper * Fraction(1001, 1000)


@pytest.mark.parametrize("low", [0.66666, 0.123456])
def test_an_audit_s_ends(low, capsys):
    lower = SimpleNamespace(epsilon=low, delta=1e-5, confidence=0.95, method="m")
    claim = SimpleNamespace(epsilon=Fraction(1), delta=Fraction(1, 10**5), relation="replace-one")
    finding = SimpleNamespace(
        name="a", audit=lower, unassuming=lower, certified=0.876543, sound=True, claim=claim, refutes_claim=False,
        runs=7, attack="x", ended="runs", limit="", reach=1.0,
    )  # fmt: skip
    audit._print(finding)
    out = capsys.readouterr().out
    cells = dict(zip(audit._HEADINGS, audit._cells(finding), strict=True))
    check_down(re.search(rf"at least +epsilon {NUMBER}", out)[1], Fraction(low))
    check_down(re.search(rf"unassuming +epsilon {NUMBER}", out)[1], Fraction(low))
    check_up(re.search(rf"certified +{NUMBER}", out)[1], Fraction(0.876543))
    check_down(audit._cells(finding)[1], Fraction(low))
    check_up(cells["certified"], Fraction(0.876543))
