"""Corollary 8.2: both branches meet at the projected dimension."""

import pytest

from dpbounds.expressions.symbols import rank
from dpbounds.papers.lowy_ullman_wright_2024.corollary_8_2 import branches, projected_dimension


def test_both_branches_meet_at_the_projected_dimension():
    values = {s: 1000 for s in branches.free_symbols if s.name == "dataset_size"}
    values |= {s: 1 for s in branches.free_symbols if s.name == "epsilon"}
    large = float(projected_dimension.subs({**values, rank: 10**6}))
    assert large == pytest.approx(1000 ** (6 / 7))
    assert large ** (2 / 3) / 1000 == pytest.approx(float(branches.subs({**values, rank: 10**6})))
