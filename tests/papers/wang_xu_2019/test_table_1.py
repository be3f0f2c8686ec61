"""Table 1: its rows against the theorems."""

import pytest

from dpbounds.theorems.registry import theorem


@pytest.mark.parametrize(
    ("row", "statement"),
    [
        ("algorithm-1", "theorem-2"),
        ("algorithm-2", "theorem-4"),
        ("algorithm-3", "theorem-5"),
        ("algorithm-4", "corollary-1"),
    ],
)
def test_rows_agree_with_their_theorems_for_sets_of_norm_1(row, statement):
    values = {"n": 5000, "d": 20, "epsilon": "0.5", "delta": "1e-5", "norm_bound": 1, "gaussian_width": "2.5"}
    table, proved = (theorem(f"wang-xu-2019/{name}") for name in ("table-1", statement))
    assert table.evaluate(row, **values).value.overlaps(proved.evaluate("rate", **values).value)
