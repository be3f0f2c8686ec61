"""Theorem 4, a second time from the text."""

TWINS = {
    "rate": lambda dimension, dataset_size, epsilon: dimension / dataset_size / epsilon,
    "cost": lambda lipschitz, dataset_size, epsilon, regularisation, dimension: (
        dataset_size * (1 + 2 * lipschitz * dataset_size * epsilon / regularisation / dimension) ** int(dimension)
    ),
    "cost_of_a_net": lambda lipschitz, regularisation, net_radius, dimension, dataset_size: (
        dataset_size * (1 + 2 * lipschitz / regularisation / net_radius) ** int(dimension)
    ),
}
