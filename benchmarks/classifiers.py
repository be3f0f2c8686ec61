"""Private classifiers side by side: the same splits, public ranges and budget, replace-one, on data that packages ship.

    python -m benchmarks.classifiers run --seeds 20        resumable; methods and datasets can be named
    python -m benchmarks.classifiers page                  write docs/classifiers.md from what was run
    python -m benchmarks.classifiers tune                  choose steps and step size of plain descent

Each method keeps a file of its own in ``benchmarks/classifiers``, so that one that needs another environment
(diffprivlib wants an older scikit-learn) can be run there. Nothing is imported before it is needed.
"""

from __future__ import annotations

import itertools
import json
import math
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from scipy.stats import t as student
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    load_sample_images,
    make_classification,
)
from sklearn.model_selection import train_test_split

Array = NDArray[Any]
STORE = Path(__file__).parent / "classifiers"
PAGE = Path(__file__).parents[1] / "docs" / "classifiers.md"
BEGIN, END = "<!-- table of classifiers -->", "<!-- end of the table -->"
EPSILONS, DELTA, SEEDS, BEHIND = (0.5, 1.0, 4.0), 1e-5, 20, 0.02
OURS = "dpbounds"

# --- data


@dataclass(frozen=True, eq=False)
class Data:
    """Records, labels 0, ..., K-1, and the range of each feature, taken to be public."""

    features: Array
    labels: Array
    ranges: Array

    @property
    def classes(self) -> int:
        return int(self.labels.max()) + 1


def _all_in(features: Array, labels: Array, low: float, high: float) -> Data:
    clipped = np.clip(features, low, high)
    return Data(clipped, labels.astype(int), np.tile([low, high], (features.shape[1], 1)))


def _round(features: Array, labels: Array) -> Data:
    """Ranges as one would know them: from 0, or around it, to a round figure (one digit) above what occurs."""
    largest = np.abs(features).max(axis=0)
    digit = 10.0 ** np.floor(np.log10(largest))
    high = np.ceil(largest / digit) * digit
    low = np.where(features.min(axis=0) < 0, -high, 0.0)
    return Data(features, labels.astype(int), np.column_stack([low, high]))


def _adult_like() -> Data:
    """Six numbers and five categories one-hot, a quarter of the labels 1, as in census data."""
    rng, n = np.random.default_rng(0), 30_000
    numbers = np.clip(rng.standard_normal((n, 6)) / 3, -1, 1)
    categories = [np.eye(k)[rng.choice(k, n, p=rng.dirichlet(np.ones(k) * 2))] for k in (8, 16, 7, 14, 6)]
    features = np.hstack([numbers, *categories])
    scores = features @ (rng.standard_normal(features.shape[1]) * 3) / 4
    scores -= np.quantile(scores, 0.76)
    labels = rng.random(n) < 1 / (1 + np.exp(-3 * scores))
    ranges = np.array([[-1.0, 1.0]] * 6 + [[0.0, 1.0]] * (features.shape[1] - 6))
    return Data(features, labels.astype(int), ranges)


def _covertype() -> Data:
    from dpbounds.algorithms import problems

    data = problems.covertype()
    rows = np.asarray(data.features)
    return _all_in(rows[:, :-1] / rows[:, -1:], np.asarray(data.labels) > 0, -1.0, 1.0)


def _patches() -> Data:
    """Patches of 8 x 8 pixels, grey: from the photograph of a temple, or of a flower."""
    patches, labels = [], []
    for label, image in enumerate(load_sample_images().images):
        grey = image.mean(axis=2)
        rows, columns = grey.shape[0] // 8, grey.shape[1] // 8
        patches.append(grey[: rows * 8, : columns * 8].reshape(rows, 8, columns, 8).swapaxes(1, 2).reshape(-1, 64))
        labels.append(np.full(rows * columns, label))
    return _all_in(np.vstack(patches), np.concatenate(labels), 0.0, 255.0)


def _made(records: int, dimension: int, classes: int = 2) -> Data:
    features, labels = make_classification(
        records, dimension, n_informative=dimension // 2, n_classes=classes, random_state=1, flip_y=0.05
    )
    return _all_in(features, labels, -4.0, 4.0)


def _digits(odd: bool) -> Data:
    features, labels = load_digits(return_X_y=True)
    return _all_in(features, labels % 2 if odd else labels, 0.0, 16.0)


def _diabetes() -> Data:
    features, progression = load_diabetes(return_X_y=True, scaled=False)
    return _round(features, progression > 140)


DATA: dict[str, Callable[[], Data]] = {
    "breast cancer": lambda: _round(*load_breast_cancer(return_X_y=True)),
    "digits, odd": lambda: _digits(True),
    "digits": lambda: _digits(False),
    "covertype": _covertype,
    "adult-like": _adult_like,
    "made 2000 x 20": lambda: _made(2000, 20),
    "made 20000 x 20": lambda: _made(20_000, 20),
    "made 5000 x 100, 5 classes": lambda: _made(5000, 100, 5),
    "diabetes": _diabetes,
    "photographs": _patches,
}
data_of = cache(lambda name: DATA[name]())


# --- made data on which plain descent is tuned, none of them above


def tuning_sets() -> dict[str, Data]:
    """Clusters, log-normal factors, categories with numbers, smooth images, four clusters: from 600 to 6000 records."""
    rng = np.random.default_rng(7)

    def of_scores(features: Array, low: float, high: float) -> Data:
        scores = features @ rng.standard_normal(features.shape[1])
        return _all_in(
            features, scores + 0.3 * scores.std() * rng.logistic(size=len(scores)) > scores.mean(), low, high
        )

    def clusters(n: int, p: int, k: int) -> Data:
        labels = rng.integers(0, k, n)
        return _all_in(rng.standard_normal((k, p))[labels] + rng.standard_normal((n, p)), labels, -4.0, 4.0)

    categories = np.hstack([np.eye(k)[rng.integers(0, k, 6000)] for k in (5, 9, 3)])
    waves = np.outer(np.arange(8), np.arange(3)) * np.pi / 8
    patterns = np.cos(waves)[:, None, :, None] * np.cos(waves)[None, :, None, :]
    return {
        "clusters": clusters(600, 8, 2),
        "factors": of_scores(np.exp(rng.standard_normal((3000, 4)) @ rng.standard_normal((4, 20)) / 3), 0.0, 5.0),
        "categories": of_scores(np.hstack([categories, rng.uniform(0, 1, (6000, 4))]), 0.0, 1.0),
        "images": of_scores(rng.standard_normal((1500, 9)) @ patterns.reshape(64, 9).T, -8.0, 8.0),
        "four clusters": clusters(2000, 30, 4),
    }


# --- methods: records, labels, K, ranges, ε and a seed -> scores of other records


def _units(data: Data, features: Array) -> Array:
    """Features in [-1, 1], in units of the norm that dpbounds clips to, and an intercept of half of it."""
    low, high = data.ranges.T
    inside = np.clip((2 * features - low - high) / (high - low), -1, 1)
    return np.column_stack([inside / (0.35 * math.sqrt(inside.shape[1] + 1)), np.full(len(inside), 0.5)])


def _clipped(rows: Array) -> Array:
    clipped: Array = rows / np.maximum(1, np.linalg.norm(rows, axis=1, keepdims=True))
    return clipped


def ours(data: Data, train: Array, labels: Array, test: Array, epsilon: float, seed: int) -> Array:
    """``PrivateLinearClassifier``."""
    from dpbounds.algorithms import PrivateLinearClassifier

    model = PrivateLinearClassifier(
        epsilon=epsilon,
        delta=DELTA,
        classes=range(data.classes),
        feature_ranges=data.ranges,
        random_state=10_000 + seed,
    )
    predicted: Array = model.fit(train, labels).predict(test)
    return predicted


def plain(data: Data, train: Array, labels: Array, test: Array, epsilon: float, seed: int) -> Array:
    """Noisy gradient descent as one writes it down: 100 steps, all records, last iterate.

    Steps of size 2 are the best by ``tune``, whose sets are small; with them 100 steps lead nowhere in larger sets.
    """
    return noisy_descent(data, train, labels, test, epsilon, seed, step=2.0 if len(train) < 4000 else 16.0)


def noisy_descent(
    data: Data, train: Array, labels: Array, test: Array, epsilon: float, seed: int, steps: int = 100, step: float = 2.0
) -> Array:
    """So many steps of that size; one output for two classes; the noise is the certified one of the budget.

    Records have norm 1, their gradients 1 (√2 for K > 2 outputs).
    """
    from dpbounds.algorithms.ledger import PrivacyBudget
    from dpbounds.algorithms.planning import multiplier_of_one

    rng = np.random.default_rng(seed)
    rows, outputs = _clipped(_units(data, train)), data.classes
    wanted = np.eye(outputs)[labels]
    longest = math.sqrt(2)
    if outputs == 2:  # one output: the difference of two that are opposite
        longest = 1.0
    single = multiplier_of_one(PrivacyBudget.of(epsilon, DELTA))
    stddev = float(single) * math.sqrt(steps) * longest / len(rows)
    w = np.zeros((outputs, rows.shape[1]))
    for _ in range(steps):
        residual = softmax(rows @ w.T, axis=1) - wanted
        gradient = residual.T @ rows / len(rows)
        if outputs == 2:
            one = gradient[1] + stddev * rng.standard_normal(rows.shape[1])
            w += 0.5 * step * np.array([one, -one])
        else:
            w -= step * (gradient + stddev * rng.standard_normal(w.shape))
    return (_units(data, test) @ w.T).argmax(axis=1)


def opacus(data: Data, train: Array, labels: Array, test: Array, epsilon: float, seed: int) -> Array:
    """DP-SGD of Opacus: 400 steps on a quarter of the records, gradients clipped and steps as long as ours.

    Its noise is the certified one for replace-one, so that its budget is the same.
    """
    import torch
    from opacus import GradSampleModule
    from opacus.optimizers import DPOptimizer

    from dpbounds.algorithms.estimators.clipped_descent import MULTINOMIAL
    from dpbounds.algorithms.ledger import PrivacyBudget
    from dpbounds.algorithms.planning import multiplier_of_one, multiplier_within
    from dpbounds.privacy.mechanisms import Gaussian, PoissonSampled

    steps, rate = 400, 0.25
    torch.manual_seed(seed)
    budget = PrivacyBudget.of(epsilon, DELTA)
    noise = multiplier_within(budget, lambda z: PoissonSampled(Gaussian(z), rate) ** steps)
    rows = torch.tensor(_clipped(_units(data, train)), dtype=torch.float32)
    wanted = torch.tensor(labels)
    clip, single = float(MULTINOMIAL.loss.clip), multiplier_of_one(budget)
    path = MULTINOMIAL.path(len(rows), rows.shape[1], single)
    model = GradSampleModule(torch.nn.Linear(rows.shape[1], data.classes, bias=False))
    torch.nn.init.zeros_(next(model.parameters()))
    optimiser = DPOptimizer(
        torch.optim.SGD(model.parameters(), lr=min(path / steps, MULTINOMIAL.longest_step)),
        noise_multiplier=float(noise),
        max_grad_norm=clip,
        expected_batch_size=int(rate * len(rows)),
    )
    for _ in range(steps):
        drawn = torch.rand(len(rows)) < rate
        optimiser.zero_grad()
        torch.nn.functional.cross_entropy(model(rows[drawn]), wanted[drawn]).backward()
        optimiser.step()
    with torch.no_grad():
        found: Array = model(torch.tensor(_units(data, test), dtype=torch.float32)).argmax(dim=1).numpy()
    return found


def diffprivlib(data: Data, train: Array, labels: Array, test: Array, epsilon: float, seed: int) -> Array:
    """Objective perturbation of diffprivlib, C = 0.1: ε-private, which (ε, 1e-5) hardly exceeds at equal ε."""
    import warnings

    from diffprivlib.models import LogisticRegression

    rows, others = (_clipped(_units(data, each)[:, :-1]) for each in (train, test))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LogisticRegression(epsilon=epsilon, data_norm=1.0, C=0.1, random_state=seed, max_iter=1000)
        predicted: Array = model.fit(rows, labels).predict(others)
    return predicted


def not_private(data: Data, train: Array, labels: Array, test: Array, epsilon: float, seed: int) -> Array:
    """Logistic regression of scikit-learn, hardly regularised."""
    from sklearn.linear_model import LogisticRegression

    predicted: Array = (
        LogisticRegression(C=1000, max_iter=1000).fit(_units(data, train), labels).predict(_units(data, test))
    )
    return predicted


METHODS: dict[str, Callable[..., Array]] = {
    OURS: ours,
    "plain": plain,
    "opacus": opacus,
    "diffprivlib": diffprivlib,
    "not private": not_private,
}
RIVALS = ("plain", "opacus", "diffprivlib")


# --- running, and what comes of it


def key(data: str, epsilon: float) -> str:
    return f"{data} | {epsilon:g}"


def stored(method: str) -> dict[str, list[float]]:
    """Accuracies by dataset and ε, one per seed from 0 on."""
    file = STORE / f"{method}.json"
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


def one(method: str, name: str, epsilon: float, seed: int) -> float:
    """Accuracy on a quarter of the records, held out at random (stratified) by the seed."""
    return held_out(METHODS[method], data_of(name), epsilon, seed)


def held_out(method: Callable[..., Array], data: Data, epsilon: float, seed: int) -> float:
    """The same, on any data."""
    train, test, labels, truth = train_test_split(
        data.features, data.labels, test_size=0.25, random_state=seed, stratify=data.labels
    )
    return float((method(data, train, labels, test, epsilon, seed) == truth).mean())


@dataclass(frozen=True)
class Cell:
    """What a dataset and an ε have shown so far.

    Attributes:
        means: By method, with half of a 95 % confidence interval.
        best: The best of the rivals that were run, or None.
        behind: By how much it is ahead of dpbounds, at least: the lower end of a 95 % interval of the mean difference
            on the seeds that both have.
    """

    means: dict[str, tuple[float, float]]
    seeds: int
    best: str | None
    behind: float


def interval(values: Array) -> tuple[float, float]:
    """Mean, and half of its 95 % confidence interval (Student)."""
    if len(values) < 2:
        return float(np.mean(values)), math.inf
    half = student.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / math.sqrt(len(values))
    return float(np.mean(values)), float(half)


def cell(results: dict[str, dict[str, list[float]]], name: str, epsilon: float) -> Cell:
    """One row of the page."""
    found = {method: kept[key(name, epsilon)] for method, kept in results.items() if kept.get(key(name, epsilon))}
    means = {method: interval(np.array(values)) for method, values in found.items()}
    rivals = [method for method in RIVALS if method in found]
    if OURS not in found or not rivals:
        return Cell(means, len(found.get(OURS, ())), None, -math.inf)
    best = max(rivals, key=lambda method: means[method][0])
    shared = min(len(found[OURS]), len(found[best]))
    mean, half = interval(np.array(found[best][:shared]) - np.array(found[OURS][:shared]))
    return Cell(means, shared, best, mean - half)


def cells() -> dict[tuple[str, float], Cell]:
    """All of them, from what is stored."""
    results = {method: stored(method) for method in METHODS}
    return {(name, epsilon): cell(results, name, epsilon) for name in DATA for epsilon in EPSILONS}


def table() -> str:
    """The rows of the page, in Markdown."""
    columns = [method for method in METHODS if stored(method)]
    lines = [
        f"| data | n, p | ε | {' | '.join(columns)} | seeds |",
        f"| --- | --- | --- | {' | '.join('---' for _ in columns)} | --- |",
    ]
    sizes = json.loads((STORE / "sizes.json").read_text(encoding="utf-8"))
    for (name, epsilon), row in cells().items():
        private = [method for method in columns if method in row.means and method != "not private"]
        top = max((row.means[method][0] for method in private), default=0.0)
        shown = []
        for method in columns:
            mean, half = row.means.get(method, (math.nan, math.nan))
            text = "-" if math.isnan(mean) else f"{100 * mean:.1f} ± {100 * half:.1f}"
            shown.append(f"**{text}**" if mean == top and method in private else text)
        lines.append(f"| {name} | {sizes[name]} | {epsilon:g} | {' | '.join(shown)} | {row.seeds} |")
    return "\n".join(lines)


@click.group()
def program() -> None:
    """Run the comparison, or write its page."""


@program.command()
@click.option("--seeds", default=SEEDS)
@click.option("--methods", default=";".join(METHODS), help="Names, separated by semicolons.")
@click.option("--data", default="", help="Names, separated by semicolons; all by default.")
def run(seeds: int, methods: str, data: str) -> None:
    """Add the seeds that are missing, one by one, to what is stored."""
    STORE.mkdir(exist_ok=True)
    names = data.split(";") if data else list(DATA)
    for seed in range(seeds):
        for method in methods.split(";"):
            for name in names:
                for epsilon in EPSILONS if method != "not private" else EPSILONS[:1]:
                    kept, start = stored(method), time.process_time()
                    if len(kept.get(key(name, epsilon), ())) > seed:
                        continue
                    accuracy = one(method, name, epsilon, seed)
                    kept.setdefault(key(name, epsilon), []).append(round(accuracy, 5))
                    lines = ",\n".join(f"{json.dumps(each)}: {json.dumps(found)}" for each, found in kept.items())
                    (STORE / f"{method}.json").write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
                    seconds = time.process_time() - start
                    sys.stderr.write(f"{seed} {method}, {key(name, epsilon)}: {accuracy:.3f} in {seconds:.1f} s\n")


@program.command()
def tune() -> None:
    """Mean accuracy of plain descent on ``tuning_sets`` by steps and step size."""
    sets = tuning_sets()
    for steps, step in itertools.product((30, 100, 300), (1.0, 2.0, 4.0, 8.0, 16.0)):
        method = partial(noisy_descent, steps=steps, step=step)
        found = [
            held_out(method, data, epsilon, seed) for data in sets.values() for epsilon in EPSILONS for seed in range(3)
        ]
        each = np.array(found).reshape(len(sets), -1).mean(axis=1)
        listed = ", ".join(f"{name} {mean:.3f}" for name, mean in zip(sets, each, strict=True))
        click.echo(f"{steps} steps of {step:g}: {each.mean():.4f} ({listed})")


def with_table(text: str) -> str:
    """The page with its table as it should be."""
    head, _, rest = text.partition(BEGIN)
    return f"{head}{BEGIN}\n\n{table()}\n\n{END}{rest.partition(END)[2]}"


@program.command()
def page() -> None:
    """Write the table into its place on the page."""
    sizes = {name: "{}, {}".format(*data_of(name).features.shape) for name in DATA}
    (STORE / "sizes.json").write_text(json.dumps(sizes, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    program()
