"""Lemma E.3: the losses that it calls bounded are not."""


def test_losses_themselves_are_not_bounded():
    # f(w, x) = G|w - x| on W = [0, 1] (D = 1 from w̃ = 0) at x = 50: values near 50 G; differences within [-GD, GD]
    lipschitz, diameter, record = 2.0, 1.0, 50.0
    values = [lipschitz * abs(w / 10 - record) for w in range(11)]
    assert min(values) > lipschitz * diameter
    assert all(abs(value - values[0]) <= lipschitz * diameter + 1e-12 for value in values)
