"""Theorem 2, a second time from the text; the exponents of its discretisation term."""

from mpmath import exp, ln, mpf, root, sqrt

from dpbounds.theorems.registry import theorem


def mixing(growth_rate, inverse_temperature, dataset_size, epsilon, delta):
    large = exp(growth_rate * inverse_temperature)
    return large * exp(-(dataset_size**2) * epsilon**2 / inverse_temperature / ln(1 / delta) / large)


def discretisation(dataset_size, epsilon, inverse_temperature, steps, delta):
    # β^(1/2) η^(1/4) t at t = n²ε²/(β ln(1/δ)), η = t/T
    time = dataset_size**2 * epsilon**2 / (inverse_temperature * ln(1 / delta))
    return sqrt(inverse_temperature) * root(time / steps, 4) * time


def empirical(growth_rate, inverse_temperature, dataset_size, epsilon, delta, steps, dimension):
    return (
        mixing(growth_rate, inverse_temperature, dataset_size, epsilon, delta)
        + discretisation(dataset_size, epsilon, inverse_temperature, steps, delta)
        + dimension / inverse_temperature * ln(inverse_temperature)
    )


def population(growth_rate, inverse_temperature, dataset_size, epsilon, delta, steps, dimension):
    third = exp(growth_rate * inverse_temperature) / dataset_size
    return third + empirical(growth_rate, inverse_temperature, dataset_size, epsilon, delta, steps, dimension)


TWINS = {
    "rate": population,
    "empirical": empirical,
    "many_steps": lambda growth_rate, inverse_temperature, delta, dataset_size, epsilon, dimension: (
        exp(growth_rate * inverse_temperature) * (ln(1 / delta) / (dataset_size * epsilon) ** 2 + 1 / dataset_size)
        + dimension * ln(inverse_temperature) / inverse_temperature
    ),
    "steps": lambda smoothness, regularisation, dataset_size, epsilon, inverse_temperature, delta, lipschitz: (
        (smoothness + regularisation) ** 2
        * dataset_size**2
        * epsilon**2
        / (regularisation * inverse_temperature * ln(1 / delta) * lipschitz**2)
    ),
}


def test_the_limit_bounds_the_mixing_term():
    # e^a exp(-x e^-a) <= e^(2a)/x: the limit for many steps, with twice the κ
    for beta, records in ((3, 50), (10, 10**4), (30, 10**9)):
        first = mixing(mpf(1) / 2, beta, records, mpf(1) / 3, mpf(10) ** -5)
        second = exp(mpf(beta)) * beta * ln(mpf(10) ** 5) / (records / mpf(3)) ** 2
        assert first <= second


def test_its_conditions():
    values = {"growth_rate": "0.1", "inverse_temperature": 30, "n": 1000, "epsilon": 1, "delta": "1e-5", "d": 20}
    found = theorem("wang-chen-xu-2019/theorem-2").evaluate(
        "empirical", steps=10**6, regularisation="0.2", smoothness=1, lipschitz=1, **values
    )
    assert found.applies is True
    colder = theorem("wang-chen-xu-2019/theorem-2").evaluate(
        "empirical", steps=10**6, regularisation="0.1", smoothness=1, lipschitz=1, **values
    )
    assert colder.applies is False
