"""Lemma E.1, a second time from the text."""

from mpmath import cbrt, ln, mpf, root, sqrt


def first(lipschitz, smoothness, initial_gap, dataset_size, dimension, delta, epsilon):
    level = sqrt(dimension * ln(1 / delta)) / (epsilon * dataset_size)
    private = root(lipschitz * (smoothness * initial_gap * level) ** 3, 7)
    return cbrt(lipschitz * smoothness * initial_gap) / cbrt(dataset_size) + private


def second(lipschitz, smoothness, initial_gap, dataset_size, dimension, delta, epsilon, hessian_lipschitz):
    s = first(lipschitz, smoothness, initial_gap, dataset_size, dimension, delta, epsilon)
    h = 1 / (dataset_size * epsilon) + 1 / sqrt(dataset_size)
    return s + h * (smoothness * sqrt(s / hessian_lipschitz) + lipschitz)


TWINS = {"rate": second, "first_order": first}


def test_the_middle_term_never_dominates_at_constants_of_order_one():
    # L/√ρ_H h √s <= (L²h²/ρ_H + s)/2: at most the others where L²h <= G ρ_H
    for n in (100, 10**6):
        for epsilon in (mpf("0.1"), mpf(2)):
            values = {"lipschitz": 1, "smoothness": 1, "initial_gap": 1, "dataset_size": n, "dimension": 5}
            values |= {"delta": mpf("0.01"), "epsilon": epsilon}
            s = first(**values)
            h = 1 / (n * epsilon) + 1 / sqrt(mpf(n))
            assert h <= 1
            assert h * sqrt(s) <= (s + h) / 2
