"""What holds for every statement of the library: sound records, and a second transcription that agrees to 50 digits.

The twins of a paper are in ``tests/papers/<paper>/twins.py``; what else is tested of a statement stands beside them, in
``test_<item>.py``.
"""

import re
from fractions import Fraction
from pathlib import Path

import mpmath
import pytest
from sympy import Add, Max, Min, Piecewise, Rational

from dpbounds.errors import NotCertified
from dpbounds.expressions.evaluation import evaluate
from dpbounds.theorems import index, registry
from dpbounds.theorems.checking import defects, sample
from dpbounds.theorems.record import Bound, Parameter, Status
from dpbounds.theorems.wording import as_data, as_latex, as_markdown, as_text
from tests.papers.twins import Point, listed, place

TESTS = Path(__file__).parent.parent / "papers"
ROOT = TESTS.parent.parent
PROOFS = ROOT / "proofs"
POINTS, SEEDS, DIGITS = 6, 2000, 50
BRANCHING = (Max, Min, Piecewise, Add)
# 1 - (1 - δ)^T for δ that are differences: the size of such a term takes seconds to prove, and none is looked at
CANCELLING = ("cited/kairouz-oh-viswanath-2015/theorem-3.3", "dpbounds/ball-noise-and-gaussian-noise")
STATEMENTS = registry.library()
IDS = {theorem.id for theorem in STATEMENTS}
PARTS = [(theorem, part) for theorem in STATEMENTS for part in theorem.parts]
HOMES = dict(zip([theorem.id for theorem in STATEMENTS], index.modules(), strict=True))


def folder_of(theorem):
    """Where the tests of a statement's paper stand."""
    return TESTS / place(theorem.id)[0]


@pytest.mark.seconds_cases("tholeti-kalyani-2020/equation-5")
@pytest.mark.one_in(16)
@pytest.mark.parametrize("theorem", STATEMENTS, ids=lambda theorem: theorem.id)
def test_the_record_is_sound(theorem):
    assert index.module_of(theorem.id) == HOMES[theorem.id]
    assert defects(theorem) == ()


def counting(expression, point, nodes):
    """The (node, argument), of these nodes, on which the value at a point depends visibly.

    Of a maximum, a minimum or a case distinction that is the argument taken, of a sum the terms that are not drowned.
    """
    indices = range(len(expression.args))
    if expression in nodes:
        indices = taken(expression, point)
        yield from ((expression, each) for each in indices)
    for each in indices:
        argument = expression.args[each]
        yield from counting(argument.expr if isinstance(expression, Piecewise) else argument, point, nodes)


def taken(node, point):
    """Which arguments of a sum, a maximum, a minimum or a case distinction are seen in its value at a point."""
    if isinstance(node, Piecewise):
        exact = {one: Rational(point[one.name].numerator, point[one.name].denominator) for one in node.free_symbols}
        return [next(index for index, (_, condition) in enumerate(node.args) if condition.subs(exact))]
    values = [lower_end(one, point) for one in node.args]
    if isinstance(node, Add):
        least = max(map(abs, values)) / 10 ** (DIGITS - 10)
        return [index for index, value in enumerate(values) if abs(value) >= least]
    return [values.index(max(values) if isinstance(node, Max) else min(values))]


def lower_end(expression, point):
    try:
        return evaluate(expression, {one.name: point[one.name] for one in expression.free_symbols}).exact_lower
    except NotCertified:  # too small to be a number with a sign
        return 0


def points_on_all_branches(theorem, expression):
    """Random points, until each branch and term of the formula counted at one: a wrong constant shows only there."""
    nodes = expression.atoms(*(BRANCHING[:-1] if theorem.id in CANCELLING else BRANCHING))
    missing = {(node, index) for node in nodes for index in range(len(node.args))}
    if theorem.id == "ganesh-liu-oh-thakurta-2023/theorem-5.11/explicit":  # max(0, ...) beside a larger positive number
        missing = {(node, index) for node, index in missing if node.args[index] != 0}
    for seed in range(SEEDS):
        for point in sample(theorem, expression, (), POINTS, seed):
            new = missing.intersection(counting(expression, point, nodes)) if missing else set()
            missing -= new
            if seed == 0 or new:
                yield point
        if not missing:
            return
    raise AssertionError(f"no point was found at which these count: {missing}")


@pytest.mark.seconds_cases(
    "tholeti-kalyani-2020/equation-5:*", "*:ball-run", "*theorem-4.6/explicit:[ta]*", "*theorem-3.3:delta"
)
@pytest.mark.one_in(8)
@pytest.mark.parametrize(("theorem", "part"), PARTS, ids=[f"{t.id}:{p.name}" for t, p in PARTS])
def test_two_transcriptions_agree(theorem, part):
    folder, item = place(theorem.id)
    twin, read = listed(folder)[item][part.name], set()
    for point in points_on_all_branches(theorem, part.expression):
        value = evaluate(part.expression, point, digits=DIGITS + 10)
        middle = (Fraction(value.exact_lower) + Fraction(value.exact_upper)) / 2
        with mpmath.workdps(DIGITS + 60):
            exact = {name: mpmath.mpf(one.numerator) / one.denominator for name, one in point.items()}
            second = mpmath.mpf(twin(Point(exact, read)))
            first = mpmath.mpf(middle.numerator) / middle.denominator
            assert abs(first - second) <= mpmath.mpf(10) ** -DIGITS * abs(second), point
    assert read == {symbol.name for symbol in part.expression.free_symbols}


def test_there_are_twins_of_all_parts_and_of_nothing_else():
    wanted = {}
    for theorem in STATEMENTS:
        if theorem.parts:
            folder, item = place(theorem.id)
            wanted.setdefault(folder, {})[item] = {part.name for part in theorem.parts}
    for folder, items in wanted.items():
        assert {item: set(parts) for item, parts in listed(folder).items()} == items


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
        places = [folder / file for folder in (folder_of(theorem), PROOFS / folder_of(theorem).name)]
        texts = [path.read_text(encoding="utf-8") for path in places if path.is_file()]
        found = [text for text in texts if re.search(rf"^def {name}\(", text, flags=re.MULTILINE)]
        assert len(found) == 1, erratum.evidence


def test_a_fault_is_entered_once():
    """What inherits a fault is named by ``also``: no test is the evidence for errata of two statements."""
    homes = {}
    for theorem in STATEMENTS:
        for erratum in theorem.errata:
            assert theorem.id not in erratum.also
            place = (folder_of(theorem), erratum.evidence)
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


@pytest.mark.one_in(8)
@pytest.mark.parametrize("theorem", STATEMENTS, ids=lambda theorem: theorem.id)
def test_it_can_be_told(theorem):
    text = as_text(theorem)
    assert "$" not in text
    assert not re.search(r"\\[a-z]+", text), "LaTeX that a terminal shows as it stands"
    assert "Piecewise" not in text
    assert theorem.title in as_markdown(theorem)
    assert r"\begin{theorem}" in as_latex(theorem)
    assert as_data(theorem)["id"] == theorem.id
