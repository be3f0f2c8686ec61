"""Algorithm 3: its budget is kept with room to spare."""

import pytest

from dpbounds.theorems.registry import theorem
from dpbounds.theorems.spending import spending


@pytest.mark.rotating(4)
def test_the_budget_is_kept_under_both_relations():
    values = {"epsilon": 2, "delta": "1e-5", "steps": 150}
    statement = theorem("wang-chen-xu-2019/algorithm-3")
    replaced, added = (spending(statement, values, relation) for relation in ("replace-one", "add-or-remove-one"))
    assert replaced.kept is True
    assert added.spent.upper < replaced.spent.upper < 0.6
