"""Algorithm 3: what its batches spend."""

import pytest

from dpbounds.theorems.registry import theorem
from dpbounds.theorems.spending import spending


@pytest.mark.one_in(4)
def test_what_is_accounted_for_is_the_sum_of_a_batch():
    values = {"epsilon": 1, "delta": "1e-5", "dataset_size": 200, "steps": 3, "lipschitz": 2, "noise_stddev": 50}
    found = spending(theorem("lowy-ullman-wright-2024/algorithm-3"), {**values, "batch_size": 1})
    ((batch, count),) = found.mechanism.parts
    assert (count, batch.batch_size, batch.dataset_size, batch.mechanism.noise_multiplier) == (3, 1, 200, 25)
    assert 0 <= found.spent.lower <= found.spent.upper < 1
