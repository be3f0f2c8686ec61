"""Restarted DP-SPIDER: a record that is left out may move the gradient by any amount."""


def test_a_left_out_record_may_move_the_gradient_by_any_amount():
    """Records f = |w|²/2 ± w, which lie within 1 of the field w: replaced, they move the mean by 2/n everywhere."""
    far, n = 1e6, 10
    gradients = [far + sign for sign in (1, -1) * (n // 2)]
    mean = sum(gradients) / n
    replaced = (sum(gradients[1:]) + far - 1) / n
    removed = sum(gradients[1:]) / n
    assert abs(mean - replaced) <= 2 / n * (1 + 1e-6)
    assert abs(mean - removed) > 1000
