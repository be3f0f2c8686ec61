"""The methods, at one certified budget: how each is calibrated, and how it is run on the public part."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from attrs import evolve, field, frozen

from dpbounds.algorithms import Spider, Storm, fields, planning
from dpbounds.algorithms.ledger import Poisson, PrivacyBudget
from dpbounds.algorithms.method import Array, FiniteSum, Method, OpenRun, Outcome
from dpbounds.algorithms.oracles import Sampling
from dpbounds.algorithms.oracles.batches import sampled
from dpbounds.algorithms.spider.spider import anchors
from dpbounds.privacy.mechanisms import Gaussian, Mechanism

DELTA, RELATION = "1e-5", "add-or-remove-one"
_FULL_STEPS, _WARM_PERIOD = 60, 4  # T of SPIDER and STORM; q behind a warm start


@frozen(field_transformer=fields.named)
class Descent(Method[FiniteSum]):
    """Gradient descent on noisy gradients of all records or of batches, with heavy-ball momentum; the last iterate."""

    noise_multiplier: Fraction = field(converter=fields.multiplier)
    steps: int = field(converter=fields.count)
    step_size: float = field(converter=fields.length)
    sampling: Sampling = None
    momentum: float = 0.0
    budget: PrivacyBudget | None = None

    title = "descent"
    metric = "noise"

    @property
    def planned(self) -> Mechanism:
        return sampled(Gaussian(self.noise_multiplier), self.sampling) ** self.steps

    def walk(self, problem: FiniteSum, run: OpenRun) -> Outcome:
        return Outcome(self.descend(problem, run, run.repeated(problem.initial_point)))

    def descend(self, problem: FiniteSum, run: OpenRun, w: Array) -> Array:
        ask, moved = run.batch_gradients(self.sampling, self.noise_multiplier), np.zeros_like(w)
        for _ in run.steps(self.steps):
            answer = ask(w)
            run.measure(noise=((answer.noisy - answer.exact) ** 2).sum(axis=1))
            moved = self.momentum * moved + answer.noisy
            w = w - self.step_size * moved
        return w


class _Last:
    """A run whose "random" iterate is the last one: as private, and what is deployed."""

    def __init__(self, run: OpenRun) -> None:
        self._run = run

    def __getattr__(self, name: str) -> Any:
        return getattr(self._run, name)

    def uniform_iterate(self, steps: int, first: int = 1, ends: float = 0.0) -> Any:
        return _Kept(self._run.repetitions, first + steps)


class _Kept:
    def __init__(self, repetitions: int, last: int) -> None:
        self.index = np.full(repetitions, last)

    def visit(self, step: int, x: Array) -> None:
        self.point = x.copy()


class LastSpider(Spider):
    """SPIDER that returns its last iterate."""

    def walk(self, problem: FiniteSum, run: OpenRun, start: Any = None) -> Outcome:
        return super().walk(problem, _Last(run), start)  # type: ignore[arg-type]


class LastStorm(Storm):
    """STORM that returns its last iterate."""

    def walk(self, problem: FiniteSum, run: OpenRun) -> Outcome:
        return super().walk(problem, _Last(run))  # type: ignore[arg-type]


@frozen
class Warm(Method[FiniteSum]):
    """DP-SGD, then SPIDER from where it ended; one budget for both."""

    start: Descent
    spider: LastSpider
    budget: PrivacyBudget | None = None

    title = "warm start"
    metric = "noise"

    @property
    def planned(self) -> Mechanism:
        return self.start.planned @ self.spider.planned

    def walk(self, problem: FiniteSum, run: OpenRun) -> Outcome:
        w = self.start.descend(problem, run, run.repeated(problem.initial_point))
        run.forget()
        return Outcome(self.spider.walk(problem, run, w).output)


def batches_of(records: int) -> Poisson:
    """About 64 records, or a sixteenth of them if that is more."""
    return Poisson(Fraction(max(64, records // 16), records).limit_denominator(10**6))


Made = tuple[Method[Any], dict[str, Any]]  # a method, and the problem's L̂ where it has one
Settings = dict[str, Any]


def _grid(**values: Any) -> list[Settings]:
    return [dict(zip(values, each, strict=True)) for each in itertools.product(*values.values())]


def grids() -> dict[str, list[Settings]]:
    """What is tried on the public part, method by method."""
    full = {"step_size": (0.25, 1.0), "smoothness": (Fraction(1, 4), Fraction(1))}
    return {
        "dp-gd": _grid(steps=(50, 200), step_size=(0.125, 0.5, 2.0, 8.0)),
        "dp-sgd": _grid(steps=(100, 400), step_size=(0.0625, 0.25, 1.0, 4.0)),
        "dp-sgd-momentum": _grid(steps=(100, 400), step_size=(0.00625, 0.025, 0.1, 0.4)),
        "dp-spider": _grid(anchor_period=(2, 8), **full),
        "dp-storm": _grid(momentum=(Fraction(1, 5), Fraction(3, 5)), **full),
        "warm-spider": _grid(share=(Fraction(1, 2), Fraction(4, 5)), **full),
    }


def calibrated(name: str, problem: Any, epsilon: int, settings: Settings) -> Method[Any]:
    """A method with these settings at the budget; only the number of records and public constants are looked at."""
    budget, made = PrivacyBudget.of(epsilon, DELTA, RELATION), _MAKERS[name]
    return made(problem, budget, {key: value for key, value in settings.items() if key != "smoothness"})


def _gd(problem: Any, budget: PrivacyBudget, given: Settings) -> Method[Any]:
    return Descent(planning.multiplier_of_steps(budget, given["steps"]), **given, budget=budget)


def _sgd(problem: Any, budget: PrivacyBudget, given: Settings, momentum: float = 0.0) -> Descent:
    draw = batches_of(problem.records)
    z = planning.multiplier_within(budget, lambda one: sampled(Gaussian(one), draw) ** given["steps"])
    return Descent(z, **given, sampling=draw, momentum=momentum, budget=budget)


def _spider(problem: Any, budget: PrivacyBudget, given: Settings) -> LastSpider:
    made: LastSpider = LastSpider.calibrated(
        problem, budget.epsilon, budget.delta, budget.relation, steps=_FULL_STEPS, **given
    )
    return made


def _storm(problem: Any, budget: PrivacyBudget, given: Settings) -> LastStorm:
    made: LastStorm = LastStorm.calibrated(
        problem,
        budget.epsilon,
        budget.delta,
        budget.relation,
        steps=_FULL_STEPS,
        initial_gap=1,
        first_share="1/4",
        **given,
    )
    return made


def _warm(problem: Any, budget: PrivacyBudget, given: Settings) -> Warm:
    part = PrivacyBudget.of(budget.epsilon * given["share"], budget.delta / 2, budget.relation)
    first = evolve(_sgd(problem, part, {"steps": 200, "step_size": 0.5}), budget=None)
    z = planning.multiplier_within(budget, lambda one: first.planned @ Gaussian(one))
    T, q = _FULL_STEPS, _WARM_PERIOD
    N = anchors(T, q)
    anchor, difference = (z * planning.root_above(count * 2) for count in (N, T - N))
    return Warm(first, LastSpider(anchor, difference, T, q, given["step_size"]), budget)


_MAKERS: dict[str, Callable[[Any, PrivacyBudget, Settings], Any]] = {
    "dp-gd": _gd,
    "dp-sgd": _sgd,
    "dp-sgd-momentum": lambda problem, budget, given: _sgd(problem, budget, given, 0.9),
    "dp-spider": _spider,
    "dp-storm": _storm,
    "warm-spider": _warm,
}


def rehearsed(method: Any, private: int, public: int) -> Any:
    """The method for a public part, without a budget: the same noise on means of gradients, batches of one size.

    Noise on the mean of all n records is zG/n, so that z falls with the number of records; batches keep theirs.
    """
    share = Fraction(public, private)
    if isinstance(method, Warm):
        return evolve(
            method,
            start=rehearsed(method.start, private, public),
            spider=rehearsed(method.spider, private, public),
            budget=None,
        )
    if isinstance(method, Descent) and method.sampling is not None:
        rate = min(Fraction(1), method.sampling.sample_rate / share)
        fitting = rate if rate < 1 else Fraction(999, 1000)
        lost = fitting / (method.sampling.sample_rate / share)  # where a batch would be more than there is
        return evolve(method, sampling=Poisson(fitting), noise_multiplier=method.noise_multiplier * lost, budget=None)
    names = ["noise_multiplier", "anchor_multiplier", "first_multiplier", "difference_multiplier"]
    own = {name: getattr(method, name) * share for name in names if getattr(method, name, None) is not None}
    return evolve(method, **own, budget=None)


def noise_on_means(method: Any, records: int) -> Iterator[float]:
    """zG/n or zG/b of a method's releases, for the page."""
    if isinstance(method, Warm):
        yield from noise_on_means(method.start, records)
        yield from noise_on_means(method.spider, records)
    elif isinstance(method, Descent) and method.sampling is not None:
        yield float(method.noise_multiplier / (method.sampling.sample_rate * records))
    else:
        for name in ("noise_multiplier", "anchor_multiplier", "first_multiplier", "difference_multiplier"):
            if getattr(method, name, None) is not None:
                yield float(getattr(method, name)) / records
