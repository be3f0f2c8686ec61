"""Wang & Xu 2019, Figures 1 to 3 again: DP-GD at several ε, T and n, on their synthetic design and on Covertype.

The paper does not say how the gradient's norm was measured. Here it is the norm of the projected gradient, root mean
square over repetitions, at the noisy gradient (their Theorem 2 bounds it) and at the exact one (the stationarity of
the point). Steps are 1/(2L) and fixed: the paper takes TFOCS's, which look at the data unless fed private answers.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from functools import partial

from dpbounds.algorithms.verification.experiments.base import Experiment
from dpbounds.algorithms.verification.experiments.runs import projected_gradient
from dpbounds.algorithms.verification.experiments.sizes import exponent
from dpbounds.algorithms.verification.judging.planned_checks import by_size, cells
from dpbounds.algorithms.verification.sweeping.cells import Result, parameter, text, vector
from dpbounds.render.curves import Line, Panel

_TITLES = {"synthetic": "synthetic design, 10 000 × 100", "covertype": "Covertype, 10 000 × 54"}
_DATA = tuple(_TITLES)
_RECORDS = (1000, 2500, 5000, 10_000)
_LAST = 20  # steps whose mean is called the end of a path
_runs = partial(cells, projected_gradient, data=_DATA, delta="1e-3", repetitions=by_size(4, 32))


def _root_mean(result: Result, name: str) -> float:
    values = vector(result, name)
    return math.sqrt(sum(values) / len(values))


def _end(result: Result, name: str) -> float:
    path = vector(result, name)[-_LAST:]
    return math.sqrt(sum(value**2 for value in path) / len(path))


def _here(results: Sequence[Result], data: str) -> list[Result]:
    return [result for result in results if text(result, "data") == data]


def _paths(results: Sequence[Result], axis: str, label: str) -> tuple[Panel, ...]:
    def line(result: Result) -> Line:
        value, path = parameter(result, axis), vector(result, "exact_path")
        name = "no noise" if value == 0 else f"{label} = {value:g}"
        return Line(name, tuple(map(float, range(1, len(path) + 1))), tuple(path))

    return tuple(
        Panel(_TITLES[data], "step", "norm of the projected gradient", tuple(map(line, _here(results, data))))
        for data in _DATA
    )


def _told(sentence: Callable[[list[Result]], str]) -> Callable[[Sequence[Result]], tuple[str, ...]]:
    """Return a sentence about each dataset."""
    return lambda results: tuple(f"{data}: {sentence(_here(results, data))}" for data in _DATA)


def _of_epsilon(here: list[Result]) -> str:
    noisy, exact = ([_end(result, name) for result in here] for name in ("noisy_path", "exact_path"))
    falls = _falls([end for end, result in zip(exact, here, strict=True) if parameter(result, "epsilon") > 0])
    return (
        f"over the last {_LAST} of T = 200 steps the norm at the exact gradient is {_list(exact)} (at the "
        f"noisy one {_list(noisy)}) for ε = 0.1, 0.5, 2, 5 and without noise: "
        + (
            "less privacy, less error, as in the paper."
            if falls
            else "not falling in ε everywhere, unlike in the paper."
        )
    )


def _of_steps(here: list[Result]) -> str:
    steps = [parameter(result, "steps") for result in here]
    noisy, exact = ([_root_mean(result, name) for result in here] for name in ("noisy", "exact"))
    first_falls = min(noisy) < min(noisy[0], noisy[-1])
    second = "the noisy norm shows the second term." if _falls(noisy[::-1]) else "here the first term rules."
    return (
        f"averaged over the run, the norm at the noisy gradient is {_list(noisy)} for T = 50, 100, 200, 400, 800 (like "
        f"T^{exponent(steps[2:], noisy[2:]):.2f} from T = 200 on), at the exact gradient {_list(exact)}. The paper "
        "says the bounds do not depend on T; at a fixed step size the bound is a/T + bT: "
        + ("the noisy norm falls first and then grows." if first_falls else second)
    )


def _of_records(here: list[Result]) -> str:
    noisy, exact = ([_end(result, name) for result in here] for name in ("noisy_path", "exact_path"))
    falls = "smaller with more records, as in the paper."
    if not (_falls(noisy) and _falls(exact)):
        falls = "not smaller with more records everywhere, unlike in the paper."
    return (
        f"over the last {_LAST} of T = 400 steps the norm at the noisy gradient is {_list(noisy)} for n = 1000, 2500, "
        f"5000, 10 000 (exponent {exponent(_RECORDS, noisy):.2f}; at fixed T the noise alone gives -1), at the exact "
        f"gradient {_list(exact)} (exponent {exponent(_RECORDS, exact):.2f}): {falls}"
    )


def _falls(values: Sequence[float]) -> bool:
    return all(earlier >= later for earlier, later in itertools.pairwise(values))


def _list(values: Sequence[float]) -> str:
    return ", ".join(f"{value:.3g}" for value in values)


EXPERIMENTS = (
    Experiment(
        "wang-xu-2019-figure-1",
        "wang-xu-2019/figure-1",
        "Wang & Xu 2019, Figure 1 again: the norm along T = 200 steps, δ = 0.001",
        _runs(epsilon=(0.1, 0.5, 2.0, 5.0, 0.0), steps=200, records=10_000),
        lambda results: _paths(results, "epsilon", "ε"),
        _told(_of_epsilon),
    ),
    Experiment(
        "wang-xu-2019-figure-2",
        "wang-xu-2019/figure-2",
        "Wang & Xu 2019, Figure 2 again: the number of steps T, ε = 2, δ = 0.001",
        _runs(epsilon=2.0, steps=(50, 100, 200, 400, 800), records=10_000),
        lambda results: _paths(results, "steps", "T"),
        _told(_of_steps),
    ),
    Experiment(
        "wang-xu-2019-figure-3",
        "wang-xu-2019/figure-3",
        "Wang & Xu 2019, Figure 3 again: the number of records n, ε = 2, T = 400, δ = 0.001",
        _runs(epsilon=2.0, steps=400, records=_RECORDS),
        lambda results: _paths(results, "records", "n"),
        _told(_of_records),
    ),
)
