"""Theorem 4.6 with constants, first order: a second time, its tuning, its budget, and a run."""

import math

import numpy as np
import pytest
from mpmath import log, root, sqrt

from dpbounds.theorems.registry import theorem
from dpbounds.theorems.spending import spending


def twin_bound(
    smoothness,
    loss_range,
    steps,
    lipschitz,
    first_batch,
    drift_threshold,
    second_batch,
    fresh_estimates,
    failure_probability,
    noise_stddev,
    difference_noise_stddev,
    dimension,
):
    tail = log(4 * fresh_estimates / failure_probability)
    sampling = sqrt(8 * tail * (lipschitz**2 / first_batch + drift_threshold * smoothness**2 / second_batch))
    noise = sqrt(noise_stddev**2 + drift_threshold * difference_noise_stddev**2) * (sqrt(dimension) + sqrt(2 * tail))
    return sqrt(2 * smoothness * loss_range / steps + (sampling + noise) ** 2)


def twin_error(
    lipschitz,
    first_batch,
    drift_threshold,
    smoothness,
    second_batch,
    fresh_estimates,
    failure_probability,
    noise_stddev,
    difference_noise_stddev,
    dimension,
):
    tail = sqrt(2 * log(4 * fresh_estimates / failure_probability))
    sampling = 2 * tail * sqrt(lipschitz**2 / first_batch + drift_threshold * smoothness**2 / second_batch)
    return sampling + sqrt(noise_stddev**2 + drift_threshold * difference_noise_stddev**2) * (sqrt(dimension) + tail)


def scales(dataset_size, failure_probability, dimension, rho):
    square = 8 * log(2 * dataset_size / failure_probability)
    return square, (sqrt(dimension) + sqrt(square) / 2) / (dataset_size * sqrt(rho))


def twin_level(lipschitz, loss_range, smoothness, dataset_size, failure_probability, dimension, rho):
    square, x = scales(dataset_size, failure_probability, dimension, rho)
    whole = loss_range * smoothness
    return max(
        root(514 * square * lipschitz * whole / dataset_size, 3),
        root(2250000 * lipschitz * whole**3 * x**3, 7),
        root(6350000 * square * lipschitz**2 * whole**3 * x**2 / dataset_size, 8),
        root(94000 * square * lipschitz * whole**2 * x / dataset_size, 5),
    )


def twin_tuned(lipschitz, loss_range, smoothness, dataset_size, failure_probability, dimension, rho):
    values = (lipschitz, loss_range, smoothness, dataset_size, failure_probability, dimension, rho)
    return sqrt(2) * twin_level(*values)


def twin_threshold(lipschitz, loss_range, smoothness, dataset_size, failure_probability, dimension, rho, accuracy):
    square, x = scales(dataset_size, failure_probability, dimension, rho)
    first = 1376 * square * (lipschitz / accuracy) ** 2 / dataset_size
    return max(first, 487 * lipschitz * x / accuracy) * loss_range / smoothness


TWINS = {
    "bound": twin_bound,
    "error": twin_error,
    "tuned": twin_tuned,
    "accuracy": twin_level,
    "steps": lambda smoothness, loss_range, accuracy: 2 * smoothness * loss_range / accuracy / accuracy,
    "drift_threshold": twin_threshold,
    "fresh_estimates": lambda loss_range, smoothness, steps, accuracy, drift_threshold: (
        1 + (12 * loss_range * smoothness + 9 * steps * accuracy**2) / (2 * smoothness**2 * drift_threshold)
    ),
    "first_batch": lambda dataset_size, fresh_estimates: dataset_size / fresh_estimates / 2,
    "second_batch": lambda dataset_size, steps: dataset_size / steps / 2,
    "noise_stddev": lambda lipschitz, first_batch, rho: sqrt(2) * lipschitz / (first_batch * sqrt(rho)),
    "difference_noise_stddev": lambda smoothness, second_batch, rho: sqrt(2) * smoothness / (second_batch * sqrt(rho)),
}

STATEMENT = theorem("ganesh-liu-oh-thakurta-2023/theorem-4.6/explicit")


def value(part, **values):
    return STATEMENT.evaluate(part, **values).value.upper


def tune(problem):
    """Parameters as the record says."""
    common = {name: problem[name] for name in ("smoothness", "loss_range")}
    level = value("accuracy", **problem)
    steps = math.ceil(value("steps", accuracy=level, **common))
    kappa = value("drift_threshold", accuracy=level, **problem)
    cap = math.ceil(value("fresh_estimates", accuracy=level, steps=steps, drift_threshold=kappa, **common))
    first = math.floor(value("first_batch", n=problem["n"], fresh_estimates=cap))
    second = math.floor(value("second_batch", n=problem["n"], steps=steps))
    return {
        "steps": steps,
        "drift_threshold": kappa,
        "fresh_estimates": cap,
        "first_batch": first,
        "second_batch": second,
        "noise_stddev": value("noise_stddev", lipschitz=problem["lipschitz"], first_batch=first, rho=problem["rho"]),
        "difference_noise_stddev": value(
            "difference_noise_stddev", smoothness=problem["smoothness"], second_batch=second, rho=problem["rho"]
        ),
    }


@pytest.mark.rotating(4)
@pytest.mark.parametrize(("n", "dimension"), [(10**9, 10), (10**9, 10**6), (10**13, 10**12), (10**15, 1)])
def test_the_tuned_bound_is_kept_at_its_parameters(n, dimension):
    problem = {
        "n": n,
        "d": dimension,
        "rho": "0.5",
        "lipschitz": 1,
        "smoothness": 1,
        "loss_range": 1,
        "failure_probability": "0.05",
    }
    tuned = STATEMENT.evaluate("tuned", **problem)
    assert tuned.applies is True
    reached = STATEMENT.evaluate(
        "bound",
        n=n,
        d=dimension,
        lipschitz=1,
        smoothness=1,
        loss_range=1,
        failure_probability="0.05",
        **tune(problem),
    )
    assert reached.applies is True
    assert 0.3 * tuned.value.lower < reached.value.upper <= tuned.value.upper


def test_the_budget_is_kept():
    found = spending(STATEMENT, {"rho": "0.3"})
    assert found.kept is True
    assert found.spent.upper == pytest.approx(0.3)


def test_sampled_errors_stay_below():
    # one segment after the other, with record-wise gradients ±1 on the line (the largest variance), fixed short steps
    generator = np.random.default_rng(12)
    chosen = {
        "fresh_estimates": 4,
        "first_batch": 50,
        "second_batch": 20,
        "drift_threshold": "0.1",
        "noise_stddev": "0.02",
        "difference_noise_stddev": "0.1",
    }
    level = value("error", d=1, lipschitz=1, smoothness=1, failure_probability="0.1", **chosen)
    missed = []
    for _ in range(300):
        worst = 0.0
        for _ in range(4):
            error = generator.choice((-1.0, 1.0), size=50).mean() + 0.02 * generator.normal()
            worst = max(worst, abs(error))
            for _ in range(9):  # squared steps: 9/100 < κ
                error += 0.1 * generator.choice((-1.0, 1.0), size=20).mean() + 0.1 * 0.1 * generator.normal()
                worst = max(worst, abs(error))
        missed.append(worst)
    assert np.mean(np.array(missed) > level) <= 0.1
    assert max(missed) > 0.2 * level
