"""The base class of all algorithms: common parts are here, others in the module of the algorithm.

An algorithm is a frozen record of its parameters (``attrs.frozen``). Its docstring shows the paper's pseudo-code, its
``walk`` is that pseudo-code; ``planned`` says what a run releases, ``calibrated`` how much noise a budget asks for, and
``bound`` the guarantee of a theorem. A walk has access to the data only through an ``OpenRun``.
"""

from __future__ import annotations

import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from dpbounds.algorithms import secure_noise
from dpbounds.algorithms.fields import WhichNoise
from dpbounds.algorithms.guards.counting import counted
from dpbounds.algorithms.guards.plain import Plain, PlainStep
from dpbounds.algorithms.iterates import uniform_steps
from dpbounds.algorithms.ledger import OpenLedger, PrivacyBudget, WhichRelease
from dpbounds.algorithms.noise import Array, Kind, Records, checked_seed, drawn_by, streams
from dpbounds.algorithms.oracles import (
    BatchGradientOracle,
    CorrelatedGradientOracle,
    GradientDifferenceOracle,
    GradientOracle,
    Gradients,
    HessianOracle,
    HessianProductOracle,
    PathGradientOracle,
    QuantileClippedOracle,
    Sampling,
    Scheme,
    Scored,
    VisitGradientOracle,
    WhichChoice,
    choice,
    choose,
    in_batches,
)
from dpbounds.algorithms.oracles.differences import HasDifferences
from dpbounds.algorithms.oracles.gradients import HasGradients
from dpbounds.algorithms.oracles.rows import of_rows
from dpbounds.algorithms.oracles.secured import secured_choice
from dpbounds.algorithms.oracles.watching import Question, answered, watched_by
from dpbounds.algorithms.problems.domain import hessian_rank
from dpbounds.algorithms.problems.finite_sum import FiniteSum
from dpbounds.algorithms.progress import told
from dpbounds.algorithms.run import NO_UTILITY, Gathering, Recorder, Run, Trace, is_shadow, settled
from dpbounds.algorithms.sampling import Correlated, Visited
from dpbounds.algorithms.unreleased import computed as computed, demand_released, opened
from dpbounds.errors import InvalidValue, UnsupportedMechanism
from dpbounds.expressions.exact import to_float
from dpbounds.privacy.mechanisms import Gaussian, Mechanism
from dpbounds.privacy.relations import Relation

__all__ = ["Array", "FiniteSum", "InvalidValue"]  # what a page is written in, too: one import
__all__ += ["FullBatchMethod", "Method", "OpenRun", "Outcome", "UniformIterate"]
__all__ += ["stddev_of_batches", "stddev_of_gradients"]

P = TypeVar("P", bound=FiniteSum)
T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """The result of a walk, one row per repetition; the fields are those of ``Run``.

    Attributes:
        title, metric, steps: None for those of the algorithm.
    """

    output: Array
    outputs: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    output_step: NDArray[np.int64] | None = None
    measured: Mapping[str, Array] = field(default_factory=dict)
    parameters: Mapping[str, float] = field(default_factory=dict)
    title: str | None = None
    metric: str | None = None
    steps: int | None = None


class UniformIterate:
    """The iterate of a random index, drawn before the walk, so that it is kept when the walk passes it.

    Attributes:
        index: R, uniform on first, ..., first + T - 1, but that it is first + T with the probability ``ends``; shape
        (R,). point: x_R, shape (R, p), as soon as the walk has passed it.
    """

    def __init__(
        self, generators: Sequence[np.random.Generator], steps: int, dimension: int, first: int, ends: float = 0.0
    ) -> None:
        self.index = uniform_steps(generators, steps) + (first - 1)
        if ends:
            self.index[np.array([generator.random() for generator in generators]) < ends] = first + steps
        self.point = np.empty((len(generators), dimension))
        self._rows: dict[int, list[int]] = {}
        for row, step in enumerate(self.index.tolist()):
            self._rows.setdefault(step, []).append(row)

    def visit(self, step: int, x: Array) -> None:
        """Keep the rows of x whose index this step is."""
        chosen = self._rows.get(step)
        if chosen is not None:
            self.point[chosen] = x[chosen]


class OpenRun:
    """A run in progress: the only access of a walk to randomness and to the records.

    A walk asks oracles, which write the ledger, and moves by their noisy answers alone. What else it learns of the
    records (``exact``, and the exact part of an answer) is ``Unreleased``: it goes to ``measure`` or into
    ``Outcome.measured``, as it is not private, or to ``choose`` and ``released``, which are oracles; nowhere else.

    Attributes:
        problem: The problem to minimise.
        generators: One stream per repetition.
        ledger: The ledger of one repetition.
        noise: Kind of noise that oracles draw.
        relation: Between neighbours, for choices that are made for one.
    """

    def __init__(
        self,
        problem: FiniteSum,
        generators: Sequence[np.random.Generator],
        ledger: OpenLedger,
        noise: Kind = "gaussian",
        relation: Relation = Relation.REPLACE_ONE,
    ) -> None:
        self.problem, self.generators, self.ledger = problem, generators, ledger
        self.noise: Kind = noise
        self.relation = relation
        self.timings: dict[str, float] = {}
        self._recorders: dict[str, Recorder] = {}
        self._gatherings: list[Gathering] = []
        self._clock = time.perf_counter()

    @property
    def repetitions(self) -> int:
        """The number of repetitions, R."""
        return len(self.generators)

    def repeated(self, point: Array) -> Array:
        """Return one row per repetition, shape (R, p), each the same point."""
        return np.tile(point, (self.repetitions, 1))

    def uniform_iterate(self, steps: int, first: int = 1, ends: float = 0.0) -> UniformIterate:
        """Draw which of T iterates is returned, uniformly; or the one after them, with the probability ``ends``."""
        return UniformIterate(self.generators, steps, self.problem.dimension, first, ends)

    def steps(self, count: int, first: int = 1) -> Iterator[int]:
        """Yield the numbers of T steps, from the first on: the one place where a walk may be watched (``progress``)."""
        done = max(first, 1) - 1
        for made in range(1, count + 1):
            yield first + made - 1
            told(done + made, done + count, self.ledger)

    def lap(self, activity: str) -> None:
        """Write down the seconds since the last lap as those of an activity."""
        now = time.perf_counter()
        self.timings[activity] = now - self._clock
        self._clock = now

    # --- what may be asked ------------------------------------------------------------------------

    def gradients(
        self,
        noise_multiplier: Fraction,
        *,
        of: HasGradients | None = None,
        memory: Gradients | None = None,
        ledger: Records | None = None,
    ) -> GradientOracle:
        """Return the mean gradients of all records (``of`` a part of them, written into a ledger of their own)."""
        asked, pen = self.problem if of is None else of, self.ledger if ledger is None else ledger
        return GradientOracle(asked, noise_multiplier, self.generators, pen, self.noise, gradients=memory)

    def batch_gradients(
        self,
        sampling: Scheme,
        noise_multiplier: Fraction,
        *,
        of: FiniteSum | None = None,
        memory: Gradients | None = None,
    ) -> GradientOracle | BatchGradientOracle | VisitGradientOracle:
        """Return mean gradients of random batches, or of one after the other; of all records without sampling."""
        if sampling is None:
            return self.gradients(noise_multiplier, of=of, memory=memory)
        asked = self.problem if of is None else of
        if isinstance(sampling, Visited):
            return VisitGradientOracle(asked, sampling, noise_multiplier, self.generators, self.ledger, self.noise)
        return BatchGradientOracle(asked, sampling, noise_multiplier, self.generators, self.ledger, self.noise)

    def correlated_gradients(self, scheme: Correlated, noise_multiplier: Fraction) -> CorrelatedGradientOracle:
        """Return the mean gradients of one group after the other, under noise that a matrix correlates."""
        return CorrelatedGradientOracle(
            self.problem, scheme, noise_multiplier, self.generators, self.ledger, self.noise
        )

    def differences(
        self,
        noise_multiplier: Fraction,
        *,
        of: HasDifferences | None = None,
        sampling: Sampling = None,
        memory: Gradients | None = None,
        ledger: Records | None = None,
        kept: Fraction = Fraction(1),
    ) -> GradientDifferenceOracle:
        """Return differences of mean gradients at two points, with ``kept`` of the second."""
        asked, pen = self.problem if of is None else of, self.ledger if ledger is None else ledger
        return GradientDifferenceOracle(
            asked, noise_multiplier, self.generators, pen, self.noise, sampling, memory, kept
        )

    def path_gradients(
        self, noise_multiplier: Fraction, length: Fraction, memory: Gradients | None = None
    ) -> PathGradientOracle:
        """Return the mean gradients of all records along one path per repetition, no longer than ``length``."""
        return PathGradientOracle(self.problem, noise_multiplier, length, self.generators, self.ledger, memory)

    def hessians(self, noise_multiplier: Fraction) -> HessianOracle:
        """Return the mean Hessians of all records."""
        rank = hessian_rank(self.problem)
        return HessianOracle(self.problem, noise_multiplier, self.generators, self.ledger, rank, self.noise)

    def hessian_products(self, noise_multiplier: Fraction) -> HessianProductOracle:
        """Return the mean Hessians of all records times a direction."""
        return HessianProductOracle(self.problem, noise_multiplier, self.generators, self.ledger, self.noise)

    def quantile_clipped(
        self, noise_multiplier: Fraction, share: Fraction, sampling: Sampling = None
    ) -> QuantileClippedOracle:
        """Return mean gradients clipped at a changing norm, and the number below it, in one release."""
        return QuantileClippedOracle(
            self.problem, sampling, noise_multiplier, share, self.generators, self.ledger, self.noise
        )

    def choose(
        self,
        scores: Array,
        epsilon: Fraction,
        sensitivity: Fraction,
        method: WhichChoice = "exponential",
        parts: Callable[[int], Iterable[Array]] | None = None,
        public: Array | None = None,
        ledger: Records | None = None,
        rows: NDArray[np.bool_] | None = None,
    ) -> NDArray[np.int64]:
        """Return one candidate per repetition, chosen privately by the scores, shape (R, N): see ``oracles.choose``.

        Where some ``rows`` of repetitions choose only, the scores are theirs, and so are the choices.

        Secure noise needs the ``parts`` of n times the scores, one record's each, in [-C, C] where the sensitivity is
        f C/n, and what is ``public`` in n times the scores: see ``secured_choice``.
        """
        pen = self.ledger if ledger is None else ledger
        if self.noise == "secure":
            if parts is None:
                raise UnsupportedMechanism("secure choices need records' parts of the scores, which are not available")
            records = self.problem.records
            bound = sensitivity * records / self.relation.sensitivity_factor
            terms = (scores.shape, choice(epsilon, self.relation, method), sensitivity, method)
            about = Scored(opened(scores), to_float(2 * sensitivity / epsilon, "up"), records)
            question = Question("choice", (), terms, self.generators, pen, about)
            answer = partial(secured_choice, parts, self.repetitions, bound, public, epsilon, self.relation, method)
            return answered(question, partial(answer, pen))
        return choose(
            scores,
            records=self.problem.records,
            epsilon=epsilon,
            sensitivity=sensitivity,
            relation=self.relation,
            generators=self.generators if rows is None else of_rows(self.generators, rows),
            ledger=pen,
            method=method,
        )

    def released(self, mechanism: Callable[..., T], *values: Array | None) -> T:
        """Return the output of a mechanism that draws from ``generators`` and writes the ledger itself.

        It gets the values opened. No guard looks inside: that what it returns is as private as it writes is to be
        proven, and tested, on its own page.
        """
        question = Question("mechanism", (), (), self.generators, self.ledger)
        return answered(question, partial(mechanism, *map(opened, values)))

    # --- what is measured, and not private --------------------------------------------------------

    def exact(self, X: Array) -> tuple[Array, Array]:
        """Return F, shape (R,), and ∇F, shape (R, p), at every row: unreleased."""
        return computed(in_batches, self.problem, X)

    def measure(self, **values: Array) -> None:
        """Record one number per repetition under each name, once a step."""
        for name, numbers in values.items():
            self._recorder(name).add(opened(numbers))

    def measured_by(self, function: Callable[..., Mapping[str, Array]]) -> Callable[..., None]:
        """Return a function to call once a step with arrays of R rows, which records ``function`` of them.

        It is the same as ``measure(**computed(function, ...))``, but that the function is called for many steps at
        once, with all their rows: its result for a row (a number under each name, used here only) must not depend on
        other rows. A step then costs no more than keeping its arrays.
        """
        self._settle()
        gathering = Gathering(function)
        self._gatherings.append(gathering)

        def measure(*arrays: Array) -> None:
            if gathering.add(*map(opened, arrays)):
                self._record(gathering)

        return measure

    def forget(self, *names: str) -> None:
        """Drop the measurements so far under these names, or under all."""
        self._settle()
        for name in names or tuple(self._recorders):
            self._recorders.pop(name, None)

    def trace(self) -> Trace:
        """Return the measured values, by name."""
        self._settle()
        return Trace(**{name: recorder.series() for name, recorder in self._recorders.items()})

    def _settle(self) -> None:
        for gathering in self._gatherings:
            self._record(gathering)

    def _record(self, gathering: Gathering) -> None:
        for name, values in gathering.made().items():
            self._recorder(name).extend(values)

    def _recorder(self, name: str) -> Recorder:
        if name not in self._recorders:
            self._recorders[name] = Recorder(self.repetitions)
        return self._recorders[name]


class Method(ABC, Generic[P]):
    """An algorithm. Common fields and arguments are documented here; its own page has the others.

    Args:
        problem: The problem to minimise. Plans and bounds use its public constants, and no record.
        epsilon: ε > 0 of the budget.
        delta: δ in (0, 1) of the budget; should be well below 1/n.
        relation: "replace-one" (the papers') or "add-or-remove-one".
        steps: T, a positive whole number; None for the best number for the bound.
        noise_multiplier: Greater than 0, exact: the standard deviation of the noise on a sum over records, in units of
            the largest norm of one record's contribution.
        step_size: Greater than 0, and fixed in advance: a step size that is chosen from the data would be another
            release.
        budget: The budget with which ``run`` compares its ledger; None to compare it with the plan only.
        release: The releases that the budget is for: "every-iterate", all noisy answers; or "last-iterate", the output
            alone, if nothing else that depends on the records is published.
        noise: "gaussian" for experiments, "secure" for a release, with the same accounting (see
            ``dpbounds.algorithms.secure_noise``; it needs the extra of that name, and is not repeatable).

    ``calibrated`` returns the algorithm with the smallest proven noise for a budget. It raises ``InvalidValue`` if a
    number is not allowed, the problem lacks a constant or has too few records, or arguments contradict each other.
    ``bound`` does the same if the bound does not hold. It never exceeds the trivial bound, which holds at any point (no
    gradient is longer than G, ...): if that is smaller than the theorem's, it is returned, and ``method`` of the
    enclosure begins with "trivial".
    """

    __slots__ = ()

    title: ClassVar[str]
    metric: ClassVar[str]
    activity: ClassVar[str] = "descent"

    @property
    def steps(self) -> int:
        """T."""
        return 1

    @property
    def budget(self) -> PrivacyBudget | None:
        """The budget with which ``run`` compares its ledger."""
        return None

    @property
    def relation(self) -> Relation:
        """The neighbouring relation: that of the budget, or the papers' own without one."""
        return Relation.REPLACE_ONE if self.budget is None else self.budget.relation

    @property
    def noise(self) -> Kind:
        """The kind of noise of the oracles."""
        return "gaussian"

    @property
    def release(self) -> WhichRelease:
        """The iterates that the budget is for."""
        return "every-iterate"

    def plain_descent(self, problem: P) -> PlainStep:
        """Return the updates of a run that is plain noisy gradient descent, and returns the last iterate.

        Such a run is watched, and its ledger has the ε of all iterates and that of the last iterate alone.

        Raises:
            UnsupportedMechanism, InvalidValue: It is not, or a required constant of the problem is unknown.
        """
        why = f"{type(self).__name__} is not plain noisy gradient descent, whose last iterate is known to spend less"
        raise UnsupportedMechanism(f"{why}: count all iterates")

    @property
    def noise_drawn(self) -> str:
        """Describe how its randomness is drawn."""
        return secure_noise.how_drawn(self.noise)

    @property
    @abstractmethod
    def planned(self) -> Mechanism:
        """Return the releases of a run as a mechanism for the accountants: all that it returns, together."""

    @abstractmethod
    def walk(self, problem: P, run: OpenRun) -> Outcome:
        """Run the pseudo-code, all repetitions at once."""

    def run(self, problem: P, seed: int | None = None, repetitions: int = 32, *, guarded: bool = False) -> Run:
        """Run the algorithm ``repetitions`` times at once, with independent randomness.

        Args:
            problem: The problem to minimise.
            seed: The seed of all streams; repetition r has its own stream, independent of the others. None takes one
                from the operating system, and does not keep it. A given seed, or two runs with it, allow to subtract
                the noise: the certified ε is then conditional, and the run records this.
            repetitions: The number of repetitions.
            guarded: Whether a replay check, which has only the releases, accompanies the run, and the noise is tested
                from outside (``dpbounds.algorithms.guards``). The run is the same; it takes about three times as long,
                and ``tested`` lists the faults that could have been detected.

        Returns:
            The run. ``output[r]`` and ``outputs[...][r]`` are private together (one repetition, at the ledger's cost);
            the trace and the measurements are not.

        Raises:
            InvalidValue: Seed or repetitions are not allowed, the problem does not fit, or the walk diverged (or left
                the ball of a landscape).
            BudgetExceeded: The ledger shows more than was planned, or not all releases; or a guard found a fault.
        """
        return self._run(problem, seed, repetitions, guarded)

    def _run(self, problem: P, seed: int | None, repetitions: int, guarded: bool = False, **more: Any) -> Run:
        """Run, with the further arguments of a walk."""
        if guarded:
            return under_guard(lambda on: self._run(on, seed, repetitions, **more), problem)
        known = None if self.noise == "secure" else checked_seed(seed)  # privacy does not rest on secure noise's seed
        run = OpenRun(problem, streams(seed, repetitions), self._ledger(), self.noise, self.relation)
        run.ledger.seeded = known is not None
        plain = None if is_shadow() else self._plain(problem)
        watching = nullcontext() if plain is None else watched_by(Plain(plain))
        with (
            _libraries(len(sys.modules)).limit(limits=1, user_api="blas"),
            counted(run.generators, run.ledger),
            watching as watcher,
        ):
            made = self.walk(problem, run, **more)
        if plain is not None and watcher is not None:
            watcher.demand_last(made.output, dict(made.outputs))
            run.ledger.descent = plain.declared
        run.lap(self.activity)
        demand_released("what was returned", made.output, made.output_step, *made.outputs.values())
        demand_released("the parameters", *made.parameters.values())
        budget = self._kept_budget()
        ledger, spent = settled(run.ledger, self.planned, budget, self.release)
        run.lap("accounting")
        return Run(
            algorithm=self.title if made.title is None else made.title,
            output=made.output,
            outputs=made.outputs,
            output_step=made.output_step,
            trace=run.trace(),
            measured=opened(dict(made.measured)),
            metric=self.metric if made.metric is None else made.metric,
            ledger=ledger,
            budget=budget,
            spent=spent,
            steps=self.steps if made.steps is None else made.steps,
            parameters=made.parameters,
            seed=checked_seed(seed),
            timings=run.timings,
            noise_drawn=self.noise_drawn if self.noise == "secure" else drawn_by(self.noise_drawn, known),
            utility=None if getattr(problem, "has_objective", True) else NO_UTILITY,
            release=self.release,
            chosen=run.ledger.chosen,
        )

    def _plain(self, problem: P) -> PlainStep | None:
        """Return the updates, if known, to save work; ``plain_descent`` has the reason if not."""
        try:
            return self.plain_descent(problem)
        except (InvalidValue, UnsupportedMechanism):
            if self.release == "last-iterate":
                raise
            return None

    def _ledger(self) -> OpenLedger:
        return OpenLedger()

    def _kept_budget(self) -> PrivacyBudget | None:
        """Return the budget for the comparison with the ledger; None for published variants that exceed it."""
        return self.budget


@lru_cache(maxsize=1)
def _libraries(_modules: int) -> ThreadpoolController:
    """Return the libraries with threads of their own; the search takes milliseconds, once per number of modules."""
    return ThreadpoolController()


def under_guard(run: Callable[[P], Run], problem: P) -> Run:
    """Return the run on a problem with all guards on, see ``dpbounds.algorithms.guards.guarded``."""
    from dpbounds.algorithms.guards.guarded import guarded  # its statistics take a second to load

    return guarded(run, problem)


class FullBatchMethod(Method[P]):
    """T releases of mean gradients of all records, with one noise multiplier.

    T of them with multiplier z √T are exactly one with multiplier z, so that a single certified calibration serves
    every T: σ² = (z G/n)² T.
    """

    __slots__ = ()

    noise_multiplier: Fraction
    noise: WhichNoise

    @property
    def planned(self) -> Mechanism:
        """Return the releases of a run as a mechanism for the accountants: all iterates together."""
        return Gaussian(self.noise_multiplier) ** self.steps

    def noise_stddev(self, problem: P) -> Fraction:
        """Return σ, the standard deviation of the noise on every coordinate of the mean gradient."""
        return stddev_of_gradients(problem, self.noise_multiplier)


def stddev_of_gradients(problem: HasGradients, noise_multiplier: Fraction) -> Fraction:
    """Return the standard deviation that is drawn on the mean gradient of all records, exact."""
    return Fraction(GradientOracle(problem, noise_multiplier, (), OpenLedger()).noise_stddev)


def stddev_of_batches(problem: FiniteSum, sampling: Scheme, noise_multiplier: Fraction) -> Fraction:
    """Return the standard deviation (or radius) that is drawn on a batch's mean gradient, exact."""
    return Fraction(OpenRun(problem, (), OpenLedger()).batch_gradients(sampling, noise_multiplier).noise_stddev)
