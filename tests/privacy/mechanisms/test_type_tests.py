"""Who asks which mechanism it has: a mechanism's own file says what is true of it, and few others may ask."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Container, Iterator
from pathlib import Path

import pytest

import dpbounds
from dpbounds.privacy import mechanisms

ROOT = Path(dpbounds.__file__).parent
NAMES = set(mechanisms.__all__) - {"Mechanism", "parts_of"}
OWN = ("privacy/mechanisms/noises/", "privacy/mechanisms/schemes/", "privacy/mechanisms/guarantees.py")
# How many tests of the type of a mechanism other files have. These numbers only fall: what a new mechanism needs is a
# method of its class. What is left asks for a proof that one kind has (domination, groups), or for what a file of
# another project can hold (events, certificates).
TESTS = {
    "algorithms/guards/residuals.py": 2,
    "algorithms/guards/sizes.py": 2,
    "algorithms/ledger/closed.py": 4,
    "algorithms/ledger_format.py": 3,
    "algorithms/sampling.py": 2,
    "algorithms/spider/capped_queries.py": 1,
    "algorithms/verification/attacks/experiments.py": 1,
    "algorithms/verification/attacks/mutations.py": 1,
    "app/extras.py": 3,
    "cli/answers/explanation.py": 10,
    "cli/answers/reports.py": 1,
    "cli/questions/subjects.py": 2,
    "cli/verbs/plan.py": 5,
    "privacy/accountants/groups.py": 2,
    "privacy/accountants/probable/sampled.py": 3,
    "privacy/budgets/batch_room.py": 1,
    "privacy/budgets/filters.py": 1,
    "privacy/mechanisms/bounds.py": 5,
    "privacy/mechanisms/core.py": 2,
    "privacy/mechanisms/descriptions.py": 1,
    "privacy/publishing/certificates/releases.py": 4,
    "privacy/publishing/hints.py": 3,
    "privacy/publishing/interoperability/events.py": 18,
    "privacy/publishing/interoperability/privacy_accountant.py": 1,
    "privacy/publishing/statements.py": 6,
    "rates/budgets.py": 1,
    "theorems/spending.py": 1,
}


def named(node: ast.expr) -> Iterator[str]:
    """The names of classes in a union or a tuple of them."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            yield name
        case ast.BinOp(left=left, right=right):
            yield from (*named(left), *named(right))
        case ast.Tuple(elts=several):
            for each in several:
                yield from named(each)


def type_tests(tree: ast.AST, names: Container[str]) -> int:
    """How many of these classes are asked for: in patterns, in ``isinstance``, in comparisons of types."""
    found = 0
    for node in ast.walk(tree):
        match node:
            case ast.MatchClass(cls=classes):
                asked = [*named(classes)]
            case ast.Call(func=ast.Name(id="isinstance" | "issubclass"), args=[_, classes]):
                asked = [*named(classes)]
            case ast.Compare(left=ast.Call(func=ast.Name(id="type")), comparators=others):
                asked = [name for other in others for name in named(other)]
            case _:
                continue
        found += sum(name in names for name in asked)
    return found


@pytest.mark.seconds
def test_few_files_ask_which_mechanism_it_is() -> None:
    found: Counter[str] = Counter()
    for path in {*ROOT.rglob("*.py"), *(ROOT / "algorithms").rglob("*.py")}:  # a link in a checkout
        name, text = path.relative_to(ROOT).as_posix(), path.read_text("utf-8")
        if not name.startswith(OWN) and "mechanisms" in text:
            found[name] += type_tests(ast.parse(text), NAMES)
    assert {name: count for name, count in found.items() if count} == TESTS


def test_what_counts_as_a_type_test() -> None:
    code = """
match part:
    case PoissonSampled(mechanism=Gaussian()) | mechanisms.Laplace():
        pass
isinstance(part, Shuffled | m.BallsInBins), isinstance(part, (ZCDP, int)), type(part) is Gaussian, type(part) in (ZCDP,)
PoissonSampled(Gaussian(1), rate)
"""
    assert type_tests(ast.parse(code), NAMES) == 3 + 2 + 1 + 1 + 1
