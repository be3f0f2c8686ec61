"""Who asks which dominating pair it has: a pair's own file says what is true of it, and few others may ask."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import dpbounds
from dpbounds.privacy.pairs.core import Pair
from tests.privacy.mechanisms.test_type_tests import type_tests
from tests.privacy.products import EVERY_PAIR, PAIRS

ROOT = Path(dpbounds.__file__).parent
NAMES = {each.__name__ for each in PAIRS} - {"Pair", "SymmetricPair"}
# How many tests of the type of a pair each file has. These numbers only fall: what a new pair needs is a method of its
# class. What is left asks for what one engine can do with one kind of pair, as a contour with Gaussian ones.
TESTS = {
    "cli/answers/explanation.py": 2,
    "privacy/accountants/groups.py": 3,
    "privacy/accountants/probable/sampled.py": 1,
    "privacy/accountants/routing.py": 1,
    "privacy/accountants/simple_bounds.py": 2,
    "privacy/budgets/filters.py": 1,
    "privacy/domination/composition.py": 1,
    "privacy/domination/many_choices.py": 5,
    "privacy/mechanisms/bounds.py": 2,
    "privacy/mechanisms/noises/whole_numbers.py": 1,
    "privacy/mechanisms/schemes/allocation.py": 1,
    "privacy/mechanisms/schemes/fixed_size.py": 11,
    "privacy/mechanisms/schemes/last_iterate.py": 1,
    "privacy/mechanisms/schemes/poisson.py": 3,
    "privacy/mechanisms/schemes/shuffled.py": 1,
    "privacy/mechanisms/schemes/truncated.py": 2,
    "privacy/pairs/guarantees.py": 7,
    "privacy/pairs/pairs.py": 5,
    "privacy/pairs/revealed.py": 3,
    "privacy/pairs/sampled.py": 3,
    "privacy/pairs/secret.py": 3,
    "privacy/pairs/zeroed.py": 1,
    "privacy/publishing/certificates/checking.py": 2,
    "privacy/publishing/certificates/other_routes.py": 1,
    "privacy/publishing/hints.py": 1,
    "privacy/publishing/kernel/masses.py": 2,
    "privacy/renyi/concentrated_accounts.py": 2,
    "privacy/routes/allocation/choices.py": 1,
    "privacy/routes/allocation/discrete_pairs.py": 5,
    "privacy/routes/allocation/engine.py": 5,
    "privacy/routes/allocation/low_noise.py": 8,
    "privacy/routes/allocation/special_cases.py": 2,
    "privacy/routes/at_once.py": 1,
    "privacy/routes/closed_forms.py": 2,
    "privacy/routes/combined.py": 1,
    "privacy/routes/contour/growing.py": 2,
    "privacy/routes/contour/landscape.py": 2,
    "privacy/routes/drawn_steps.py": 3,
    "privacy/routes/lattice/products.py": 1,
    "privacy/routes/lattice/steps.py": 7,
    "privacy/routes/outcomes.py": 1,
    "privacy/routes/shuffling/enclosed.py": 6,
    "theorems/spending.py": 1,
}


@pytest.mark.seconds
def test_few_files_ask_which_pair_it_is() -> None:
    found: Counter[str] = Counter()
    for path in {*ROOT.rglob("*.py"), *(ROOT / "algorithms").rglob("*.py")}:  # a link in a checkout
        name, text = path.relative_to(ROOT).as_posix(), path.read_text("utf-8")
        if "privacy.pairs" in text or "privacy import pairs" in text:
            found[name] = type_tests(ast.parse(text), NAMES)
    assert {name: count for name, count in found.items() if count} == TESTS


def test_a_pair_says_all_that_is_asked_of_it() -> None:
    assert len(EVERY_PAIR) == len(PAIRS) - 3  # which are abstract
    with pytest.raises(TypeError, match="abstract"):
        type("Silent", (Pair,), {})()


@pytest.mark.seconds
def test_pairs_are_imported_without_floating_point() -> None:
    code = "import sys, dpbounds.privacy.pairs.pairs; print(*{'numpy', 'scipy', 'mpmath', 'sympy'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split() == []
