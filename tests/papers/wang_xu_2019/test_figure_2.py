"""Figure 2: the bound depends on T."""

from dpbounds.theorems.registry import theorem


def test_the_bound_has_a_best_number_of_steps():
    statement = theorem("wang-xu-2019/figure-2")
    values = {"smoothness": 1, "initial_gap": "0.5", "d": 100, "noise_multiplier": 2, "lipschitz": 1, "n": 10_000}
    at = {steps: statement.evaluate(steps=steps, **values).value.lower for steps in (50, 200, 500, 2000, 20_000)}
    assert min(at, key=at.get) == 500
    assert at[50] > 3 * at[500] < at[20_000]
