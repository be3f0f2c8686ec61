"""The table of regressors says what was measured, and the private one is not behind plain noisy descent."""

import numpy as np
import pytest

from tests.benchmarks import regressors
from tests.benchmarks.classifiers import EPSILONS, PAGE, SEEDS, key

BEHIND = 0.05  # of R²
CELLS = [key(name, epsilon) for name in regressors.DATA for epsilon in EPSILONS]


@pytest.mark.seconds
def test_the_page_has_what_is_stored():
    text = PAGE.read_text(encoding="utf-8")
    assert regressors.with_table(text) == text


@pytest.mark.parametrize("cell", CELLS)
def test_plain_descent_is_not_ahead(cell):
    kept = regressors.stored()
    assert [len(kept[method][cell]) for method in (regressors.OURS, "plain")] == [SEEDS] * 2
    assert regressors.behind(kept, cell) <= BEHIND


def test_it_can_fail():
    """Plain descent that is a tenth ahead on each seed is too far ahead."""
    kept = {regressors.OURS: {"x": [0.5] * 20}, "plain": {"x": list(0.6 + 0.01 * np.arange(20) % 3)}}
    assert regressors.behind(kept, "x") > BEHIND


@pytest.mark.minutes
@pytest.mark.parametrize("method", [regressors.OURS, "plain"])
def test_what_is_stored_is_measured_again(method):
    again = regressors.held_out(regressors.METHODS[method], regressors.data_of("diabetes"), 1.0, 0)
    assert again == pytest.approx(regressors.stored()[method]["diabetes | 1"][0], abs=1e-4)
