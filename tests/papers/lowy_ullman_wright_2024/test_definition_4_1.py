"""Definition 4.1: what it spends on datasets that come close to the worst."""

from math import exp, log

from tests.papers.reference_formulas import evaluated

evaluate = evaluated("lowy-ullman-wright-2024/definition-4.1")


def largest_loss(scale, n=1000, points=401):
    """On [0, 1]: n - 1 records w, and one that is w or -w: most of the mass is at 0, the loss largest at 1."""
    net = [j / (points - 1) for j in range(points)]
    first, second = ([exp(-scale * w * (n - 1 + sign) / n) for w in net] for sign in (1, -1))
    return max(abs(log(p / sum(first) * sum(second) / q)) for p, q in zip(first, second, strict=True))


def test_half_of_the_budget_is_spent():
    scale = float(evaluate("inverse_temperature", epsilon=1, n=1000, G=1, D=1).value.lower)
    assert 0.49 < largest_loss(scale) < 0.5
