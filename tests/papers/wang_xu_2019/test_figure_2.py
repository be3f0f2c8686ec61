"""Figure 2: the bound depends on T."""

from tests.papers.reference_formulas import evaluated


def test_the_bound_has_a_best_number_of_steps():
    evaluate = evaluated("wang-xu-2019/figure-2")
    values = {"L": 1, "Delta_F": "0.5", "d": 100, "z": 2, "G": 1, "n": 10_000}
    at = {steps: evaluate(T=steps, **values).value.lower for steps in (50, 200, 500, 2000, 20_000)}
    assert min(at, key=at.get) == 500
    assert at[50] > 3 * at[500] < at[20_000]
