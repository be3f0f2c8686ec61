"""Zhang et al.: what replaced it is smaller."""

from dpbounds.theorems.registry import theorem


def test_it_is_the_row_of_the_table_that_quotes_it_and_above_what_replaced_it():
    values = {"n": 5000, "d": 20, "epsilon": "0.5", "delta": "1e-5"}
    own = theorem("cited/zhang-et-al-2017/main-result").evaluate(**values).value
    assert own.overlaps(theorem("wang-xu-2019/table-1").evaluate("zhang-et-al-2017", **values).value)
    assert theorem("cited/wang-ye-xu-2017/main-result").evaluate(**values).value < own.lower
