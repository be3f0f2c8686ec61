"""The exponential mechanism on a net, sharper: exact Gibbs means and losses on an interval and a
square.
"""

from itertools import product
from math import cos, exp, log, sin

import pytest

from dpbounds.privacy.mechanisms import ExponentialMechanism
from dpbounds.privacy.renyi.concentrated_accounts import zcdp_rho
from tests.papers.reference_formulas import evaluated

evaluate = evaluated("lowy-ullman-wright-2024/lemma-4.2/explicit")


def gibbs(values, scale):
    low = min(values)
    weights = [exp(-scale * (value - low)) for value in values]
    total = sum(weights)
    return [weight / total for weight in weights]


def value(part, **values):
    return float(evaluate(part, **values).value.lower)


@pytest.mark.parametrize(("size", "points"), [(40, 20), (400, 200)])
def test_the_mean_and_the_tail_on_an_interval(size, points):
    risk = [0.5 * abs(sin(5 * (j + 0.5) / points)) / 2.5 for j in range(points)]  # 1-Lipschitz, minimum 0 at 0
    given = {"G": 1, "D": 1, "epsilon": 1, "n": size, "r_n": f"{0.5 / points}"}
    law = gibbs(risk, value("inverse_temperature", epsilon=1, n=size, lipschitz=1, diameter=1))
    mean = sum(p * r for p, r in zip(law, risk, strict=True))
    assert 0.05 * value("bound", candidates=points, **given) < mean < value("bound", candidates=points, **given)
    for failure in (0.5, 0.01):
        promised = value("tail", candidates=points, failure_probability=str(failure), **given)
        assert sum(p for p, r in zip(law, risk, strict=True) if r > promised) <= failure


def test_the_mean_on_a_square():
    size, side = 200, 60
    grid = [((i + 0.5) / side, (j + 0.5) / side) for i, j in product(range(side), repeat=2)]
    risk = [(cos(3 * x) - cos(2 * y)) / 3.7 for x, y in grid]  # gradient at most √(9 + 4)/3.7 < 1
    diameter = 2**0.5
    law = gibbs(risk, value("inverse_temperature", epsilon=1, n=size, lipschitz=1, diameter=str(diameter)))
    mean = sum(p * r for p, r in zip(law, risk, strict=True)) - (cos(3) - 1) / 3.7
    given = {"G": 1, "D": str(diameter), "epsilon": 1, "n": size}
    assert mean < value("bound", candidates=side**2, net_radius=str(diameter / side / 2), **given)
    # the grid is finer than the tuned radius Dd/(εn), which only makes the net larger; the tuned bound still holds
    assert mean < value("tuned", d=2, **given)


def test_the_loss_spans_what_is_promised():
    """Records that push the mass to 0, and one that is w or -w: the loss at 1 comes close to ε."""
    size, points = 1000, 501
    scale = value("inverse_temperature", epsilon=1, n=size, lipschitz=1, diameter=1)
    laws = [gibbs([(size - 1 + sign) / size * j / (points - 1) for j in range(points)], scale) for sign in (1, -1)]
    losses = [log(p / q) for p, q in zip(*laws, strict=True)]
    assert 0.98 < max(map(abs, losses)) < 1
    assert max(losses) - min(losses) == pytest.approx(1)


def test_its_zcdp():
    mechanism = ExponentialMechanism("0.6", relation="replace-one")
    assert float(zcdp_rho(mechanism, "replace-one")) == pytest.approx(0.6**2 / 8)
