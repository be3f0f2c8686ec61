"""Lemma 4.2: the size of the net, and the tail for a continuum."""

from mpmath import exp, mpf, quad, sqrt


def test_the_size_of_the_net():
    edge = 1 / (2 - sqrt(2))
    assert abs((1 + sqrt(2) * edge) - 2 * edge) < mpf(10) ** -14
    for ratio in (1.71, 5, 1000):
        assert 1 + sqrt(2) * ratio <= 2 * ratio
    assert 1 + sqrt(2) * mpf("1.70") > 2 * mpf("1.70")


def test_the_tail_bound_for_a_continuum():
    """For the mechanism on all of [0, 1] and the risk w the tail is known: exp(-λg) up to normalisation."""
    scale = mpf(50)
    total = quad(lambda w: exp(-scale * w), [0, 1])
    for gap in (0.05, 0.2):
        tail = quad(lambda w: exp(-scale * w), [gap, 1]) / total
        assert tail <= exp(-scale * gap)
