import math
from fractions import Fraction

import pytest

from dpbounds.algorithms import PrivacyBudget, ProjectedGradientDescent
from dpbounds.algorithms.descents.quoted_baselines import WangYeXu2017, ZhangEtAl2017, moments_constant
from dpbounds.expressions.evaluation import evaluate
from dpbounds.theorems.registry import theorem
from tests.algorithms.shared import refused, smooth

PROBLEM = smooth(l1="1/1000")
QUOTED = {
    "zhang": lambda steps: ZhangEtAl2017.quoted("0.5", "1e-3", steps),
    "zhang times steps": lambda steps: ZhangEtAl2017.quoted("0.5", "1e-3", steps, reading="times-steps"),
    "wang, ye & xu": lambda steps: WangYeXu2017.quoted("0.5", "1e-3", steps),
}


@pytest.mark.parametrize("name", QUOTED)
def test_what_runs_is_projected_descent_with_that_noise(name):
    quoted = QUOTED[name](6)
    run = quoted.run(PROBLEM, seed=3, repetitions=3)
    plain = ProjectedGradientDescent(quoted.noise_multiplier, 6).run(PROBLEM, seed=3, repetitions=3)
    assert (run.output == plain.output).all()
    assert run.ledger == plain.ledger
    for mapping in ("noisy", "exact"):
        assert quoted.bound(PROBLEM, mapping) == ProjectedGradientDescent(quoted.noise_multiplier, 6).bound(
            PROBLEM, mapping
        )
    assert (quoted.run(PROBLEM, seed=3, repetitions=1).output == run.output[:1]).all()
    assert "as quoted in Wang & Xu 2019" in str(run)
    assert run.parameters["claimed_epsilon"] == 0.5
    assert run.parameters["certified_epsilon"] == pytest.approx(run.ledger.spent("1e-3").upper, rel=1e-9)


def test_the_noise_of_figure_4():
    """n = 10⁴, T = 200, δ = 10⁻³, ε = 0.5 in plain floats: as it stands, and with the factor T."""
    sigma = math.sqrt(32 * math.log(1e3) * math.log(2e5)) / (1e4 * 0.5)
    assert float(QUOTED["zhang"](200).noise_multiplier) / 1e4 == pytest.approx(sigma, rel=1e-9)
    assert float(QUOTED["zhang times steps"](200).noise_multiplier) / 1e4 == pytest.approx(
        sigma * math.sqrt(200), rel=1e-9
    )


@pytest.mark.parametrize(("epsilon", "last"), [("0.1", 224), ("0.5", 121)])
def test_the_first_number_of_steps_at_which_the_quoted_noise_breaks_its_promise(epsilon, last):
    kept, broken = (ZhangEtAl2017.quoted(epsilon, "1e-3", steps) for steps in (last, last + 1))
    assert kept.spent.at_most(Fraction(epsilon)) is True
    assert broken.spent.at_most(Fraction(epsilon)) is False
    assert broken.spent_delta.lower > 1e-3 > kept.spent_delta.upper


def test_at_their_own_number_of_steps_delta_is_four_times_what_is_claimed():
    assert ZhangEtAl2017.quoted("0.5", "1e-3", 200).spent_delta.upper == pytest.approx(0.004518, rel=1e-3)


@pytest.mark.parametrize("epsilon", ["0.1", "0.5", 2, 5])
def test_the_other_two_keep_their_promise(epsilon):
    for quoted in (
        ZhangEtAl2017.quoted(epsilon, "1e-3", 200, reading="times-steps"),
        WangYeXu2017.quoted(epsilon, "1e-3", 200),
    ):
        assert quoted.spent.at_most(Fraction(epsilon)) is True


@pytest.mark.parametrize("epsilon", ["0.1", "0.5", 2, 5, 40])
@pytest.mark.parametrize("relation", ["replace-one", "add-or-remove-one"])
def test_the_moments_constant_is_the_best_whole_order(epsilon, relation):
    claimed = PrivacyBudget.of(epsilon, "1e-3", relation)
    found = evaluate(moments_constant(claimed), {}).upper
    size, value, square = math.log(1e3), float(Fraction(epsilon)), 4 if relation == "replace-one" else 1
    best = min(
        square * order * (order + 1) * value**2 / (2 * (order * value - size) * size)
        for order in range(1, 1000)
        if order * value > size
    )
    assert found == pytest.approx(best, rel=1e-12)
    if relation == "replace-one":  # whole orders cost a little more than the best real one, which is zCDP's
        real = theorem("wang-xu-2019/theorem-1/explicit").evaluate("noise_constant", epsilon=epsilon, delta="1e-3")
        assert real.value.upper < found < 1.3 * real.value.upper


def test_bad_parameters_are_refused_by_name():
    refused("epsilon must be .*, not 0", ZhangEtAl2017.quoted, 0)
    refused("delta must be .*, not 1", ZhangEtAl2017.quoted, 1, 1)
    refused("steps must be .*, not 0", ZhangEtAl2017.quoted, 1, "1e-3", 0)
    refused("reading must be .*, not 'both'", ZhangEtAl2017.quoted, 1, reading="both")
    refused("constant must be .*, not 0", WangYeXu2017.quoted, 1, constant=0)
    refused("step_size", WangYeXu2017.quoted, 1, step_size=math.nan)
