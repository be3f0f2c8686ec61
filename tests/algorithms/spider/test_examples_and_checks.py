import pytest

from dpbounds.algorithms import PrivacyBudget
from dpbounds.algorithms.verification.judging.checks import Verdict
from dpbounds.algorithms.verification.judging.planned_checks import Size
from dpbounds.algorithms.verification.studies.spider import CHECKS, EXAMPLES
from dpbounds.algorithms.verification.sweeping.cells import run
from dpbounds.theorems import registry


@pytest.mark.parametrize("relation", ["replace-one", "add-or-remove-one"])
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda each: each.name)
def test_examples_keep_their_budget(example, relation):
    budget = PrivacyBudget.of(2, "1e-5", relation)
    algorithm, problem = example.calibrated(budget)
    assert algorithm.budget == budget
    ran = algorithm.run(problem, seed=1, repetitions=2)
    assert ran.spent.upper <= 2
    assert ran.samples.shape == (2,)
    for name in example.theorems:
        assert registry.theorem(name).id == name
    assert example.printed == example.name.endswith("as-printed")


@pytest.mark.rotating(4)
def test_every_check_names_a_statement_and_the_small_ones_hold():
    assert all(registry.theorem(each.theorem).id == each.theorem for each in CHECKS)
    small = [each for each in CHECKS if each.kind == "bound" and each.name.endswith("n = 500")]
    assert len(small) == 3
    for each in small:
        assert each.judge([run(cell) for cell in each.cells(Size.QUICK)], 0.99).verdict is Verdict.HOLDS


@pytest.mark.slow
def test_all_checks_hold():
    done = {}
    for each in CHECKS:
        cells = each.cells(Size.QUICK)
        done |= {cell.key: run(cell) for cell in cells if cell.key not in done}
        found = each.judge([done[cell.key] for cell in cells], 0.9998)
        assert found.verdict is Verdict.HOLDS, found.reason
