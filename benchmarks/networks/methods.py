"""The methods, at one certified budget: how each is calibrated, and how it is rehearsed on the public part."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from attrs import evolve, field, fields as fields_of, frozen

from dpbounds.algorithms import (
    BatchStorm,
    LangevinDynamics,
    PerturbedGradientDescent,
    PrivateTraining,
    Spider,
    StochasticSpider,
    Storm,
    fields,
    planning,
)
from dpbounds.algorithms.descents.private_training import GradientSteps
from dpbounds.algorithms.ledger import PrivacyBudget
from dpbounds.algorithms.method import Array, FiniteSum, Method, OpenRun, Outcome, stddev_of_gradients
from dpbounds.algorithms.sampling import Batch, Bins, Poisson, Truncated
from dpbounds.algorithms.spider.spider import anchors
from dpbounds.privacy.mechanisms import Gaussian, Mechanism

DELTA, RELATION = "1e-6", "add-or-remove-one"
Settings = dict[str, Any]
_WARM_PERIOD, _DRIFT = 4, 1.0  # q behind a warm start; κ
_MULTIPLIERS = {
    "noise_multiplier",
    "anchor_multiplier",
    "first_multiplier",
    "difference_multiplier",
}


class _Last:
    """A run whose "random" iterate is the last one: as private, and what is deployed."""

    def __init__(self, run: OpenRun) -> None:
        self._run = run

    def __getattr__(self, name: str) -> Any:
        return getattr(self._run, name)

    def uniform_iterate(self, steps: int, first: int = 1, ends: float = 0.0) -> Any:
        return _Kept(self._run.repetitions)


class _Kept:
    def __init__(self, repetitions: int) -> None:
        self.index = np.zeros(repetitions, dtype=np.int64)

    def visit(self, step: int, x: Array) -> None:
        self.index, self.point = np.full_like(self.index, step), x.copy()


class LastSpider(Spider):
    """SPIDER that returns its last iterate."""

    def walk(self, problem: FiniteSum, run: OpenRun, start: Any = None) -> Outcome:
        return super().walk(problem, _Last(run), start)  # type: ignore[arg-type]


class LastStorm(Storm):
    """STORM that returns its last iterate."""

    def walk(self, problem: FiniteSum, run: OpenRun) -> Outcome:
        return super().walk(problem, _Last(run))  # type: ignore[arg-type]


class LastBatchStorm(BatchStorm):
    """STORM on samples that returns its last iterate."""

    def walk(self, problem: FiniteSum, run: OpenRun) -> Outcome:
        return super().walk(problem, _Last(run))  # type: ignore[arg-type]


class LastPerturbed(PerturbedGradientDescent):
    """Perturbed descent that returns its last iterate."""

    def walk(self, problem: FiniteSum, run: OpenRun) -> Outcome:
        return super().walk(problem, _Last(run))  # type: ignore[arg-type]


@frozen
class Warm(Method[FiniteSum]):
    """DP-SGD, then SPIDER from where it ended; one budget for both."""

    start: PrivateTraining
    spider: LastSpider
    budget: PrivacyBudget | None = None

    title = "warm start"
    metric = "noise"

    @property
    def planned(self) -> Mechanism:
        return self.start.planned @ self.spider.planned

    def walk(self, problem: FiniteSum, run: OpenRun) -> Outcome:
        w = self.start.walk(problem, run).output
        run.forget()
        return Outcome(self.spider.walk(problem, run, w).output, metric="noise")


@frozen(field_transformer=fields.named)
class PathDescent(Method[FiniteSum]):
    """Descent on gradients at a price per length, as in ``PathNoiseDescent``, without its search for curvature."""

    noise_multiplier: Fraction = field(converter=fields.multiplier)
    steps: int = field(converter=fields.count)
    path_length: Fraction = field(converter=fields.positive)
    step_size: float = field(converter=fields.length)
    budget: PrivacyBudget | None = None

    title = "path-noise descent"
    metric = "path"

    @property
    def planned(self) -> Mechanism:
        return Gaussian(self.noise_multiplier)

    def walk(self, problem: FiniteSum, run: OpenRun) -> Outcome:
        oracle = run.path_gradients(self.noise_multiplier, self.path_length)
        w = run.repeated(problem.initial_point)
        g, path = oracle(w).noisy, np.zeros(len(w))
        for _ in run.steps(self.steps):
            there = w - self.step_size * g
            there = np.where(oracle.afforded(there, w)[:, None], there, w)
            path += np.linalg.norm(there - w, axis=1)
            faded = np.exp(-oracle.clock(there, w))[:, None]
            g, w = faded * g + oracle(there, w).noisy, there
        return Outcome(w, measured={"path": path})


def batches_of(records: int) -> Poisson:
    """A sixteenth of the records, at least 64; of more than 2e4 a 128th."""
    expected = max(64, records // (16 if records <= 20_000 else 128))
    return Poisson(Fraction(expected, records).limit_denominator(10**6))


# --- what is tried


def _grid(**values: Any) -> list[Settings]:
    return [dict(zip(values, each, strict=True)) for each in itertools.product(*values.values())]


def grid(name: str, passes: int, stretch: int = 1) -> list[Settings]:
    """The settings of a method that are tried; ``passes`` is how often a full-batch method may look at all records.

    A difference looks twice, so that what is made of differences takes half as many steps. ``stretch`` makes steps
    longer, but those of Adam, which have a length of their own.
    """
    bends = {"step_size": (0.25, 1.0), "smoothness": (Fraction(1, 4), Fraction(1))}
    T, B = passes // 2, 150
    tried = {
        "dp-gd": _grid(steps=(passes,), step_size=(0.125, 0.5, 2.0, 8.0)),
        "dp-sgd": _grid(steps=(B,), step_size=(0.0625, 0.25, 1.0, 4.0)),
        "dp-sgd-momentum": _grid(steps=(B,), step_size=(0.00625, 0.025, 0.1, 0.4)),
        "dp-sgd-adam": _grid(steps=(B,), step_size=(0.004, 0.016, 0.064)),
        "dp-spider": _grid(steps=(T,), anchor_period=(4,), **bends),
        "warm-spider": _grid(
            steps=(T // 2,), step_size=(0.25, 1.0), smoothness=(Fraction(1, 4),), start=(float(stretch),)
        ),
        "stochastic-spider": _grid(steps=(T,), smoothness=(Fraction(1, 4), Fraction(1), Fraction(4))),
        "dp-storm": _grid(steps=(T,), momentum=(Fraction(1, 5),), **bends),
        "batch-storm": _grid(steps=(B // 2,), momentum=(Fraction(1, 5),), **bends),
        "path-noise": _grid(steps=(T,), length=(4,), **bends),
        "perturbed": _grid(steps=(500,), step_size=(0.003, 0.03)),
        "langevin": _grid(steps=(passes,), step_size=(0.5, 2.0), decay=(Fraction(1, 100),)),
    }[name]
    if name == "dp-sgd-adam":
        return tried
    return [each | {"step_size": each["step_size"] * stretch} if "step_size" in each else each for each in tried]


METHODS = (
    "dp-gd",
    "dp-sgd",
    "dp-sgd-momentum",
    "dp-sgd-adam",
    "dp-spider",
    "warm-spider",
    "stochastic-spider",
    "dp-storm",
    "batch-storm",
    "path-noise",
    "perturbed",
    "langevin",
)
SAMPLINGS = ("dp-sgd-fixed", "dp-sgd-truncated", "dp-sgd-bins")  # at the settings that dp-sgd got


# --- how each keeps the budget


def calibrated(name: str, problem: Any, budget: PrivacyBudget, settings: Settings) -> Method[Any]:
    """A method with these settings at the budget; only the number of records and public constants are looked at."""
    return _MAKERS[name](problem, budget, **{key: value for key, value in settings.items() if key != "smoothness"})


def _training(
    problem: Any, budget: PrivacyBudget, steps: int, step_size: float, momentum: float = 0.0, draw: Any = batches_of
) -> Method[Any]:
    made: Method[Any] = PrivateTraining.calibrated(
        problem,
        budget.epsilon,
        budget.delta,
        steps,
        budget.relation,
        optimiser=GradientSteps(step_size, momentum),
        sampling=draw(problem.records),
    )
    return made


def _adam(problem: Any, budget: PrivacyBudget, steps: int, step_size: float) -> Method[Any]:
    import optax

    made = _training(problem, budget, steps, step_size)
    return evolve(made, optimiser=optax.adam(step_size))


def _all_records(records: int) -> None:
    return None


def _fixed(records: int) -> Batch:
    return Batch(round(batches_of(records).sample_rate * records), records, replacement=False)


def _truncated(records: int) -> Truncated:
    rate = batches_of(records).sample_rate
    mean = float(rate * records)
    return Truncated(rate, round(mean + 3 * mean**0.5), records)


def _bins(records: int) -> Bins:
    return Bins(round(1 / batches_of(records).sample_rate))


def _spider(problem: Any, budget: PrivacyBudget, **given: Any) -> Method[Any]:
    made: Method[Any] = LastSpider.calibrated(problem, budget.epsilon, budget.delta, budget.relation, **given)
    return made


def _storm(problem: Any, budget: PrivacyBudget, **given: Any) -> Method[Any]:
    made: Method[Any] = LastStorm.calibrated(
        problem, budget.epsilon, budget.delta, budget.relation, initial_gap=1, first_share="1/4", **given
    )
    return made


def _batch_storm(problem: Any, budget: PrivacyBudget, **given: Any) -> Method[Any]:
    rate = batches_of(problem.records).sample_rate
    made: Method[Any] = LastBatchStorm.calibrated(
        problem,
        budget.epsilon,
        budget.delta,
        budget.relation,
        sample_rate=rate,
        initial_gap=1,
        first_ratio=20,
        **given,
    )
    return made


def _warm(problem: Any, budget: PrivacyBudget, steps: int, step_size: float, start: float = 1.0) -> Method[Any]:
    part = PrivacyBudget.of(budget.epsilon / 2, budget.delta / 2, budget.relation)
    first = evolve(_training(problem, part, 100, start), budget=None)
    z = planning.multiplier_within(budget, lambda one: first.planned @ Gaussian(one))
    N = anchors(steps, _WARM_PERIOD)
    anchor, difference = (z * planning.root_above(count * 2) for count in (N, steps - N))
    return Warm(first, LastSpider(anchor, difference, steps, _WARM_PERIOD, step_size), budget)


def _stochastic(problem: Any, budget: PrivacyBudget, steps: int) -> Method[Any]:
    fresh = max(1, steps // 6)
    half = Fraction(1, 2)
    noise = planning.multipliers_of_groups(budget, {"fresh": (fresh, half), "differences": (steps, half)})
    return StochasticSpider(noise["fresh"], noise["differences"], steps, fresh, _DRIFT, budget=budget)


def _path(problem: Any, budget: PrivacyBudget, steps: int, length: int, step_size: float) -> Method[Any]:
    return PathDescent(planning.multiplier_of_one(budget), steps, Fraction(length), step_size, budget)


def _perturbed(problem: Any, budget: PrivacyBudget, steps: int, step_size: float) -> Method[Any]:
    made: Method[Any] = LastPerturbed.calibrated(
        problem, budget.epsilon, budget.delta, steps, budget.relation, noise="gaussian", step_size=step_size
    )
    return made


def _langevin(problem: Any, budget: PrivacyBudget, steps: int, step_size: float, decay: Fraction) -> LangevinDynamics:
    z = planning.multiplier_of_steps(budget, steps)
    beta = 2 / (Fraction(step_size) * stddev_of_gradients(problem, z) ** 2)
    return LangevinDynamics(z, steps, beta.limit_denominator(10**9), decay, budget=budget)


_MAKERS: dict[str, Callable[..., Method[Any]]] = {
    "dp-gd": partial(_training, draw=_all_records),
    "dp-gd-momentum": partial(_training, momentum=0.9, draw=_all_records),
    "dp-sgd": _training,
    "dp-sgd-momentum": partial(_training, momentum=0.9),
    "dp-sgd-adam": _adam,
    "dp-sgd-fixed": partial(_training, draw=_fixed),
    "dp-sgd-truncated": partial(_training, draw=_truncated),
    "dp-sgd-bins": partial(_training, draw=_bins),
    "dp-spider": _spider,
    "warm-spider": _warm,
    "stochastic-spider": _stochastic,
    "dp-storm": _storm,
    "batch-storm": _batch_storm,
    "path-noise": _path,
    "perturbed": _perturbed,
    "langevin": _langevin,
}


# --- on the public part


def rehearsed(method: Any, private: int, public: int) -> Any:
    """The method for a public part, without a budget: the same noise on means of gradients, batches of one size.

    Noise on the mean of all n records is zG/n, so that z falls with the number of records; batches keep theirs.
    """
    share = Fraction(public, private)
    if isinstance(method, Warm):
        parts = (rehearsed(each, private, public) for each in (method.start, method.spider))
        return evolve(method, **dict(zip(("start", "spider"), parts, strict=True)), budget=None)
    if isinstance(method, PerturbedGradientDescent):
        return evolve(method, records=public, budget=None)
    if isinstance(method, BatchStorm):
        rate, lost = _larger(method.sample_rate, share)
        z = method.noise_multiplier * lost
        ratio = method.first_ratio * share / lost
        return evolve(method, sample_rate=rate, noise_multiplier=z, first_ratio=ratio, budget=None)
    if isinstance(method, PrivateTraining) and isinstance(method.sampling, Poisson):
        rate, lost = _larger(method.sampling.sample_rate, share)
        return evolve(method, sampling=Poisson(rate), noise_multiplier=method.noise_multiplier * lost, budget=None)
    names = {each.name for each in fields_of(type(method))} & _MULTIPLIERS
    own = {name: getattr(method, name) * share for name in names if getattr(method, name) is not None}
    return evolve(method, **own, budget=None)


def _larger(rate: Fraction, share: Fraction) -> tuple[Fraction, Fraction]:
    """The rate that draws as many of fewer records; what is lost where that would be more than there are."""
    fitting = min(rate / share, Fraction(999, 1000)).limit_denominator(10**6)
    return fitting, fitting / (rate / share)


def passes_of(method: Any, records: int) -> float:
    """How many gradients of records a run computes, in units of n: a difference asks for two."""
    if isinstance(method, Warm):
        return passes_of(method.start, records) + passes_of(method.spider, records)
    T = method.steps
    if isinstance(method, Spider):
        fresh = anchors(T, method.anchor_period)
        return fresh + 2.0 * (T - fresh)
    if isinstance(method, StochasticSpider):
        return method.fresh_estimates + 2.0 * (T - method.fresh_estimates)
    if isinstance(method, Storm | PathDescent):
        return 1 + 2.0 * (T - 1)
    if isinstance(method, BatchStorm):
        return 1 + 2.0 * (T - 1) * float(method.sample_rate)
    if isinstance(method, PerturbedGradientDescent):
        return T / records
    sampling = getattr(method, "sampling", None)
    if sampling is None:
        return float(T)
    return T * float(drawn(sampling, records)) / records


def drawn(sampling: Any, records: int) -> Fraction:
    """How many records a batch has on average, public."""
    if isinstance(sampling, Batch):
        return Fraction(sampling.size)
    if isinstance(sampling, Bins):
        return sampling.divisor(records)
    rate: Fraction = sampling.sample_rate
    return rate * records
