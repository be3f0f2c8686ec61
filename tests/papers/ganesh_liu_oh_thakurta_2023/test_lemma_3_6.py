"""Lemma 3.6, a second time from the text."""

from mpmath import log, sqrt


def gradient_accuracy(second_oracle_noise, drift_threshold, first_oracle_noise, steps, dimension, failure_probability):
    return sqrt(
        (4 * first_oracle_noise**2 + drift_threshold * second_oracle_noise**2)
        * (log(steps) + log(dimension) - log(failure_probability))
    )


TWINS = {
    "rate": lambda second_oracle_noise, drift_threshold, first_oracle_noise: sqrt(
        4 * first_oracle_noise**2 + drift_threshold * second_oracle_noise**2
    ),
    "gradient_accuracy": gradient_accuracy,
    "with-logs": lambda gradient_accuracy, loss_range, smoothness, dimension, hessian_lipschitz, failure_probability: (
        gradient_accuracy
        * log(loss_range * smoothness * dimension / (hessian_lipschitz * failure_probability * gradient_accuracy)) ** 3
    ),
}
