"""The private regressor beside plain noisy gradient descent and ridge regression: R² on held-out records.

python -m benchmarks.regressors run --seeds 20        resumable
python -m benchmarks.regressors page                  write its table in docs/classifiers.md
python -m benchmarks.regressors tune                  choose steps and step size of plain descent
"""

from __future__ import annotations

import itertools
import json
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import click
import numpy as np
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score
from sklearn.model_selection import train_test_split

from benchmarks.classifiers import DELTA, EPSILONS, PAGE, SEEDS, Array, interval, key

STORE = Path(__file__).parent / "regressors.json"
BEGIN, END = "<!-- table of regressors -->", "<!-- end of the table of regressors -->"
OURS = "dpbounds"


@dataclass(frozen=True, eq=False)
class Data:
    """Records, numbers to predict, and the ranges of features and of the number, taken to be public."""

    features: Array
    targets: Array
    ranges: Array
    target_range: tuple[float, float]


def _in_ranges(features: Array, targets: Array, low: float, high: float, target_range: tuple[float, float]) -> Data:
    ranges = np.tile([low, high], (features.shape[1], 1))
    return Data(np.clip(features, low, high), np.clip(targets, *target_range), ranges, target_range)


def _diabetes() -> Data:
    features, progression = load_diabetes(return_X_y=True, scaled=False)
    ranges = np.array(
        [[15, 85], [1, 2], [15, 45], [60, 140], [90, 310], [40, 250], [20, 100], [2, 10], [3, 7], [50, 130]]
    )
    return Data(np.clip(features, *ranges.T), progression, ranges.astype(float), (0.0, 350.0))


def _friedman(records: int) -> Data:
    """Ten uniform features, of which five count, not all linearly."""
    features, targets = make_friedman1(records, noise=1.0, random_state=1)
    return _in_ranges(features, targets, 0.0, 1.0, (0.0, 30.0))


def _linear(records: int, dimension: int, seed: int, noise: float) -> Data:
    rng = np.random.default_rng(seed)
    features, weights = np.clip(rng.standard_normal((records, dimension)), -4, 4), rng.standard_normal(dimension)
    targets = features @ weights / np.linalg.norm(weights) + noise * rng.standard_t(4, records)
    return _in_ranges(features, targets, -4.0, 4.0, (-4.0, 4.0))


DATA: dict[str, Callable[[], Data]] = {
    "diabetes": _diabetes,
    "friedman 5000 x 10": lambda: _friedman(5000),
    "linear 3000 x 20": lambda: _linear(3000, 20, 2, 0.5),
}
data_of = cache(lambda name: DATA[name]())


def _units(data: Data, features: Array) -> Array:
    """Features in [-1, 1] and an intercept, clipped to norm 1 in units of half of the largest norm they may have."""
    low, high = data.ranges.T
    inside = np.column_stack([np.clip((2 * features - low - high) / (high - low), -1, 1), np.ones(len(features))])
    rows = inside / (0.5 * math.sqrt(inside.shape[1]))
    return rows / np.maximum(1, np.linalg.norm(rows, axis=1, keepdims=True))


def _scaled(data: Data, targets: Array) -> Array:
    low, high = data.target_range
    return (2 * targets - low - high) / (high - low)


def ours(data: Data, train: Array, targets: Array, test: Array, epsilon: float, seed: int) -> Array:
    """``PrivateLinearRegressor``."""
    from dpbounds.algorithms import PrivateLinearRegressor

    model = PrivateLinearRegressor(
        epsilon=epsilon,
        delta=DELTA,
        feature_ranges=data.ranges,
        target_range=data.target_range,
        random_state=10_000 + seed,
    )
    return np.asarray(model.fit(train, targets).predict(test))


def plain(
    data: Data,
    train: Array,
    targets: Array,
    test: Array,
    epsilon: float,
    seed: int,
    steps: int = 30,
    step: float = 1.0,
) -> Array:
    """Noisy gradient descent on the squared loss, residuals cut to [-1, 1] (targets are in [-1, 1]), last iterate.

    A record's gradient has norm 1 at most; the noise is the certified one of the budget. Steps and their size are the
    best by ``tune``.
    """
    from dpbounds.algorithms.ledger import PrivacyBudget
    from dpbounds.algorithms.planning import multiplier_of_one

    rng, rows, wanted = np.random.default_rng(seed), _units(data, train), _scaled(data, targets)
    stddev = float(multiplier_of_one(PrivacyBudget.of(epsilon, DELTA))) * math.sqrt(steps) / len(rows)
    w = np.zeros(rows.shape[1])
    for _ in range(steps):
        residuals = np.clip(rows @ w - wanted, -1, 1)
        w -= step * (rows.T @ residuals / len(rows) + stddev * rng.standard_normal(len(w)))
    low, high = data.target_range
    found: Array = (_units(data, test) @ w * (high - low) + low + high) / 2
    return found


def not_private(data: Data, train: Array, targets: Array, test: Array, epsilon: float, seed: int) -> Array:
    """Ridge regression of scikit-learn."""
    low, high = data.ranges.T
    found: Array = Ridge(alpha=1.0).fit((train - low) / (high - low), targets).predict((test - low) / (high - low))
    return found


METHODS: dict[str, Callable[..., Array]] = {OURS: ours, "plain": plain, "not private": not_private}


def held_out(method: Callable[..., Array], data: Data, epsilon: float, seed: int) -> float:
    """R² on a quarter of the records, held out at random by the seed."""
    train, test, targets, truth = train_test_split(data.features, data.targets, test_size=0.25, random_state=seed)
    return float(r2_score(truth, method(data, train, targets, test, epsilon, seed)))


def stored() -> dict[str, dict[str, list[float]]]:
    """R² by method, then by dataset and ε, one per seed from 0 on."""
    return json.loads(STORE.read_text(encoding="utf-8")) if STORE.exists() else {}


def _store(kept: dict[str, dict[str, list[float]]]) -> None:
    """A line for each cell."""
    methods = []
    for method, cells in kept.items():
        lines = ",\n".join(f"{json.dumps(cell)}: {json.dumps(values)}" for cell, values in cells.items())
        methods.append(f"{json.dumps(method)}: {{\n{lines}\n}}")
    STORE.write_text("{\n" + ",\n".join(methods) + "\n}\n", encoding="utf-8")


def behind(kept: dict[str, dict[str, list[float]]], cell: str) -> float:
    """By how much plain descent is ahead at least: the lower end of a 95 % interval of the mean difference."""
    mean, half = interval(np.array(kept["plain"][cell]) - np.array(kept[OURS][cell]))
    return mean - half


def table() -> str:
    """The rows of the page, in Markdown."""
    kept = stored()
    lines = [
        f"| data | n, p | ε | {' | '.join(METHODS)} | seeds |",
        f"| --- | --- | --- | {'--- | ' * len(METHODS)}--- |",
    ]
    for name in DATA:
        size = "{}, {}".format(*data_of(name).features.shape)
        for epsilon in EPSILONS:
            cell, shown = key(name, epsilon), []
            for method in METHODS:
                values = kept.get(method, {}).get(cell)
                mean, half = interval(np.array(values)) if values else (math.nan, math.nan)
                shown.append(f"{mean:.2f} ± {half:.2f}" if values else "-")
            lines.append(f"| {name} | {size} | {epsilon:g} | {' | '.join(shown)} | {len(kept[OURS][cell])} |")
    return "\n".join(lines)


def with_table(text: str) -> str:
    """The page with its table as it should be."""
    head, _, rest = text.partition(BEGIN)
    return f"{head}{BEGIN}\n\n{table()}\n\n{END}{rest.partition(END)[2]}"


@click.group()
def program() -> None:
    """Run the comparison, or write its table."""


@program.command()
@click.option("--seeds", default=SEEDS)
def run(seeds: int) -> None:
    """Add the seeds that are missing to what is stored."""
    for method in METHODS:
        for name in DATA:
            for epsilon in EPSILONS if method != "not private" else EPSILONS[:1]:
                kept = stored()
                values = kept.setdefault(method, {}).setdefault(key(name, epsilon), [])
                values += [
                    round(held_out(METHODS[method], data_of(name), epsilon, seed), 5)
                    for seed in range(len(values), seeds)
                ]
                _store(kept)
                sys.stderr.write(f"{method}, {key(name, epsilon)}: {np.mean(values):.3f}\n")


@program.command()
def page() -> None:
    """Write the table into its place on the page."""
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


@program.command()
def tune() -> None:
    """Mean R² of plain descent on linear sets made for it, by steps and step size."""
    sets = [_linear(n, p, 11, noise) for n, p, noise in ((600, 5, 0.3), (2000, 30, 1.0), (8000, 12, 0.7))]
    for steps, step in itertools.product((30, 100, 300), (0.1, 0.3, 1.0, 3.0)):
        method = partial(plain, steps=steps, step=step)
        found = [held_out(method, each, epsilon, seed) for each in sets for epsilon in EPSILONS for seed in range(3)]
        means = np.array(found).reshape(len(sets), -1).mean(axis=1)
        click.echo(f"{steps} steps of {step:g}: {means.mean():.4f} ({', '.join(f'{mean:.3f}' for mean in means)})")


if __name__ == "__main__":
    program()
