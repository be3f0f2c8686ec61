"""Ball noise at a fixed δ: its factor is never below 1 for single records, and is for batches."""

import numpy as np
import pytest
from mpmath import workdps

from dpbounds.theorems.registry import theorem
from dpbounds.theorems.spending import spending
from tests.papers.reference_formulas import evaluated

STATEMENT = theorem("dpbounds/ball-noise-at-fixed-delta")
evaluate = evaluated("dpbounds/ball-noise-at-fixed-delta")
RADII = ["0.001", "0.5", "1", "1.0001", "1.3", "2", "5", "40", "3000"]


@pytest.mark.parametrize("dimension", [1, 2, 5, 100, 3000])
def test_with_single_records_noise_never_lowers_the_bound(dimension):
    least = evaluate("least-single-factor", d=dimension).value.upper
    assert least > 1.15
    for radius in RADII:
        found = evaluate("single-factor", d=dimension, r_u=radius, G=1).value.lower
        assert found > 1
        if float(radius) > 1:
            assert found >= least * (1 - 1e-12)


@pytest.mark.parametrize(
    ("dimension", "batch", "least"), [(1, 2, 0.816), (1, 10, 0.365), (5, 10, 0.95), (5, 100, 0.315), (50, 1000, 0.349)]
)
def test_with_batches_it_does(dimension, batch, least):
    grid = [str(round(float(r), 6)) for r in np.geomspace(0.5 / batch, 2, 120)]
    values = {"dimension": dimension, "batch_size": batch, "lipschitz": 1}
    found = [evaluate("batch-factor", r_u=radius, **values).value.lower for radius in grid]
    assert min(found) == pytest.approx(least, rel=0.01)


@pytest.mark.parametrize(("dimension", "batch"), [(1, 3), (1, 40), (7, 18), (30, 5000)])
def test_the_elementary_bound_at_its_radius(dimension, batch):
    with workdps(30):
        values = {"dimension": dimension, "batch_size": batch, "lipschitz": 1}
        radius = evaluate("radius", **values, digits=25).value.exact_lower
        exact = evaluate("batch-factor", r_u=radius, **values).value.lower
        bound = evaluate("elementary", d=dimension, b=batch).value.upper
        assert exact <= bound < 1
        assert exact > 0.5 * bound


@pytest.mark.parametrize(("batch", "radius"), [(1, "1.4"), (10, "0.4")])
def test_the_steps_are_private(batch, radius):
    values = {"lipschitz": 1, "radius": radius, "dimension": 3, "dataset_size": 2000, "batch_size": batch}
    steps = int(evaluate("steps", delta="0.05", **values).value.lower)
    found = spending(STATEMENT, {**values, "steps": steps, "delta": "0.05"})
    assert found.kept is True
    assert found.spent.upper > 0.04
    assert spending(STATEMENT, {**values, "steps": 2 * steps, "delta": "0.05"}).kept is False


def test_runs_with_batches_stay_below():
    # f(w; z) = cos(w₁ + φ_z) in R²: G = L = 1; N = 40 records, b = 8, as many steps as δ = 0.9 allows
    records, batch, radius, dimension = 40, 8, 0.4, 2
    values = {"lipschitz": 1, "radius": "0.4", "dimension": dimension, "dataset_size": records, "batch_size": batch}
    values.update(delta="0.9", smoothness=1, initial_gap="0.2")
    steps = int(evaluate("steps", **values).value.lower)
    evaluation = evaluate(**values)
    assert evaluation.applies is True
    draw = np.random.default_rng(2)
    phases = np.linspace(-0.5, 0.5, records)
    start = np.pi - (2 * 0.2) ** 0.5
    gap = np.cos(start + phases).mean() - np.cos(np.pi + phases).mean()
    assert 0.15 < gap <= 0.2
    variance = 1 / batch + radius**2 * dimension / (dimension + 2)
    step = (2 * 0.2 / (steps * variance)) ** 0.5
    assert step <= 1
    point, total, runs = np.full((2000, dimension), start), 0.0, 2000
    for _ in range(steps):
        mean = -np.sin(point[:, :1] + phases)
        total += float((mean.mean(axis=1) ** 2).mean())
        chosen = np.argsort(draw.random((runs, records)), axis=1)[:, :batch]
        noise = draw.standard_normal((runs, dimension))
        noise *= radius * (draw.uniform(size=runs) ** (1 / dimension) / np.linalg.norm(noise, axis=1))[:, None]
        noise[:, 0] += np.take_along_axis(mean, chosen, axis=1).mean(axis=1)
        point = point - step * noise
    assert 0.05 * evaluation.value.lower < (total / steps) ** 0.5 < evaluation.value.lower
