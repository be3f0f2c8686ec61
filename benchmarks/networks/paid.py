"""Selections of settings that are private and paid for: the best of a random number of runs, and permute-and-flip.

Both judge a trained model by how many of the private records it names rightly: one record that comes or goes changes
that count by 1. All candidates release the same mechanism, so that which of them runs costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from attrs import evolve

from benchmarks.networks import methods, sweep
from dpbounds.algorithms import PrivateTraining, Storm, planning
from dpbounds.algorithms.descents.stochastic_gradient_descent import released
from dpbounds.algorithms.method import Method
from dpbounds.privacy.accountants.numbers_of_runs import RandomRuns
from dpbounds.privacy.accountants.tuning import tuned_epsilon
from dpbounds.privacy.mechanisms import Gaussian, Mechanism, PermuteAndFlip

RUNS = RandomRuns("1/4")  # geometric: four on average
SCORE = 20  # standard deviation of the noise on a count of right answers
CANDIDATES = 4


def candidates(name: str, passes: int) -> list[methods.Settings]:
    """The settings that are tried on public data, too: they differ in step sizes and L̂, and all release the same."""
    return methods.grid(name, passes)


def one_run(name: str, passes: int, records: int) -> Callable[[Fraction], Mechanism]:
    """What one training run releases, as a function of a multiplier that stands for all of its noise."""
    if name == "dp-sgd":
        steps = candidates(name, passes)[0]["steps"]
        return lambda z: released(z, methods.batches_of(records), steps)
    return Gaussian  # full-batch releases of any number are one


@cache
def multiplier(name: str, passes: int, records: int, epsilon: int, how: str) -> tuple[Fraction, float]:
    """The noise at which training and selection together keep the budget, and what they spend."""
    one = one_run(name, passes, records)
    budget = sweep.budget_of(epsilon)
    if how == "permute-and-flip":
        select = PermuteAndFlip(selection_epsilon(epsilon), relation=budget.relation, monotone=True)

        return planning.multiplier_within(budget, lambda z: one(z) ** CANDIDATES @ select), float(epsilon)

    def spent(z: Fraction) -> Fraction:
        return tuned_epsilon(one(z) @ Gaussian(SCORE), RUNS, budget.delta, budget.relation)

    low, high = Fraction(1, 4), Fraction(64)  # the noise of one run at the least and at the most ε here
    assert spent(high) <= budget.epsilon
    while high / low > Fraction(257, 256):
        middle = Fraction(float(low * high) ** 0.5).limit_denominator(10**6)
        low, high = (low, middle) if spent(middle) <= budget.epsilon else (middle, high)
    return high, float(spent(high))


def selection_epsilon(epsilon: int) -> Fraction:
    """A tenth of ε pays for permute-and-flip."""
    return Fraction(epsilon, 10)


def noisy(method: Any, z: Fraction) -> Any:
    """A method with the noise that z stands for, without a budget of its own."""
    if isinstance(method, Storm):
        first, later = planning.root_above(4), planning.root_above((method.steps - 1) / Fraction(3, 4))
        return evolve(method, first_multiplier=z * first, difference_multiplier=z * later, budget=None)
    assert isinstance(method, PrivateTraining)
    scale = planning.root_above(method.steps) if method.sampling is None else 1
    return evolve(method, noise_multiplier=z * scale, budget=None)


def right(name: str, w: Any) -> int:
    """How many of the private records a model names rightly."""
    case, problem = sweep.case_of(name), sweep.private_of(name)
    part = case.parts["private"]
    return round(case.measured(problem.parameters(w), part)[0] * len(part[0]))


def trained(name: str, method_name: str, epsilon: int, how: str, seeds: int) -> list[sweep.Measured]:
    """A selected model for each seed; ε is that of all runs and of the selection together."""
    case, problem = sweep.case_of(name), sweep.private_of(name)
    settings = candidates(method_name, case.passes)
    z, spent = multiplier(method_name, case.passes, problem.records, epsilon, how)
    assert spent <= epsilon
    assert len(settings) == CANDIDATES
    made: list[Method[Any]] = [
        noisy(methods.calibrated(method_name, sweep.settled(problem, each), sweep.budget_of(epsilon), each), z)
        for each in settings
    ]
    found = []
    for seed in range(seeds):
        rng = np.random.default_rng([seed, 7])
        if how == "permute-and-flip":
            drawn, noise = range(CANDIDATES), rng.exponential(1 / float(selection_epsilon(epsilon)), CANDIDATES)
        else:
            drawn = rng.integers(0, CANDIDATES, size=rng.geometric(float(RUNS.gamma)))
            noise = SCORE * rng.standard_normal(len(drawn))
        tried = []
        for place, which in enumerate(drawn):
            run = made[which].run(sweep.settled(problem, settings[which]), seed=1000 * seed + place, repetitions=1)
            w = run.output[0]
            tried.append((right(name, w) + noise[place], place, which, w))
        _, _, which, w = max(tried, key=lambda each: each[0])
        passes = sum(methods.passes_of(made[each], problem.records) for each in drawn)
        found.append(sweep.measured(name, w, spent, passes, sweep.told(settings[which])))
    return found
