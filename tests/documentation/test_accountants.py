"""The comparison with other accountants: what is shown is what they answer. How long they take is not tested."""

import importlib.util
import itertools
import re
from importlib.metadata import version

import pytest

import dpbounds as dp
from tests.documentation.pages import ROOT

PAGE = (ROOT / "docs" / "accountants.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")
VERSIONS = {"dp-accounting": "0.6.0", "Opacus": "1.6.0", "PLD_accounting": "2.0"}


@pytest.fixture(scope="module")
def script():
    specification = importlib.util.spec_from_file_location("accountants", ROOT / "docs" / "accountants.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def cells():
    """(question, accountant) -> the cell of the page."""
    lines = PAGE.splitlines()
    (start,) = (number for number, line in enumerate(lines) if line.startswith("| question | dpbounds"))
    names = [cell.strip() for cell in lines[start].split("|")[2:-1]]
    found = {}
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        question, *answers = (cell.strip() for cell in line.split("|")[1:-1])
        found |= {(question, name): answer for name, answer in zip(names, answers, strict=True)}
    return found


def test_every_question_is_answered_by_everybody(script):
    assert list(cells()) == [(question, name) for question in script.QUESTIONS for name in script.ACCOUNTANTS]


def test_the_readme_repeats_what_the_page_says():
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+ s) \| ([^|]+ s) \|", README, flags=re.MULTILINE)
    assert len(rows) == 5
    for name, first, second in rows:
        plain = re.sub(r" [\d.]+(?=,|$)", "", name)
        assert (first, second) == (cells()["long run", plain], cells()["100 noise levels", plain])


def test_the_questions_are_those_of_the_page(script):
    for question, (rate, levels, delta) in script.QUESTIONS.items():
        (row,) = re.findall(rf"^\| {question} \| ([\d.]+) \| (.*?) \| (.*?) \| (.*?) \|$", PAGE, flags=re.MULTILINE)
        assert float(row[0]) == rate
        assert float(row[3]) == delta
        if len(levels) == 1:
            assert (float(row[1]), int(row[2].replace(" ", ""))) == levels[0]
        else:
            assert row[1:3] == ("1, 1.01, ..., 1.99", "5 of each")
            assert levels == tuple((1 + k / 100, 5) for k in range(100))


def test_what_is_said_of_the_answers_is_so(script):
    told = {case: float(cell.partition(" ")[0]) for case, cell in cells().items()}
    below = {}
    for question, end in (("small δ", "10.3466"), ("much noise", "0.403875")):
        rate, ((noise, steps),), delta = script.QUESTIONS[question]
        run = dp.PoissonSampled(dp.Gaussian(noise), rate) ** steps
        assert dp.epsilon(run, delta=delta).lower > float(end)
        assert f"{end} for *{question}*" in PAGE
        below |= {case: value for case, value in told.items() if case[0] == question and value < float(end)}
    assert sorted(below) == [("much noise", "Opacus, prv"), ("small δ", "dp-accounting, PLD")]
    excess = max(told[question, name] / told[question, "dpbounds"] - 1 for question, name in told)
    assert f"{excess:.0%}".replace("%", " %") == "57 %"
    assert "up to 57 % too large" in PAGE
    width = dp.epsilon(dp.PoissonSampled(dp.Gaussian(1.0), 0.01) ** 10_000, delta=1e-6)
    assert width.upper - width.lower < 1e-12


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("question", "accountant"),
    [
        pytest.param(question, name, marks=pytest.mark.minutes if question == "100 noise levels" else ())
        for question, name in cells()
    ],
)
def test_the_answer_is_what_is_shown(script, question, accountant):
    library = accountant.partition(",")[0]
    if importlib.util.find_spec(script.ACCOUNTANTS[accountant][0]) is None:
        pytest.skip(f"{library} is not installed")
    if library in VERSIONS and version(library) != VERSIONS[library]:
        pytest.skip(f"the page is about {library} {VERSIONS[library]}")
    told = float(cells()[question, accountant].partition(" ")[0])
    by_machine = question in ("small δ", "much noise") and accountant in ("dp-accounting, PLD", "Opacus, prv")
    found = script.answer(accountant, question)
    assert found == pytest.approx(told, rel=0.02 if by_machine else 1e-5)
    if accountant == "dpbounds":
        assert cells()[question, accountant].partition(" ")[0] == script.rounded_up(found)


@pytest.mark.seconds
@pytest.mark.filterwarnings("ignore")  # of other libraries
def test_under_replace_one_another_accountant_returns_half(script):
    if version("dp-accounting") != VERSIONS["dp-accounting"]:
        pytest.skip("the page is about another version")
    for question in script.REPLACED:
        (shown,) = re.findall(rf"^\| {re.escape(question)} \| (.*) \|$", PAGE, flags=re.MULTILINE)
        told = script.replaced(question)
        assert shown == " | ".join(told)
        lower = float(told[0].partition(" to ")[0])
        assert float(told[2]) < 0.53 * lower
        assert told[1] == "refused" or float(told[1]) >= lower


def _rows(head):
    """First cell -> the other cells of the page's table with that head."""
    lines = PAGE.partition(head)[2].splitlines()[2:]
    table = itertools.takewhile(lambda line: line.startswith("|"), lines)
    return {name: cells for name, *cells in ([cell.strip() for cell in line.split("|")[1:-1]] for line in table)}


def test_the_summary_is_of_the_tables_below_it():
    shown = _rows("| accountant | ε too small by up to")
    told = {case: re.findall(r"[\d.e-]+", cell) for case, cell in cells().items()}
    truth = {question: float(told[question, "dpbounds"][0]) for question, _ in told}
    replaced = [
        [float(re.findall(r"[\d.]+", cell)[0]) for cell in row if cell != "refused"]
        for row in _rows("| under replace-one").values()
    ]
    for name in ("dp-accounting, PLD", "dp-accounting, RDP", "Opacus, prv", "Opacus, rdp"):
        ratios = [float(told[question, name][0]) / truth[question] for question in truth]
        least = min([*ratios, *(row[-1] / row[0] for row in replaced if name.endswith("RDP"))])
        small, large, times = shown[name]
        assert small.partition(",")[0] == ("not seen" if least > 1 - 1e-5 else _percent(1 - least))
        assert large.partition(";")[0] == _percent(max(ratios) - 1)
        for question, text in zip(("long run", "100 noise levels"), times.split(", "), strict=True):
            ratio = float(told[question, name][1]) / float(told[question, "dpbounds"][1])
            assert float(text) == float(f"{ratio:.2g}")
    _, large, _ = shown["PLD_accounting"]
    excess, truncated = [], []
    for ours, who, theirs in _rows("| other samples | dpbounds, proven | who else").values():
        if who == "PLD_accounting":
            (low, high), (below, above) = (
                map(float, cell.partition(" in ")[0].split(" to ")) for cell in (ours, theirs)
            )
            assert below < low < high < above
            excess.append(above / low - 1)
        else:
            truncated.append(float(theirs.split()[0]) / float(ours.split()[2]) - 1)
    assert large.partition(",")[0] == _percent(max(excess))
    assert shown["dp-accounting, PLD"][1].endswith("; at least 150 % if samples are often truncated")
    assert 1.5 <= max(truncated) < 1.6


def _percent(share):
    return f"{100 * share:.2g} %"


def test_other_samples_are_those_that_the_script_asks_about(script):
    rows = _rows("| other samples | dpbounds, proven | who else")
    assert {question: row[1] for question, row in rows.items()} == {
        question: peer for question, (_, peer, _) in script.SAMPLED.items()
    }


@pytest.mark.seconds
@pytest.mark.filterwarnings("ignore")  # of other libraries
@pytest.mark.parametrize("place", [0, 2])
@pytest.mark.parametrize(
    "question",
    [
        pytest.param(question, marks=pytest.mark.minutes if "120" in question else ())
        for question in _rows("| other samples | dpbounds, proven | who else")
    ],
)
def test_what_is_answered_about_other_samples_is_shown(script, question, place):
    ours, peer, theirs = _rows("| other samples | dpbounds, proven | who else")[question]
    if place:
        if peer == "PLD_accounting":
            pytest.skip("a minute each: python docs/accountants.py asks it")
        pytest.importorskip(peer)
        name = peer if peer in VERSIONS else "dp-accounting"
        if version(name) != VERSIONS[name]:
            pytest.skip("the page is about another version")
    told = script.timed(question, place)[0]
    assert told == (theirs if place else ours).partition(" in ")[0]
