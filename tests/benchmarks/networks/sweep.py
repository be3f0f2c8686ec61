"""Choose settings on the public part, run on the private one, write a line for each seed."""

from __future__ import annotations

import csv
import dataclasses
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from dpbounds.algorithms.problems import differentiable
from dpbounds.errors import InvalidValue
from tests.benchmarks.networks import methods
from tests.benchmarks.networks.cases import Case, cases

STORE = Path(__file__).parent / "runs.csv"
COLUMNS = ("case", "n", "p", "epsilon", "method", "seed", "score", "loss", "spent", "noise", "settings", "cpu_s")
EPSILONS = (1, 4, 8)


def problem_of(case: Case, part: tuple[Any, Any], seed: int) -> Any:
    """The case's loss on a part of its records."""
    start = case.start(np.random.default_rng(seed))
    return differentiable(case.loss, start, part, clip=1, smoothness=1)


def settled(problem: Any, settings: methods.Settings) -> Any:
    """The problem at these settings' L̂."""
    if "smoothness" not in settings:
        return problem
    return dataclasses.replace(problem, difference_clip=Fraction(settings["smoothness"]))


def chosen(case: Case, name: str, epsilon: int, private: Any, public: Any, held_out: Any) -> methods.Settings:
    """The settings with the least loss on a third of the public part, trained on the rest under the same noise."""
    found = []
    for settings in methods.grids()[name]:
        method = methods.rehearsed(
            methods.calibrated(name, settled(private, settings), epsilon, settings), private.records, public.records
        )
        try:
            outputs = method.run(settled(public, settings), seed=1, repetitions=2).output
            losses = [case.measured(private.parameters(w), held_out)[1] for w in outputs]
            value = float(np.mean(losses))
        except InvalidValue:  # the walk diverged
            value = np.inf
        found.append((value if np.isfinite(value) else np.inf, len(found), settings))
    return min(found)[2]


def run_case(name: str, seeds: int, only: tuple[str, ...] = ()) -> None:
    """All methods and budgets of one case that are not in the store yet."""
    case = cases()[name]()
    x, y = case.parts["public"]
    cut = 2 * len(x) // 3
    public, held_out = problem_of(case, (x[:cut], y[:cut]), 100), (x[cut:], y[cut:])
    private = problem_of(case, case.parts["private"], 0)
    for epsilon in EPSILONS:
        for method_name in methods.grids():
            if (only and method_name not in only) or (name, str(epsilon), method_name) in done():
                continue
            began = time.process_time()
            settings = chosen(case, method_name, epsilon, private, public, held_out)
            problem = settled(private, settings)
            method = methods.calibrated(method_name, problem, epsilon, settings)
            run = method.run(problem, seed=2, repetitions=seeds)
            assert run.spent.upper <= epsilon
            took = (time.process_time() - began) / seeds
            told = " ".join(f"{key}={value}" for key, value in settings.items())
            noise = " ".join(f"{each:.3g}" for each in methods.noise_on_means(method, private.records))
            lines = []
            for seed, w in enumerate(run.output):
                score, loss = case.measured(private.parameters(w), case.parts["test"])
                lines.append((name, private.records, private.dimension, epsilon, method_name, seed, f"{score:.4f}"))
                lines[-1] += (f"{loss:.4f}", f"{run.spent.upper:.6f}", noise, told, f"{took:.1f}")
            write(lines)
            print(
                name, epsilon, method_name, told, np.mean([float(each[6]) for each in lines]), f"{took:.1f}", flush=True
            )


def done() -> set[tuple[str, str, str]]:
    """What is in the store."""
    if not STORE.exists():
        return set()
    with STORE.open() as file:
        return {(row["case"], row["epsilon"], row["method"]) for row in csv.DictReader(file)}


def write(lines: list[tuple[Any, ...]]) -> None:
    """Add lines, and the head where there is none."""
    new = not STORE.exists()
    with STORE.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if new:
            writer.writerow(COLUMNS)
        writer.writerows(lines)
