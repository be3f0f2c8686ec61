"""One cell of a sweep: a task, its parameters and a seed, and nothing else that its numbers depend on.

A task is a plain function, named by ``module:function``, from parameters and a seed to named numbers. Because a cell
says all of that as text, it can run anywhere, be stored under its own key, and be run again.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import math
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from dpbounds import documents
from dpbounds.errors import BudgetExceeded, InvalidValue, NotCertified, UnsupportedMechanism

Value = int | float | str | bool | None

NO_PROOF = (NotCertified, UnsupportedMechanism)
"""What a run raises about which nothing can be said either way."""


class NotMeasured(InvalidValue):
    """A run broke down: what it gave is no number, or nothing of which a logarithm can be taken."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell.

    Attributes:
        task: ``module:function``; called with the parameters as keywords, and ``seed``.
        parameters: (name, value) in order of name; whole numbers, floats, text, booleans or None.
        seed: At least 0.
    """

    task: str
    parameters: tuple[tuple[str, Value], ...]
    seed: int

    @classmethod
    def of(cls, task: str, seed: int = 0, **parameters: Value) -> Cell:
        """A cell; parameters in any order.

        >>> Cell.of("math:pow", seed=1, y=2, x=3).key
        '{"parameters": {"x": 3, "y": 2}, "seed": 1, "task": "math:pow"}'
        """
        if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
            raise InvalidValue("seed", seed, "a whole number at least 0")
        if task.count(":") != 1:
            raise InvalidValue("task", task, "module:function")
        for name, value in parameters.items():
            if not (value is None or isinstance(value, int | float | str)):
                raise InvalidValue(name, value, "a number, text, a boolean or None")
        return cls(task, tuple(sorted(parameters.items())), seed)

    @property
    def key(self) -> str:
        """The cell as text: under this its result is stored."""
        content = {"task": self.task, "parameters": dict(self.parameters), "seed": self.seed}
        return json.dumps(content, sort_keys=True, ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_key(cls, key: str) -> Cell:
        """The cell of a key."""
        content = documents.parsed(key, "key")
        return cls.of(content["task"], content["seed"], **content["parameters"])

    @property
    def entropy(self) -> int:
        """What the cell's random numbers start from: a digest of task, parameters and seed.

        Two cells of a sweep never share a stream, whichever worker runs them and in which order.
        """
        return int.from_bytes(hashlib.sha256(self.key.encode()).digest()[:16], "big")


@dataclass(frozen=True, slots=True)
class Result:
    """What a cell gave.

    Attributes:
        key: Of the cell.
        numbers: Named numbers, or vectors of them (one per repetition); none where the run was refused.
        seconds: How long it took.
        refused: Why a ledger refused the run (less noise than written down, more spent than planned); None where it
            did not. That is a finding about the algorithm, and as final as numbers are.
        unproven: Why nothing can be said of the run (a certificate did not close, no analysis is known); None where
            there are numbers or a refusal. That is no finding, and not final: a later sweep tries again.
    """

    key: str
    numbers: Mapping[str, float | list[float]]
    seconds: float
    refused: str | None = None
    unproven: str | None = None


def vector(result: Result, name: str) -> list[float]:
    """A result's numbers of that name, as a list.

    Raises:
        BudgetExceeded: There are none, because the run was refused.
        NotCertified: There are none, because nothing could be proven of the run.
        NotMeasured: One of them is NaN. Infinite ones may mean something (that nothing is proven), and pass.

    >>> vector(Result("{}", {"gap": 2.0}, 0.0), "gap")
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
    """A result's single number of that name."""
    return vector(result, name)[0]


def parameter(result: Result, name: str) -> float:
    """A number among the parameters of a result's cell."""
    value = dict(Cell.from_key(result.key).parameters)[name]
    if value is None:
        raise InvalidValue(name, value, "a number", "the cell has a parameter of that name without a value")
    return float(value)


def text(result: Result, name: str) -> str:
    """A parameter of a result's cell, as text."""
    return str(dict(Cell.from_key(result.key).parameters)[name])


def task(result: Result) -> str:
    """The name of the function that gave a result, without its module."""
    return Cell.from_key(result.key).task.partition(":")[2]


_ALONE = threading.Lock()


def run(cell: Cell) -> Result:
    """Run a cell in this process, on one thread; of several threads that ask, one after the other.

    A run that its ledger refuses is a result, too, and so is one of which nothing can be proven: it says so, and the
    other cells of a sweep go on.

    Raises:
        InvalidValue: The task does not exist, or returns something else than named numbers.
    """
    module, _, name = cell.task.partition(":")
    try:
        task = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError):
        raise InvalidValue("task", cell.task, "a function that can be imported") from None
    started = time.perf_counter()
    try:
        # the limit is the process's and not the thread's: the first to leave would lift it for the others
        with _ALONE, threadpool_limits(limits=1):
            numbers = task(**dict(cell.parameters), seed=cell.entropy)
    except BudgetExceeded as error:
        return Result(cell.key, {}, time.perf_counter() - started, refused=str(error))
    except NO_PROOF as error:
        return Result(cell.key, {}, time.perf_counter() - started, unproven=str(error))
    return Result(cell.key, _plain(cell, numbers), time.perf_counter() - started)


def _plain(cell: Cell, numbers: Any) -> dict[str, float | list[float]]:
    if not isinstance(numbers, Mapping):
        raise InvalidValue("result", type(numbers).__name__, f"named numbers, from the task {cell.task}")
    plain: dict[str, float | list[float]] = {}
    for name, value in numbers.items():
        array = np.asarray(value, dtype=np.float64)
        if array.ndim > 1:
            raise InvalidValue("result", name, f"a number or a vector, from the task {cell.task}")
        plain[str(name)] = array.tolist()
    return plain


def grid(task: str, axes: Mapping[str, Sequence[Value]], seeds: Iterable[int] = (0,), **fixed: Value) -> list[Cell]:
    """Every combination of the axes and seeds.

    >>> [cell.parameters for cell in grid("math:pow", {"x": [1, 2]}, y=3)]
    [(('x', 1), ('y', 3)), (('x', 2), ('y', 3))]
    """
    repeated = list(seeds)
    return [
        Cell.of(task, seed, **fixed, **dict(zip(axes, values, strict=True)))
        for values in product(*axes.values())
        for seed in repeated
    ]
