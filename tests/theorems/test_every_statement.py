"""What holds for every statement of the library: sound records, and a second transcription that agrees to 50 digits.

The twin of ``dpbounds/papers/<paper>/<item>.py`` is ``tests/papers/<paper>/test_<item>.py``: its ``TWINS`` maps the
name of each part to a plain mpmath function of the quantities, written from the paper's text.
"""

import importlib.util
import inspect
import re
from fractions import Fraction
from functools import cache
from pathlib import Path

import mpmath
import pytest

from dpbounds.expressions.evaluation import evaluate
from dpbounds.theorems import index, registry
from dpbounds.theorems.checking import defects, sample
from dpbounds.theorems.record import Bound, Parameter, Status
from dpbounds.theorems.wording import as_data, as_latex, as_markdown, as_text

TESTS = Path(__file__).parent.parent / "papers"
ROOT = TESTS.parent.parent
POINTS, DIGITS = 6, 50
STATEMENTS = registry.library()
IDS = {theorem.id for theorem in STATEMENTS}
PARTS = [(theorem, part) for theorem in STATEMENTS for part in theorem.parts]
HOMES = dict(zip([theorem.id for theorem in STATEMENTS], index.modules(), strict=True))


def twin_file(theorem):
    *_, last = HOMES[theorem.id].split(".")
    return TESTS.joinpath(*HOMES[theorem.id].split(".")[2:-1], f"test_{last}.py")


@cache
def twins_of(path):
    specification = importlib.util.spec_from_file_location(f"twins_{path.parent.name}_{path.stem}", path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module.TWINS


@pytest.mark.thorough_cases("tholeti-kalyani-2020/equation-5")
@pytest.mark.rotating(8)
@pytest.mark.parametrize("theorem", STATEMENTS, ids=lambda theorem: theorem.id)
def test_the_record_is_sound(theorem):
    assert index.module_of(theorem.id) == HOMES[theorem.id]
    assert defects(theorem) == ()


@pytest.mark.thorough_cases("tholeti-kalyani-2020/equation-5:*", "*:ball-run")
@pytest.mark.rotating(8)
@pytest.mark.parametrize(("theorem", "part"), PARTS, ids=[f"{t.id}:{p.name}" for t, p in PARTS])
def test_two_transcriptions_agree(theorem, part):
    twin = twins_of(twin_file(theorem))[part.name]
    names = list(inspect.signature(twin).parameters)
    assert sorted(names) == sorted(symbol.name for symbol in part.expression.free_symbols)
    points = sample(theorem, part.expression, (), POINTS)
    tested = 0
    for point in points:
        value = evaluate(part.expression, point, digits=DIGITS + 10)
        middle = (Fraction(value.exact_lower) + Fraction(value.exact_upper)) / 2
        with mpmath.workdps(DIGITS + 60):
            second = mpmath.mpf(twin(*(mpmath.mpf(point[n].numerator) / point[n].denominator for n in names)))
            first = mpmath.mpf(middle.numerator) / middle.denominator
            assert abs(first - second) <= mpmath.mpf(10) ** -DIGITS * abs(second), point
        tested += 1
    assert tested == POINTS


@pytest.mark.parametrize("theorem", STATEMENTS, ids=lambda theorem: theorem.id)
def test_nothing_dangles(theorem):
    links = (*theorem.relies_on, *theorem.superseded_by, theorem.makes_explicit, theorem.algorithm)
    assert {link for link in links if link} <= IDS
    if theorem.derivation:
        assert (index.HOME.joinpath(*HOMES[theorem.id].split(".")[2:-1]) / theorem.derivation).is_file()
    if theorem.status in (Status.PROVED_HERE,):
        assert theorem.derivation or "Proof" in theorem.statement or "because" in theorem.statement or theorem.notes
    if theorem.makes_explicit:
        kinds = (Bound, Parameter) if theorem.privacy else (Bound,)  # noise that suffices is explicit, too
        assert any(isinstance(part, kinds) for part in theorem.parts)


@pytest.mark.parametrize("theorem", [one for one in STATEMENTS if one.errata], ids=lambda theorem: theorem.id)
def test_every_erratum_has_its_evidence(theorem):
    for erratum in theorem.errata:
        file, name = erratum.evidence.split("::")
        path = twin_file(theorem).parent / file
        assert path.is_file(), path
        assert re.search(rf"^def {name}\(", path.read_text(encoding="utf-8"), flags=re.MULTILINE), erratum.evidence


def test_a_fault_is_entered_once():
    """What inherits a fault is named by ``also``: no test is the evidence for errata of two statements."""
    homes = {}
    for theorem in STATEMENTS:
        for erratum in theorem.errata:
            assert theorem.id not in erratum.also
            place = (twin_file(theorem).parent / erratum.evidence.split("::")[0], erratum.evidence)
            assert homes.setdefault(place, theorem.id) == theorem.id, erratum.printed


def test_the_index_is_fresh():
    assert index.INDEX.read_text(encoding="utf-8") == registry.index_text(), "run python -m dpbounds.theorems"


def test_every_repaired_or_false_statement_says_why():
    shared = {name for theorem in STATEMENTS for erratum in theorem.errata for name in erratum.also}
    assert shared <= IDS
    for theorem in STATEMENTS:
        if theorem.status in (Status.REPAIRED, Status.FALSE):
            assert theorem.errata or theorem.id in shared, theorem.id
        if theorem.status is Status.DISPUTED:
            assert theorem.errata or theorem.notes or theorem.relies_on, theorem.id


@pytest.mark.rotating(8)
@pytest.mark.parametrize("theorem", STATEMENTS, ids=lambda theorem: theorem.id)
def test_it_can_be_told(theorem):
    text = as_text(theorem)
    assert "$" not in text
    assert not re.search(r"\\[a-z]+", text), "LaTeX that a terminal shows as it stands"
    assert "Piecewise" not in text
    assert theorem.title in as_markdown(theorem)
    assert r"\begin{theorem}" in as_latex(theorem)
    assert as_data(theorem)["id"] == theorem.id
