"""Runs: output, releases and measurements of an algorithm."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbounds.algorithms.ledger import Ledger, OpenLedger, PrivacyBudget, WhichRelease
from dpbounds.algorithms.noise import NOISE_DRAWN
from dpbounds.displayed import Displayed, Sheet
from dpbounds.errors import InvalidValue
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.privacy.accountants.certified import Account, account
from dpbounds.privacy.mechanisms import Mechanism

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """One measured quantity, averaged over repetitions and over steps.

    Attributes:
        per_step: Mean over the repetitions, shape (T,).
        per_repetition: Mean over the steps, shape (R,): independent samples, one per repetition. For a quantity at the
            output x_R with R uniform on 1..T it is that repetition's average over R.
    """

    per_step: Array
    per_repetition: Array

    @property
    def mean(self) -> float:
        """Mean over repetitions and steps."""
        return float(self.per_repetition.mean())


class Trace(Mapping[str, Series]):
    """The measurements along a run, by name; ``trace["objective"]`` is also ``trace.objective``.

    It uses exact answers and is outside the privacy guarantee: do not publish it. Names that several algorithms use:

    - ``objective``: F^r(x_k)
    - ``noise``: ‖e_k‖², the noise that was really in the answer that was used
    - ``exact``, ``noisy``: of projected gradient descent ‖P_C(x_k, ∇F(x_k), γ)‖², the stationarity measure, and
      ‖P_C(x_k, ∇F(x_k) + e_k, γ)‖², of the steps that were taken

    >>> Trace(objective=Series(np.ones(2), np.ones(3))).objective.mean
    1.0
    """

    __slots__ = ("_series",)

    def __init__(self, **series: Series) -> None:
        self._series = dict(series)

    def __getitem__(self, name: str) -> Series:
        return self._series[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._series)

    def __len__(self) -> int:
        return len(self._series)

    def __getattr__(self, name: str) -> Series:
        if name != "_series" and name in self._series:
            return self._series[name]
        raise AttributeError(f"nothing called {name!r} was measured")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._series]


_STEPS_HELD = 64  # number of steps that are averaged at a time, as each call of NumPy costs a microsecond
_NUMBERS_HELD = 1 << 14  # in one array of a ``Gathering``, so that it stays in the processor's cache


class Recorder:
    """Collects one number per repetition at every step; ``series`` returns the averages."""

    def __init__(self, repetitions: int) -> None:
        self._per_step: list[Array] = []
        self._rows = np.zeros((1 + _STEPS_HELD, repetitions))  # the sums of what was averaged, then one row per step
        self._next = 1

    def add(self, values: Array) -> None:
        """Take the values of the next step, shape (R,)."""
        self._rows[self._next] = values
        self._next += 1
        if self._next > _STEPS_HELD:
            self._average()

    def extend(self, values: Array) -> None:
        """Take the values of the next steps, 64 at most, shape (k, R)."""
        self._average()
        self._next += len(values)
        self._rows[1 : self._next] = values

    def series(self) -> Series:
        """Return the averages so far."""
        self._average()
        per_step = np.concatenate(self._per_step)
        return Series(_frozen(per_step), _frozen(self._rows[0] / len(per_step)))

    def _average(self) -> None:
        held, self._next = self._rows[: self._next], 1
        self._per_step.append(held[1:].sum(axis=1) / held.shape[1])
        held[0] = np.add.accumulate(held)[-1]  # in their order, for which ``sum`` does not stand


class Gathering:
    """Buffer of arrays of several steps, for which a function measures all steps together.

    Args:
        function: Maps arrays with N rows to N numbers by name; a row's number depends on that row only.
    """

    def __init__(self, function: Callable[..., Mapping[str, Array]]) -> None:
        self._function = function
        self._held: list[Array] = []
        self._steps = self._next = 0

    def add(self, *arrays: Array) -> bool:
        """Take the arrays of the next step, R rows each; whether there is no room for another step."""
        if not self._steps:
            self._steps = min(_STEPS_HELD, max(1, _NUMBERS_HELD // max(each.size for each in arrays)))
            self._held = [np.empty((self._steps, *each.shape)) for each in arrays]
        for held, each in zip(self._held, arrays, strict=True):
            held[self._next] = each
        self._next += 1
        return self._next == self._steps

    def made(self) -> dict[str, Array]:
        """Return the function's values for the steps since the last call, shape (k, R) each."""
        count, self._next = self._next, 0
        if not count:
            return {}
        found = self._function(*(held[:count].reshape(-1, *held.shape[2:]) for held in self._held))
        return {name: values.reshape(count, -1) for name, values in found.items()}


@dataclass(frozen=True, slots=True)
class NoiseTested:
    """The faults that a test of noise could have detected.

    Attributes:
        kind: The kind of the answers, with the number of values in each: "gradient 4".
        numbers: Number of values of noise that were tested together.
        seen_below: Noise of this kind that is all smaller than it should be by a factor below this one is found with a
            probability of at least ``SEEN``; rounded down. What concerns a part of the numbers needs more of them. None
            where the test is of a distribution and not of a size (noise in a ball, choices).
    """

    kind: str
    numbers: int
    seen_below: float | None


SEEN = 0.999  # with which probability a guard sees what is below its factor


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class Run(Displayed):
    """A finished run of R independent repetitions.

    Attributes:
        algorithm: The name of the algorithm.
        output: The returned points, shape (R, p): each repetition is private, with the ledger's ε. NaN where the
            algorithm has found no point.
        outputs: Other releases, by name, one row per repetition; also private.
        output_step: The index of the iterate that each repetition returned, shape (R,), numbered as in the algorithm
            (from 1; SPIDER from 0; 0 if no point was found); None if it is not defined.
        trace: Measurements along the run (not private).
        measured: Measurements at the output, by name, shape (R,) each (not private).
        metric: The name in ``measured`` or in ``trace`` that the algorithm's theorem bounds.
        ledger: The releases of *one* repetition.
        budget: The planned budget, or None if only a noise level was given.
        spent: Certified interval of the ledger's ε at the budget's δ and relation (None without a budget).
        release: What may be published for it: "every-iterate", so that any function of the noisy answers may be
            published, or "last-iterate": ``output``, and nothing else that depends on the records.
        steps: T.
        parameters: The parameters in use, by name (``step_size`` is the exact double).
        seed: The seed of all streams, if one was given; then the certified ε is subject to ``ledger_format.CONDITION``.
            None if it came from the operating system and was not kept.
        timings: Seconds by activity.
        noise_drawn: A description of the noise, for a privacy statement.
        utility: Why no bound on utility applies, in words; None if one may apply.
        tested: For a guarded run: the faults that the tests of its noise could have detected.
        chosen: If releases are chosen adaptively, so that the ledger is an upper bound: the largest number of releases,
            in words for a privacy statement. Empty if the ledger lists the releases.
    """

    algorithm: str
    output: Array
    trace: Trace
    metric: str
    ledger: Ledger
    steps: int
    seed: int | None
    timings: Mapping[str, float]
    budget: PrivacyBudget | None = None
    spent: Enclosure | None = None
    outputs: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    output_step: NDArray[np.int64] | None = None
    measured: Mapping[str, Array] = field(default_factory=dict)
    parameters: Mapping[str, float] = field(default_factory=dict)
    noise_drawn: str = NOISE_DRAWN
    utility: str | None = None
    release: WhichRelease = "every-iterate"
    tested: tuple[NoiseTested, ...] = ()
    chosen: str = ""

    def __post_init__(self) -> None:
        if self.metric not in self.measured and self.metric not in self.trace:
            allowed = ", ".join((*self.measured, *self.trace)) or "something that was measured"
            raise InvalidValue("metric", repr(self.metric), f"one of {allowed}")
        rows = {len(array) for array in (self.output, *self.outputs.values(), *self.measured.values())}
        if rows != {self.repetitions}:
            raise InvalidValue("repetitions", sorted(rows), "as many rows in every output and measurement")
        for array in (self.output, self.output_step, *self.outputs.values(), *self.measured.values()):
            if array is not None:
                array.flags.writeable = False

    @property
    def repetitions(self) -> int:
        """The number R of repetitions."""
        return int(self.output.shape[0])

    @property
    def samples(self) -> Array:
        """The metric, one independent number per repetition, shape (R,), to compare with a bound."""
        return self.measured[self.metric] if self.metric in self.measured else self.trace[self.metric].per_repetition

    @property
    def step_size(self) -> float:
        """γ, the exact double that was used; ``InvalidValue`` where the algorithm has none."""
        if "step_size" not in self.parameters:
            raise InvalidValue("parameters", ", ".join(self.parameters), f"a step size, which {self.algorithm} has not")
        return self.parameters["step_size"]

    def statement(self) -> str:
        """Return a privacy statement, at the budget's δ and relation; errors as ``certificate``."""
        from dpbounds.privacy.publishing.statements import statement

        return statement(self._account(), noise_drawn=self.noise_drawn, chosen=self.chosen)

    def certificate(self) -> dict[str, object]:
        """Return the certificate of one repetition's ledger (of its published part), for ``dpbounds check``.

        Raises:
            InvalidValue: There is no budget, and so no δ.
            UnsupportedMechanism: The releases have no certificate, or were chosen as the run went.
        """
        from dpbounds.privacy.publishing import certificates

        return certificates.certificate(self._account())

    def _account(self) -> Account:
        if self.budget is None:
            raise InvalidValue("budget", None, "a budget, whose delta and relation are asked about", "run a calibrated")
        return account(self.ledger.published(self.release), delta=self.budget.delta, relation=self.budget.relation)

    def _sheet(self) -> Sheet:
        title, *lines = str(self).splitlines()
        released = [line.strip() for line in str(self.ledger).splitlines()]
        told = [
            (line[2:13].strip(), line[13:])
            for line in lines
            if line[2:13].strip() in ("spent", "measured", "noise", "utility")
        ]
        return Sheet(title, tuple(told), ("released",), [(line,) for line in released])

    def __str__(self) -> str:
        seconds = sum(self.timings.values())
        spent = "no budget was given; ask ledger.spent(delta)"
        if self.budget is not None:
            spent = f"epsilon in {self.spent}, within the budget {self.budget}"
        numbers = "".join(f", {name.replace('_', ' ')} {value:.6g}" for name, value in self.parameters.items())
        measured = [f"{name} {float(values.mean()):.4g}" for name, values in self.measured.items()]
        for name, series in self.trace.items():
            ends = f" ({series.per_step[0]:.4g} -> {series.per_step[-1]:.4g})" if len(series.per_step) else ""
            measured.append(f"{name} {series.mean:.4g}{ends}")
        return "\n".join(
            (
                f"{self.algorithm}: {self.repetitions} repetitions of {self.steps} steps{numbers}, {seconds:.3g} s",
                f"  released   {self.ledger}",
                f"  spent      {spent} (per repetition)",
                *([] if self.release == "every-iterate" else [f"  publish    {ONLY_THE_LAST}"]),
                f"  measured   means: {'; '.join(measured)}; not private",
                f"  noise      {self.noise_drawn}",
                *([] if self.utility is None else [f"  utility    {self.utility}"]),
            )
        )


ONLY_THE_LAST = (
    "the output alone; not to be published: any other iterate or noisy answer, losses and other measurements, states "
    "of the optimiser"
)
NO_UTILITY = "no bound applies: clipped gradients are those of no function; privacy is certified all the same"

_SHADOW: ContextVar[bool] = ContextVar("shadow", default=False)


@contextmanager
def shadowing() -> Iterator[None]:
    """Mark runs inside the ``with`` block as replays, which release nothing and settle no ledger."""
    token = _SHADOW.set(True)
    try:
        yield
    finally:
        _SHADOW.reset(token)


def is_shadow() -> bool:
    """Return whether a run made here is a shadow."""
    return _SHADOW.get()


def settled(
    pen: OpenLedger, planned: Mechanism, budget: PrivacyBudget | None, release: WhichRelease = "every-iterate"
) -> tuple[Ledger, Enclosure | None]:
    """Close the ledger of a run and compare it with its plan and its budget: how every algorithm ends.

    The plan is of all that is released; the budget is for all of it, or for the last iterate alone.

    Returns:
        The ledger, and the ε that it spends at the budget's δ and relation (None without a budget).

    Raises:
        BudgetExceeded: Less noise was added than written down, or more was released than planned or budgeted.
        NotCertified: The enclosure of ε is too wide to tell.
        UnsupportedMechanism: A release is of a kind that was not planned, or has no proven analysis.
    """
    if is_shadow():
        return Ledger(), None
    ledger = pen.close()
    ledger.check_plan(planned)
    return ledger, None if budget is None else ledger.check(budget, release)


def _frozen(values: Array) -> Array:
    values.flags.writeable = False
    return values
