"""The stored results of private regressors: the page shows them, and new runs find them again."""

import numpy as np
import pytest

from benchmarks import regressors
from benchmarks.classifiers import EPSILONS, PAGE, SEEDS, key

BEHIND = 0.05  # of R²
CELLS = [(name, epsilon) for name in regressors.DATA for epsilon in EPSILONS]


@pytest.mark.seconds
def test_the_page_shows_what_is_stored():
    text = PAGE.read_text(encoding="utf-8")
    assert regressors.with_table(text) == text


def test_plain_descent_is_not_ahead():
    kept = regressors.stored()
    for cell in (key(*each) for each in CELLS):
        assert [len(kept[method][cell]) for method in (regressors.OURS, "plain")] == [SEEDS] * 2
        assert regressors.behind(kept, cell) <= BEHIND, cell


def test_plain_descent_that_is_ahead_is_seen():
    kept = {regressors.OURS: {"x": [0.5] * 20}, "plain": {"x": list(0.6 + 0.01 * np.arange(20) % 3)}}
    assert regressors.behind(kept, "x") > BEHIND


@pytest.mark.seconds
@pytest.mark.parametrize("method", regressors.METHODS)
def test_the_first_seed_is_measured_again(method):
    for name, epsilon in CELLS:
        kept = regressors.stored()[method].get(key(name, epsilon))  # what is not private has no ε
        if kept is not None:
            again = regressors.held_out(regressors.METHODS[method], regressors.data_of(name), epsilon, 0)
            assert again == pytest.approx(kept[0], abs=1e-4), (name, epsilon)
