"""Algorithm 2: what it spends under both relations."""

from dpbounds.theorems.registry import theorem
from dpbounds.theorems.spending import spending


def test_it_keeps_its_promise_for_an_added_record_only():
    statement = theorem("ganesh-liu-oh-thakurta-2023/algorithm-2")
    assert spending(statement, {"epsilon": "0.5"}, "add-or-remove-one").kept is True
    replaced = spending(statement, {"epsilon": "0.5"}, "replace-one")
    assert replaced.kept is not True
    assert replaced.spent.upper == 1
