import pytest

from dpbounds.algorithms.ledger import PrivacyBudget
from dpbounds.algorithms.verification.studies.selection import EXAMPLES


@pytest.mark.parametrize("relation", ["replace-one", "add-or-remove-one"])
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_every_example_keeps_its_budget_or_says_what_it_spends(example, relation):
    budget = PrivacyBudget.of(1, "1e-6", relation)
    algorithm, problem = example.calibrated(budget)
    run = algorithm.run(problem, repetitions=2)
    run.ledger.check_plan(algorithm.planned)
    if example.printed:
        assert algorithm.budget is None
    else:
        assert algorithm.budget == budget
        assert run.spent.upper <= 1
