"""Algorithm 3: what its batches spend."""

from dpbounds.theorems.registry import theorem
from dpbounds.theorems.spending import spending

TWINS = {"noise_multiplier": lambda noise_stddev, batch_size, lipschitz: noise_stddev / (lipschitz / batch_size)}


def test_larger_batches_with_the_same_noise_on_the_mean_spend_less():
    values = {"epsilon": 1, "delta": "1e-5", "dataset_size": 200, "steps": 3, "lipschitz": 2, "noise_stddev": 2}
    small, large = (
        spending(theorem("lowy-ullman-wright-2024/algorithm-3"), {**values, "batch_size": b}) for b in (4, 8)
    )
    assert small.mechanism.parts[0][1] == 3
    assert small.mechanism.parts[0][0].mechanism.noise_multiplier == 4
    # the same noise on the mean means twice the multiplier and twice the chance of being drawn
    assert large.spent.upper < small.spent.upper < 1
