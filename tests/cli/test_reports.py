"""``--report``: a page that answers what the person asks who signs it."""

import json
import math
import re
from fractions import Fraction
from html.parser import HTMLParser
from statistics import NormalDist

import pytest

import dpbounds as dp
from dpbounds.cli import main
from dpbounds.cli.answers import reports
from dpbounds.cli.answers.curves import ProvenCurve
from dpbounds.render.report import Picture, Report, Section, Table, page

RUN = ("--noise-multiplier", "2", "--sample-rate", "0.01", "--steps", "100", "--delta", "1e-6")
BUDGET = ("--target-epsilon", "1", "--target-delta", "1e-6")

# What a data-protection officer asks, and the words on the page that answer.
QUESTIONS = {
    "is it good or bad, in one sentence": "ε = 0.2",
    "which number do I write down": "epsilon, proven to suffice",
    "what does ε mean": "how much more likely one record can make anything that is published",
    "what does δ mean": "It has to be far below one over the number of records",
    "is this an estimate": "not estimated: a mathematical proof",
    "how far off could it be": "ends",
    "who is protected": "every individual record",
    "against whom": "who sees every release, knows all other records",
    "what is hidden of a record": "that it is there, and what it says",
    "what of people with several records": "a person with k records",
    "what could the best attacker do": "blind guessing is right in 50 %",
    "and one who must not accuse wrongly": "false positive rate",
    "what was published": "100 releases on Poisson samples at rate 0.01",
    "how much noise was there": "Gaussian noise multiplier 2",
    "what do we have to make sure of": "each record enters each sample independently",
    "who has to confirm it": "who wrote or configured the loading of records",
    "what is not covered": "other releases about the same people",
    "does what we did before training count": "preprocessing, clipping bounds, hyperparameters",
    "which software, and how was it proven": f"dpbounds {dp.__version__}: contour",
    "how do I check it without trusting you": "dpbounds check",
    "how do I know that it is about our run": "digest of the releases (SHA-256)",
    "where do I sign": "Who signs?",
}


_REPLACED = {
    "what is hidden of a record": "what of it what it says",
    "how many records there are": "the number of records is public",
}
# Other schemes, and what they answer otherwise.
SCHEMES = {
    "--sampling random-allocation --batches 5 --epochs 2": {
        "what was published": "2 epochs of 5 random batches, one of which a record is in",
        "what do we have to make sure of": "each record draws its steps on its own, uniformly, in secret",
        "which software, and how was it proven": f"dpbounds {dp.__version__}: allocation",
    },
    "--relation replace-one --release last-iterate --batches 9 --epochs 2 --smoothness-step 0.1 --order shuffled": {
        **_REPLACED,
        "what was published": "the last iterate of 2 epochs of 9 batches freshly shuffled",
        "against whom": "who sees what is released, but nothing else of the run, knows all other records",
        "what do we have to make sure of": "nothing else is published (no other iterate, no loss or",
        "who has to confirm it": "a random order is secret who wrote or configured the loading of records",
        "which software, and how was it proven": f"dpbounds {dp.__version__}: closed form",
    },
    "--relation replace-one --matrix optimal --steps 8 --participation fixed-order --separation 4": {
        **_REPLACED,
        "what was published": "8 steps with correlated noise by a Toeplitz matrix of 4 bands",
        "what do we have to make sure of": "each record takes part in the steps of one group only; which group or "
        "steps these are follows from its public position",
        "which software, and how was it proven": f"dpbounds {dp.__version__}: closed form",
    },
    "--matrix optimal --bands 2 --steps 8 --participation balls-in-bins --separation 4": {
        "what was published": "8 steps with correlated noise",
        "what do we have to make sure of": "each record draws its group on its own, uniformly and in secret, once",
        "which software, and how was it proven": f"dpbounds {dp.__version__}: ",
    },
}


class _Page(HTMLParser):
    """Text, open elements, and whatever a browser would fetch or run."""

    VOID = ("meta", "br", "hr")

    def __init__(self, text):
        super().__init__()
        self.open, self.words, self.forbidden, self.tones = [], [], [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        fetched = [name for name in ("src", "href", "xlink:href", "action") if not given.get(name, "#").startswith("#")]
        self.forbidden += fetched + [name for name in given if name.startswith("on")]
        self.forbidden += [tag] if tag in ("script", "iframe", "link", "img", "form") else []
        if tag not in self.VOID:
            self.open.append(tag)
        if tag == "h1":
            self.tones.append(given.get("class"))

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, text):
        if "svg" not in self.open and "style" not in self.open:
            self.words.append(text)

    @property
    def text(self):
        return re.sub(r"\s+", " ", " ".join(self.words))


@pytest.fixture
def reported(tmp_path, capsys):
    """The page that a command writes, and its JSON answer."""

    def report(*arguments, status=0):
        path = tmp_path / "report.html"
        assert main([*arguments, "--report", str(path), "--json"]) == status
        captured = capsys.readouterr()
        assert f"wrote {path}" in captured.err
        return _Page(path.read_text(encoding="utf-8")), json.loads(captured.out)

    return report


@pytest.mark.seconds
def test_a_page_answers_what_an_officer_asks(reported, tmp_path):
    found, answer = reported("epsilon", *RUN, "--certificate", str(tmp_path / "c.json"))
    for question, told in QUESTIONS.items():
        assert told in found.text, question
    assert len(QUESTIONS) >= 20
    assert found.forbidden == []
    assert found.tones == [None]
    upper = re.search(r"ε = ([\d.]+) is spent at most", found.text)[1]
    assert answer["epsilon"]["upper"] <= float(upper) < 1.0001 * answer["epsilon"]["upper"]


@pytest.mark.seconds
def test_fields_are_filled_in_or_left_blank(reported, refused):
    words = ("--report-field", "controller=City hospital <north>", "--report-field", "processor=A = B")
    found, _ = reported("epsilon", *RUN, *words)
    assert "What is this report about?" in found.text
    for told in ("controller City hospital <north>", "processor A = B", "title model version purpose controller"):
        assert told in found.text
    assert found.forbidden == []
    for wrong in ("controller", "=x", "controller="):
        assert "NAME=TEXT" in refused("epsilon", *RUN, "--report", "r.html", "--report-field", wrong)
    assert "add --report FILE.html" in refused("epsilon", *RUN, "--report-field", "controller=x")


@pytest.mark.seconds
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.minutes_cases("--m*")
def test_a_page_of_a_newer_scheme_answers_the_same(reported, tmp_path, scheme):
    given = ("--noise-multiplier", "2", "--delta", "1e-6", "--certificate", str(tmp_path / "c.json"))
    found, answer = reported("epsilon", *given, *scheme.split())
    spent = re.search(r"ε = ([\d.]+) is spent at most", found.text)[1]
    assert answer["epsilon"]["upper"] <= float(spent) < 1.0001 * answer["epsilon"]["upper"]
    for question, told in {
        **QUESTIONS,
        "is it good or bad, in one sentence": f"ε = {spent}",
        **SCHEMES[scheme],
    }.items():
        assert told in found.text, question
    assert "the guarantee is nothing" not in found.text
    assert found.forbidden == []


def test_an_attackers_chances_are_rounded_up_and_near_what_is_attained(reported):
    found, _ = reported("epsilon", "--noise-multiplier", "1", "--steps", "1", "--delta", "1e-6")
    right = Fraction(re.search(r"right in ([\d.]+) % of the cases", found.text)[1]) / 100
    exact = (1 + dp.delta(dp.Gaussian(1), 0).exact_lower) / 2
    assert exact <= right < exact + Fraction(1, 10_000)
    normal = NormalDist()
    rows = re.findall(r"(0\.1|1|10) % ([\d.]+) %", found.text)
    assert [alarm for alarm, _ in rows] == ["0.1", "1", "10"]
    for alarm, caught in rows:
        attained = 100 * normal.cdf(normal.inv_cdf(float(alarm) / 100) + 1)
        assert attained <= float(caught) < 1.15 * attained


@pytest.mark.seconds
def test_calibration_and_what_is_left(reported, ledger):
    found, answer = reported("calibrate", *BUDGET, "--sample-rate", "0.01", "--steps", "10")
    value = re.search(r"A noise multiplier of ([\d.]+) keeps the budget, ε = 1 at δ = 1e-06", found.text)[1]
    assert answer["noise_multiplier"] <= float(value) < 1.0001 * answer["noise_multiplier"]
    assert found.tones == ["good"]
    path = ledger(dp.Gaussian(30) ** 4)
    found, _ = reported("remaining", "--ledger", path, *BUDGET)
    assert found.tones == ["good"]
    assert "What may still be released?" in found.text
    found, _ = reported("remaining", "--ledger", ledger(dp.Gaussian(1)), *BUDGET, status=1)
    assert found.tones == ["bad"]
    assert "is NOT kept" in found.text


@pytest.mark.seconds
def test_no_finite_epsilon_is_bad_news(reported, ledger):
    path = ledger(dp.ApproximateDP(1, "1e-3", relation="add-or-remove-one"))
    found, _ = reported("epsilon", "--ledger", path, "--delta", "1e-6")
    assert found.tones == ["bad"]
    assert "No finite ε is proven at δ = 1e-06" in found.text
    assert "may reveal everything" in found.text


@pytest.mark.minutes
def test_a_run_an_audit_and_checks(reported, tmp_path):
    run = ("run", "dp-storm", "n=50", "d=2", "steps=3", "--epsilon", "1", "--delta", "1e-6")
    found, _ = reported(*run, "--seed", "3", "--output", str(tmp_path / "run"))
    assert found.tones == ["good"]
    for told in ("conditional on the seed", "How good is the result?", "certificate (SHA-256)", "the noise drawn"):
        assert told in found.text
    found, answer = reported("audit", "dp-pgd", "--runs", "300")
    assert found.tones == ["good"]
    assert f"{answer['lower']['epsilon']:.4g}" in found.text
    found, answer = reported("verify", "dpbounds/storm")
    assert f"{answer['counts']['holds']} hold" in found.text


def test_reports_that_make_no_sense_are_refused(refused):
    assert "must end with .html" in refused("epsilon", *RUN, "--report", "x.pdf")
    assert "--group-size above 1" in refused("epsilon", *RUN, "--group-size", "2", "--report", "x.html")
    assert "one record" in refused("calibrate", *BUDGET, "--group-size", "2", "--report", "x.html")
    assert "--mutations" in refused("audit", "--mutations", "--report", "x.html")
    assert "--method certified" in refused("epsilon", *RUN, "--method", "rdp", "--report", "x.html")
    assert "no/such/place.html" in refused("epsilon", *RUN, "--report", "no/such/place.html")


def test_text_is_escaped_and_nothing_is_fetched():
    hostile = "<script>alert(1)</script>\"'&"
    every = Section(
        *(hostile, (hostile,), {hostile: hostile}, (hostile,), Table((hostile,), ((hostile,), ("",)))),
        *((Picture("<?xml?><svg></svg>", hostile),), (hostile,), {hostile: hostile}),
    )
    found = _Page(page(Report(hostile, hostile, False, hostile, (every,))))
    assert found.forbidden == []
    assert found.text.count("<script>alert(1)</script>") == 15
    assert found.tones == ["bad"]


def test_numbers_are_rounded_to_the_safe_side():
    assert reports.rounded(Fraction(1, 3), "up") == "0.333334"
    assert reports.rounded(Fraction(1, 3), "down") == "0.333333"
    assert reports.rounded(float("inf"), "up") == "infinite"
    assert reports.percent(Fraction(2, 3)) == "66.67 %"
    assert reports.percent(Fraction(3, 2)) == "100 %"


@pytest.mark.parametrize(
    ("epsilon", "words"),
    [
        ("1/2", ("learns little about", "1.65 times (e^0.5)")),
        ("2.12452", ("possibly much about", "8.37 times (e^2.12452)")),
        ("20", ("possibly nearly everything about", "e^20 times")),
    ],
)
def test_the_lead_does_not_promise_more_than_the_number(epsilon, words):
    curve = ProvenCurve((Fraction(0), Fraction(1)), (Fraction(0), Fraction(0)), (Fraction(1, 3), Fraction(0)))
    told = reports._lead(dp.Relation.REPLACE_ONE, Fraction(epsilon), Fraction(1, 10**6), curve)
    assert all(word in told for word in (*words, "right in 66.67 % of the cases at most, a blind one in 50 %"))
    assert reports._exponential(Fraction(7)) == "1100"
    for value in map(Fraction, ("1/3", "0.693147180559945309417232121458", "9.99")):
        factor = Fraction(reports._exponential(value))
        assert float(factor) / math.exp(value) == pytest.approx(1, abs=1e-2)
        assert factor >= math.exp(value)
