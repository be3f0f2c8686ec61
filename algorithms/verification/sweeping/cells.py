"""One cell of a sweep: a task, its parameters and a seed, and nothing else that its numbers depend on.

A task is a plain function from parameters and a seed to named numbers. A cell knows it by a name that says nothing of
where the project's files lie; because a cell is text, it can run anywhere, be stored under its own key, and be run
again.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import math
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from dpbounds.errors import BudgetExceeded, InvalidValue, NotCertified, UnsupportedMechanism

Value = int | float | str | bool | None
Numbers = dict[str, float | list[float]]
Task = Callable[..., Mapping[str, float | list[float]]]

NO_PROOF = (NotCertified, UnsupportedMechanism)
"""What a run raises about which nothing can be said either way."""

_PACKAGE = __name__.removesuffix("sweeping.cells")
# A task's name seeds its random numbers and is in stores and exports: it must stay if code is moved or renamed.
_NAMES = "algorithms.verification.tasks."
_HOMES = {"examples": "attacks.every_example", "experiments": "experiments.runs"}  # others: studies.<that name>


class NotMeasured(InvalidValue):
    """A run broke down: its result is not a number, or has no logarithm where one is taken."""


def name_of(task: Task) -> str:
    """Return the stable name of a task: ``family:function`` behind a fixed prefix, or ``module:function`` elsewhere.

    >>> name_of(math.pow)
    'math:pow'
    """
    module = task.__module__
    if module.startswith(_PACKAGE):
        home = module.removeprefix(_PACKAGE)
        names = {home: name for name, home in _HOMES.items()}
        module = _NAMES + names.get(home, home.removeprefix("studies."))
    return f"{module}:{task.__name__}"


def task_named(name: str) -> Task:
    """Return the function that has this name, or ``InvalidValue``."""
    module, _, function = name.partition(":")
    if module.startswith(_NAMES):
        family = module.removeprefix(_NAMES)
        module = _PACKAGE + _HOMES.get(family, f"studies.{family}")
    try:
        task: Task = getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError):
        raise InvalidValue("task", name, "a function that can be imported") from None
    return task


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell.

    Attributes:
        task: The name of its task, see ``name_of``; called with the parameters as keywords, and ``seed``.
        parameters: (name, value) in order of name; whole numbers, floats, text, booleans or None.
        seed: At least 0.
    """

    task: str
    parameters: tuple[tuple[str, Value], ...]
    seed: int

    @classmethod
    def of(cls, task: Task | str, seed: int = 0, **parameters: Value) -> Cell:
        """Return a cell of a task, or of the task of that name; parameters in any order.

        >>> Cell.of("math:pow", seed=1, y=2, x=3).key
        '{"parameters": {"x": 3, "y": 2}, "seed": 1, "task": "math:pow"}'
        """
        if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
            raise InvalidValue("seed", seed, "a whole number at least 0")
        name = task if isinstance(task, str) else name_of(task)
        if name.count(":") != 1:
            raise InvalidValue("task", name, "module:function")
        for parameter, value in parameters.items():
            if not (value is None or isinstance(value, int | float | str)):
                raise InvalidValue(parameter, value, "a number, text, a boolean or None")
        return cls(name, tuple(sorted(parameters.items())), seed)

    @property
    def key(self) -> str:
        """The cell as text: under this its result is stored."""
        content = {"task": self.task, "parameters": dict(self.parameters), "seed": self.seed}
        return json.dumps(content, sort_keys=True, ensure_ascii=False, allow_nan=False)

    @property
    def entropy(self) -> int:
        """The start of the cell's random numbers: a digest of task, parameters and seed.

        Two cells of a sweep never share a stream, whichever worker runs them and in which order.
        """
        return int.from_bytes(hashlib.sha256(self.key.encode()).digest()[:16], "big")


@dataclass(frozen=True, slots=True)
class Result:
    """The numbers that a cell's task returned, or why there are none.

    Attributes:
        cell: The cell.
        numbers: Named numbers, or vectors of them (one per repetition); none where the run was refused.
        seconds: The time of the run.
        refused: Why a ledger refused the run (less noise than written down, more spent than planned); None where it
            did not. That is a finding about the algorithm, and as final as numbers are.
        unproven: Why nothing can be said of the run (a certificate did not close, no analysis is known); None where
            there are numbers or a refusal. That is not a finding, and not final: a later sweep tries again.
    """

    cell: Cell
    numbers: Mapping[str, float | list[float]]
    seconds: float
    refused: str | None = None
    unproven: str | None = None

    @property
    def task(self) -> str:
        """The name of the cell's task."""
        return self.cell.task

    @property
    def parameters(self) -> dict[str, Value]:
        """The parameters of the cell, by name."""
        return dict(self.cell.parameters)


def vector(result: Result, name: str) -> list[float]:
    """Return a result's numbers of that name, as a list.

    Raises:
        BudgetExceeded: There are none, because the run was refused.
        NotCertified: There are none, because nothing could be proven of the run.
        NotMeasured: One of them is NaN. Infinite ones may mean something (that nothing is proven), and pass.

    >>> vector(Result(Cell.of("math:pow"), {"gap": 2.0}, 0.0), "gap")
    [2.0]
    """
    if result.refused is not None:
        raise BudgetExceeded(result.refused)
    if result.unproven is not None:
        raise NotCertified(result.unproven)
    value = result.numbers[name]
    values = value if isinstance(value, list) else [value]
    if any(map(math.isnan, values)):
        raise NotMeasured(name, "NaN", "numbers", "the run broke down: nothing was measured")
    return values


def number(result: Result, name: str) -> float:
    """Return a result's single number of that name."""
    return vector(result, name)[0]


def parameter(result: Result, name: str) -> float:
    """Return a number among the parameters of a result's cell."""
    value = result.parameters[name]
    if value is None:
        raise InvalidValue(name, value, "a number", "the cell has a parameter of that name without a value")
    return float(value)


def text(result: Result, name: str) -> str:
    """Return a parameter of a result's cell, as text."""
    return str(result.parameters[name])


_ALONE = threading.Lock()


def run(cell: Cell) -> Result:
    """Run a cell in this process, on one thread; of several threads that ask, one after the other.

    A run that its ledger refuses is a result, too, and so is one of which nothing can be proven: it says so, and the
    other cells of a sweep go on.

    Raises:
        InvalidValue: The task does not exist, or returns something else than named numbers.
    """
    task = task_named(cell.task)
    numbers: Numbers = {}
    refused = unproven = None
    started = time.perf_counter()
    try:
        # the limit is the process's and not the thread's: the first to leave would lift it for the others
        with _ALONE, threadpool_limits(limits=1):
            numbers = _plain(cell, task(**dict(cell.parameters), seed=cell.entropy))
    except BudgetExceeded as error:
        refused = str(error)
    except NO_PROOF as error:
        unproven = str(error)
    return Result(cell, numbers, time.perf_counter() - started, refused, unproven)


def _plain(cell: Cell, numbers: Any) -> Numbers:
    if not isinstance(numbers, Mapping):
        raise InvalidValue(
            "result", type(numbers).__name__, f"a mapping of names to numbers, returned by the task {cell.task}"
        )
    plain: Numbers = {}
    for name, value in numbers.items():
        array = np.asarray(value, dtype=np.float64)
        if array.ndim > 1:
            raise InvalidValue("result", name, f"a number or a vector, from the task {cell.task}")
        plain[str(name)] = array.tolist()
    return plain
