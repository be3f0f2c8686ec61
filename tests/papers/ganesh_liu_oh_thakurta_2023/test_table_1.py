"""Table 1: gaps between its rows."""

import pytest

from tests.papers.reference_formulas import evaluated

evaluate = evaluated("ganesh-liu-oh-thakurta-2023/table-1")


def value(part, **values):
    return evaluate(part, **values).value.lower


def test_the_gap_to_the_lower_bound():
    for records in (10**3, 10**6):
        values = {"n": records, "d": 16, "epsilon": 1}
        share = 4 / records
        gap = value("empirical-sosp", **values) / value("empirical-lower", **values)
        assert gap == pytest.approx(share ** (-1 / 3))
        assert gap > 2 * share ** (-1 / 6)
