"""Equation (3), a second time: squared sensitivity over twice the variance."""

TWINS = {
    "fresh-cost": lambda lipschitz, first_batch, noise_stddev: (
        (2 * lipschitz / first_batch) ** 2 / (2 * noise_stddev**2)
    ),
    "difference-cost": lambda smoothness, second_batch, difference_noise_stddev: (
        (2 * smoothness / second_batch) ** 2 / (2 * difference_noise_stddev**2)
    ),
}
