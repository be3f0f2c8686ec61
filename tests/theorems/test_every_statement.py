"""Properties of every statement: sound records, and a second transcription of each formula that agrees.

The reference formulas of a paper are in ``tests/papers/<paper>/reference_formulas.py``; other tests of a statement are
beside them, in ``test_<item>.py``. Each property is one loop, and the message names every statement that fails. The
library is loaded in the tests, not when they are collected.
"""

import re
from fractions import Fraction
from functools import cache
from pathlib import Path

import mpmath
import pytest
from sympy import Add, Max, Min, Piecewise, Rational

from dpbounds.errors import NotCertified
from dpbounds.expressions.evaluation import evaluate
from dpbounds.theorems import index, registry
from dpbounds.theorems.checking import defects, sample
from dpbounds.theorems.record import Bound, Parameter, Severity, Status
from dpbounds.theorems.wording import as_data, as_latex, as_markdown, as_text
from tests.papers.reference_formulas import Point, formulas_of, place

ROOT = Path(__file__).parents[2]
TESTS, PROOFS = ROOT / "tests" / "papers", ROOT / "proofs"
POINTS, SEEDS, DIGITS = 6, 2000, 50
BRANCHING = (Max, Min, Piecewise, Add)
FOLDERS = sorted(path.parent.name for path in TESTS.glob("*/reference_formulas.py"))
CAP = "tholeti-kalyani-2020/equation-5"  # its checks cost more than those of all others
# 1 - (1 - δ)^T for δ that are differences: the size of such a term takes seconds to prove, and none is looked at
CANCELLING = ("cited/kairouz-oh-viswanath-2015/theorem-3.3", "dpbounds/ball-noise-and-gaussian-noise")


@cache
def modules():
    """The module of each statement, by its id."""
    return dict(zip([theorem.id for theorem in registry.library()], index.modules(), strict=True))


def folder_of(theorem):
    """The folder of the tests of a statement's paper."""
    return TESTS / place(theorem.id)[0]


def parts_in(folder):
    """The statements and parts of a folder, each with its reference formula."""
    formulas = formulas_of(folder)
    for theorem in registry.library():
        home, item = place(theorem.id)
        if home == folder:
            yield from ((theorem, part, formulas[item][part.name]) for part in theorem.parts)


# --- records ---


def assert_sound(theorems):
    found = {one.id: defects(one) for one in theorems}
    assert {name: texts for name, texts in found.items() if texts} == {}


def test_records_are_sound():
    assert_sound(registry.library()[::48])


@pytest.mark.minutes
def test_all_records_are_sound():
    assert_sound(one for one in registry.library() if one.id != CAP)


@pytest.mark.minutes
def test_the_costliest_record_is_sound():
    assert_sound([registry.theorem(CAP)])


def test_an_id_names_its_module():
    assert {name: index.module_of(name) for name in modules()} == modules()


def test_links_and_derivations_exist():
    known, wrong = set(modules()), []
    for theorem in registry.library():
        links = {*theorem.relies_on, *theorem.superseded_by, theorem.makes_explicit, theorem.algorithm} - {None}
        wrong += [(theorem.id, link) for link in links if link and link not in known]
        derivation = index.file_of(theorem.id).with_name(theorem.derivation or "none")
        if theorem.derivation and not (ROOT / derivation).is_file():
            wrong.append((theorem.id, f"write its derivation in {derivation}"))
    assert wrong == []


def test_what_is_proved_here_says_how():
    proved = [one for one in registry.library() if one.status is Status.PROVED_HERE and not one.derivation]
    unsaid = [one.id for one in proved if not re.search("Proof|because", one.statement) and not one.notes]
    assert unsaid == []


def test_what_makes_a_statement_explicit_has_a_bound():
    for theorem in registry.library():
        kinds = (Bound, Parameter) if theorem.privacy else (Bound,)  # noise that suffices is explicit, too
        has_bound = any(isinstance(part, kinds) for part in theorem.parts)
        assert has_bound or not theorem.makes_explicit, theorem.id


def test_the_index_is_fresh():
    assert index.INDEX.read_text(encoding="utf-8") == registry.index_text(), "run python -m dpbounds.theorems"


# --- errata ---


def test_every_erratum_has_its_evidence():
    missing = []
    for theorem in registry.library():
        for erratum in theorem.errata:
            file, name = erratum.evidence.split("::")
            places = [folder / file for folder in (folder_of(theorem), PROOFS / folder_of(theorem).name)]
            texts = [path.read_text(encoding="utf-8") for path in places if path.is_file()]
            if sum(bool(re.search(rf"^def {name}\(", text, flags=re.MULTILINE)) for text in texts) != 1:
                named = " or ".join(str(path.relative_to(ROOT)) for path in places)
                missing.append(f"{theorem.id}: an erratum rests on {name}: write it in one of {named}")
    assert missing == []


def test_a_fault_is_entered_once():
    """What inherits a fault is named by ``also``: no test is the evidence for errata of two statements."""
    homes = {}
    for theorem in registry.library():
        for erratum in theorem.errata:
            assert theorem.id not in erratum.also
            evidence = (folder_of(theorem), erratum.evidence)
            assert homes.setdefault(evidence, theorem.id) == theorem.id, erratum.printed


def test_every_repaired_or_false_statement_says_why():
    shared = {name for theorem in registry.library() for erratum in theorem.errata for name in erratum.also}
    assert shared <= set(modules())
    for theorem in registry.library():
        if theorem.status in (Status.REPAIRED, Status.FALSE):
            assert theorem.errata or theorem.id in shared, theorem.id
        if theorem.status is Status.DISPUTED:
            assert theorem.errata or theorem.notes or theorem.relies_on, theorem.id


@pytest.mark.parametrize("severity", [Severity.GAP, Severity.FALSE, Severity.PRIVACY])
def test_what_has_a_serious_fault_in_print_says_so_by_its_status(severity):
    """Its own, or that of the part with the fault: a proof that was found right, or not read, is not all to be said."""
    faulty = {Status.REPAIRED, Status.DISPUTED, Status.FALSE}
    known = {theorem.id: theorem for theorem in registry.library()}
    errata = [erratum for theorem in known.values() for erratum in theorem.errata if erratum.severity is severity]
    for theorem in {known[name] for erratum in errata for name in erratum.also}:
        assert faulty & {theorem.status, *(part.status for part in theorem.parts)}, theorem.id


# --- formulas ---


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
    raise AssertionError(f"{theorem.id}: no point was found at which these count: {missing}")


def relative_error(expression, formula, point, read):
    """How far the two transcriptions are apart at a point, relative to the second one, in units of the last digit."""
    value = evaluate(expression, point, digits=DIGITS + 10)
    middle = (Fraction(value.exact_lower) + Fraction(value.exact_upper)) / 2
    with mpmath.workdps(DIGITS + 60):
        exact = {name: mpmath.mpf(one.numerator) / one.denominator for name, one in point.items()}
        second = mpmath.mpf(formula(Point(exact, read)))
        first = mpmath.mpf(middle.numerator) / middle.denominator
        return 0 if first == second else abs(first - second) / abs(second) * mpmath.mpf(10) ** DIGITS


@pytest.mark.parametrize("folder", FOLDERS)
def test_formulas_agree_at_a_point(folder):
    """Every formula of a paper at one point."""
    wrong = []
    for theorem, part, formula in parts_in(folder):
        (point,) = sample(theorem, part.expression, (), 1)
        if not relative_error(part.expression, formula, point, set()) <= 1:
            wrong.append((theorem.id, part.name, point))
    assert wrong == []


@pytest.mark.seconds
@pytest.mark.parametrize("folder", FOLDERS)
def test_formulas_agree_on_all_branches(folder):
    wrong = []
    for theorem, part, formula in parts_in(folder):
        read = set()
        errors = {
            str(point): relative_error(part.expression, formula, point, read)
            for point in points_on_all_branches(theorem, part.expression)
        }
        wrong += [(theorem.id, part.name, point) for point, error in errors.items() if not error <= 1]
        if read != {symbol.name for symbol in part.expression.free_symbols}:
            wrong.append((theorem.id, part.name, f"the reference formula reads {sorted(read)}"))
    assert wrong == []


def test_every_paper_with_formulas_has_its_reference_formulas():
    folders = {place(theorem.id)[0] for theorem in registry.library() if theorem.parts}
    missing = [f"write tests/papers/{folder}/reference_formulas.py" for folder in sorted(folders - set(FOLDERS))]
    assert missing == []


@pytest.mark.parametrize("folder", FOLDERS)
def test_reference_formulas_are_those_of_all_parts(folder):
    wanted = {}
    for theorem in registry.library():
        home, item = place(theorem.id)
        if theorem.parts and home == folder:
            wanted[item] = {part.name for part in theorem.parts}
    assert {item: set(parts) for item, parts in formulas_of(folder).items()} == wanted


# --- wording ---


def assert_readable(theorems):
    for theorem in theorems:
        text = as_text(theorem)
        assert not re.search(r"\$|\\[a-z]+|Piecewise", text), f"{theorem.id}: LaTeX or SymPy in text for a terminal"
        assert theorem.title in as_markdown(theorem)
        assert r"\begin{theorem}" in as_latex(theorem)
        assert as_data(theorem)["id"] == theorem.id


def test_statements_are_readable():
    assert_readable(registry.library()[::48])


@pytest.mark.seconds
def test_all_statements_are_readable():
    assert_readable(registry.library())
