"""Figure 1: the loss as printed."""

from sympy import diff

from dpbounds.theorems.registry import theorem


def test_the_printed_loss_rewards_mistakes():
    statement = theorem("wang-xu-2019/figure-1")
    formula = statement.part("loss").expression
    (margin,) = formula.free_symbols
    slope = diff(formula, margin)
    assert all(slope.subs(margin, value) > 0 for value in (-3, 0, 3))  # larger margins cost more
    mirrored = diff(formula.subs(margin, -margin), margin)
    assert all(mirrored.subs(margin, value) < 0 for value in (-3, 0, 3))
    assert (slope.subs(margin, -margin) + mirrored).simplify() == 0  # the same gradient norms
