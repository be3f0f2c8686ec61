"""Choose settings, run on the private part, write a line for each seed."""

from __future__ import annotations

import csv
import dataclasses
import time
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.networks import methods
from benchmarks.networks.cases import Case, cases
from dpbounds.algorithms.ledger import PrivacyBudget
from dpbounds.algorithms.problems import differentiable
from dpbounds.errors import InvalidValue

STORE = Path(__file__).parent / "runs.csv"
COLUMNS = (
    "case",
    "n",
    "p",
    "epsilon",
    "method",
    "chosen",
    "seed",
    "score",
    "loss",
    "gradient_norm",
    "spent",
    "passes",
    "settings",
    "cpu_s",
)
EPSILONS = (1, 4, 8)
SEEDS = 5
CASES = ("digits-mlp", "digits-conv", "digits-attention", "covertype-mlp", "ratings-factors", "flights-mlp")
LARGE = "flights-mlp"  # where a method that asks all records costs minutes
PAID_METHODS = ("dp-gd", "dp-sgd", "dp-storm")
PEER_CASES, PEERS = ("digits-mlp", "covertype-mlp", "digits-conv", "digits-attention"), ("jax-privacy", "opacus")
MAIN = ("dp-sgd", "dp-gd", "dp-storm", "dp-sgd-adam", "dp-sgd-momentum", "dp-spider", "batch-storm", "warm-spider")
REST = ("path-noise", "stochastic-spider", "langevin", "perturbed")  # of one case: none of them leads there
Job = tuple[str, str, int, str]  # how settings are chosen, case, ε, method


@dataclasses.dataclass(frozen=True)
class Measured:
    """What a trained model is worth, and what it took."""

    score: float
    loss: float
    gradient_norm: float
    spent: float
    passes: float
    settings: str


def jobs() -> Iterator[Job]:
    """All of them, those that say most for their time first."""
    small = [case for case in CASES if case != LARGE]
    for epsilon in (4, 8, 1):
        yield from (("public", case, epsilon, name) for case in small for name in MAIN)
    yield from (("public", LARGE, epsilon, name) for epsilon in (4, 8, 1) for name in MAIN)
    yield from (("as dp-sgd", case, 4, name) for case in PEER_CASES for name in PEERS)
    yield from (("as dp-sgd", PEER_CASES[0], epsilon, name) for epsilon in (8, 1) for name in PEERS)
    hows = ("best of a random number", "permute-and-flip")
    yield from ((how, "digits-mlp", 4, name) for name in PAID_METHODS for how in hows)
    for epsilon in (4, 8, 1):
        yield from (("public", "digits-mlp", epsilon, name) for name in REST)
    yield from (("as dp-sgd", "digits-mlp", 4, name) for name in methods.SAMPLINGS)


@cache
def case_of(name: str) -> Case:
    """A case, read once."""
    return cases()[name]()


def problem_of(case: Case, part: tuple[Any, Any]) -> Any:
    """The case's loss on a part of its records; the start is the same for all."""
    start = case.start(np.random.default_rng(0))
    return differentiable(case.loss, start, part, clip=1, smoothness=1, memory_limit=2**26)


@cache
def private_of(name: str) -> Any:
    """The problem that all runs of a case share."""
    case = case_of(name)
    return problem_of(case, case.parts["private"])


def settled(problem: Any, settings: methods.Settings) -> Any:
    """The problem at these settings' L̂."""
    if "smoothness" not in settings:
        return problem
    return dataclasses.replace(problem, difference_clip=Fraction(settings["smoothness"]))


def budget_of(epsilon: Any) -> PrivacyBudget:
    """ε at the δ and the relation of all runs."""
    return PrivacyBudget.of(epsilon, methods.DELTA, methods.RELATION)


@cache
def rehearsal_of(name: str) -> tuple[Any, tuple[Any, Any]]:
    """The public part: two thirds to train on, the rest to judge by."""
    case = case_of(name)
    x, y = case.parts["public"]
    cut = 2 * len(x) // 3
    return problem_of(case, (x[:cut], y[:cut])), (x[cut:], y[cut:])


def chosen(name: str, method_name: str, epsilon: int) -> methods.Settings:
    """The settings with the least loss on a third of the public part, trained on the rest under the same noise."""
    case, private, (public, held_out) = case_of(name), private_of(name), rehearsal_of(name)
    found = []
    for settings in methods.grid(method_name, case.passes, case.stretch):
        made = methods.calibrated(method_name, settled(private, settings), budget_of(epsilon), settings)
        method = methods.rehearsed(made, private.records, public.records)
        try:
            outputs = method.run(settled(public, settings), seed=1, repetitions=2).output
            value = float(np.mean([case.measured(private.parameters(w), held_out)[1] for w in outputs]))
        except InvalidValue:  # the walk diverged
            value = np.inf
        found.append((value if np.isfinite(value) else np.inf, len(found), settings))
    return min(found)[2]


def measured(name: str, w: Any, spent: float, passes: float, settings: str) -> Measured:
    """A point's accuracy and loss on held-out records, and its clipped mean gradient on the private ones."""
    case, problem = case_of(name), private_of(name)
    score, loss = case.measured(problem.parameters(w), case.parts["test"])
    slope = problem.summed_gradients(w, np.arange(problem.records)) / problem.records
    return Measured(score, loss, float(np.linalg.norm(slope)), spent, passes, settings)


def told(settings: methods.Settings) -> str:
    """As the store writes them."""
    return " ".join(f"{key}={value}" for key, value in settings.items())


def settings_in(text: str) -> methods.Settings:
    """The same, read."""
    found: methods.Settings = {}
    for each in text.split():
        key, value = each.split("=")
        exact = key in ("smoothness", "momentum", "share", "decay")
        whole = key in ("steps", "anchor_period", "length")
        found[key] = Fraction(value) if exact else int(value) if whole else float(value)
    return found


def trained(name: str, method_name: str, epsilon: int, settings: methods.Settings, seeds: int) -> list[Measured]:
    """The method's runs on the private part at the whole budget."""
    problem = settled(private_of(name), settings)
    method = methods.calibrated(method_name, problem, budget_of(epsilon), settings)
    run = method.run(problem, seed=2, repetitions=seeds)
    assert run.spent.exact_upper <= epsilon
    passes = methods.passes_of(method, problem.records)
    return [measured(name, w, float(run.spent.upper), passes, told(settings)) for w in run.output]


def results(job: Job, seeds: int) -> list[Measured]:
    """One job's runs."""
    how, name, epsilon, method = job
    if how == "public":
        return trained(name, method, epsilon, chosen(name, method, epsilon), seeds)
    if how == "as dp-sgd":
        settings = _settings_of_sgd(name, epsilon)
        if method not in PEERS:
            return trained(name, method, epsilon, settings, seeds)
        from benchmarks.networks import peers

        return peers.trained(name, method, epsilon, settings, seeds)
    from benchmarks.networks import paid

    return paid.trained(name, method, epsilon, how, seeds)


def _settings_of_sgd(name: str, epsilon: int) -> methods.Settings:
    for row in rows():
        if (row["case"], row["epsilon"], row["method"], row["chosen"]) == (name, str(epsilon), "dp-sgd", "public"):
            return settings_in(row["settings"])
    raise InvalidValue("dp-sgd", f"no run of {name} at {epsilon}", "run before what takes its settings")


def rows() -> list[dict[str, str]]:
    """What is in the store."""
    if not STORE.exists():
        return []
    with STORE.open() as file:
        return list(csv.DictReader(file))


def left() -> list[Job]:
    """The jobs that the store has no line of, in order."""
    done = {(row["chosen"], row["case"], int(row["epsilon"]), row["method"]) for row in rows()}
    return [job for job in jobs() if job not in done]


def run(most: int | None, only: tuple[str, ...], seeds: int = SEEDS) -> None:
    """Do so many jobs that are not done yet, of some cases or of all; every one is written when it ends."""
    for job in [each for each in left() if not only or each[1] in only][:most]:
        began = time.process_time()
        found = results(job, seeds)
        took = (time.process_time() - began) / seeds
        how, name, epsilon, method = job
        problem = private_of(name)
        about = (name, problem.records, problem.dimension, epsilon, method, how)
        write([(*about, seed, *_written(one), f"{took:.1f}") for seed, one in enumerate(found)])
        print(
            *job, found[0].settings, f"{np.mean([each.score for each in found]):.4f} {took * seeds:.0f} s", flush=True
        )


def _written(one: Measured) -> tuple[str, ...]:
    numbers = (
        f"{one.score:.4f}",
        f"{one.loss:.4f}",
        f"{one.gradient_norm:.4g}",
        f"{one.spent:.6f}",
        f"{one.passes:.4g}",
    )
    return (*numbers, one.settings)


def write(lines: list[tuple[Any, ...]]) -> None:
    """Add lines, and the head where there is none."""
    new = not STORE.exists()
    with STORE.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if new:
            writer.writerow(COLUMNS)
        writer.writerows(lines)
