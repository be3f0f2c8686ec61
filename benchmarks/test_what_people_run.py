"""What people really run: the goals of every row, asked of a fresh process each.

    pytest benchmarks/test_what_people_run.py -m minutes -n 0 -s

prints both ends, processor seconds and their ratio to what a row may take. Asserted are widths, ends against the values
that were given, and memory. Values of peers are asked beside ours in ``test_peers.py``.
"""

from __future__ import annotations

import pytest

from benchmarks.what_people_run import ROWS, Row, measured


def _missed(row: Row, low: float, high: float, memory: float) -> list[str]:
    """The kinds of faults but time, which other work on a machine decides."""
    return [fault.split()[0] if "width" in fault else fault for fault in row.faults(low, high, 0.0, memory)]


@pytest.mark.minutes
@pytest.mark.parametrize("row", ROWS, ids=[row.title for row in ROWS])
def test_every_row_keeps_its_goals(row: Row) -> None:
    low, high, seconds, memory = measured(row)
    missed = _missed(row, low, high, memory)
    print(f"\n{row.title}: [{low:.6g}, {high:.6g}], {seconds:.1f} s, {seconds / row.limit:.2f} of what it may take")
    assert not missed


def test_goals_can_be_missed() -> None:
    """Each fault is seen where it is, and only there."""
    row = Row("", lambda: (0, 0), upper=2.0, lower=1.9, width=1e-3)  # type: ignore[arg-type,return-value]
    assert _missed(row, 1.9995, 2.0, 1e6) == []
    assert _missed(row, 1.9995, 2.01, 1e6) == ["upper end", "width"]
    assert _missed(row, 1.8, 1.8001, 1e6) == ["lower end"]
    assert _missed(row, 1.9, 1.95, 3e9) == ["width", "memory"]
    assert _missed(row, 2.001, 2.0011, 1e6) == ["above the reading"]
    assert row.faults(1.9995, 2.0, 11.0, 1e6) == ["time"]
