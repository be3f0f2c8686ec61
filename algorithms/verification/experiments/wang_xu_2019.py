"""Wang & Xu 2019, Figures 1 to 3 again: DP-GD at several ε, T and n, on their synthetic design and on Covertype.

Print does not say how the gradient's norm was measured. Here it is the norm of the projected gradient, root mean square
over repetitions, at the noisy gradient (what their Theorem 2 bounds) and at the exact one (the stationarity of the
point). Steps are 1/(2L) and fixed: print takes TFOCS's, which look at the data unless fed private answers.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import partial

from dpbounds.algorithms.verification.experiments.base import Experiment
from dpbounds.algorithms.verification.experiments.runs import projected_gradient
from dpbounds.algorithms.verification.experiments.sizes import exponent
from dpbounds.algorithms.verification.judging.planned_checks import by_size, cells
from dpbounds.algorithms.verification.sweeping.cells import Result, parameter, text, vector
from dpbounds.render.curves import Line, Panel

_TITLES = {"synthetic": "synthetic design, 10 000 × 100", "covertype": "Covertype, 10 000 × 54"}
_DATA = tuple(_TITLES)
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


# --- Figure 1: ε

_EPSILONS = (0.1, 0.5, 2.0, 5.0, 0.0)


def _figure_1(results: Sequence[Result]) -> tuple[str, ...]:
    sentences = []
    for data in _DATA:
        here = _here(results, data)
        private = [result for result in here if parameter(result, "epsilon") > 0]
        ends = ", ".join(f"{_end(result, 'exact_path'):.3g}" for result in here)
        noisy = ", ".join(f"{_end(result, 'noisy_path'):.3g}" for result in here)
        falls = _falls([_end(result, "exact_path") for result in private])
        sentences.append(
            f"{data}: over the last {_LAST} of T = 200 steps the norm at the exact gradient is {ends} (at the noisy "
            f"one {noisy}) for ε = 0.1, 0.5, 2, 5 and without noise: "
            + ("less privacy, less error, as print says." if falls else "not falling in ε everywhere, unlike print.")
        )
    return tuple(sentences)


# --- Figure 2: T

_STEPS = (50, 100, 200, 400, 800)


def _figure_2(results: Sequence[Result]) -> tuple[str, ...]:
    sentences = []
    for data in _DATA:
        here = _here(results, data)
        steps = [parameter(result, "steps") for result in here]
        noisy = [_root_mean(result, "noisy") for result in here]
        exact = [_root_mean(result, "exact") for result in here]
        sentences.append(
            f"{data}: averaged over the run, the norm at the noisy gradient is {_list(noisy)} for T = 50, 100, 200, "
            f"400, 800 (like T^{exponent(steps[2:], noisy[2:]):.2f} from T = 200 on), at the exact gradient "
            f"{_list(exact)}. Print says the bounds do not depend on T; at a fixed step size the bound is a/T + bT: "
            + (
                "the noisy norm falls first and then grows."
                if min(noisy) < min(noisy[0], noisy[-1])
                else "the noisy norm shows the second term."
                if _falls(noisy[::-1])
                else "here the first term rules."
            )
        )
    return tuple(sentences)


# --- Figure 3: n

_RECORDS = (1000, 2500, 5000, 10_000)


def _figure_3(results: Sequence[Result]) -> tuple[str, ...]:
    sentences = []
    for data in _DATA:
        here = _here(results, data)
        noisy = [_end(result, "noisy_path") for result in here]
        exact = [_end(result, "exact_path") for result in here]
        sentences.append(
            f"{data}: over the last {_LAST} of T = 400 steps the norm at the noisy gradient is {_list(noisy)} for "
            f"n = 1000, 2500, 5000, 10 000 (exponent {exponent(_RECORDS, noisy):.2f}; at fixed T the noise alone gives "
            f"-1), at the exact gradient {_list(exact)} (exponent {exponent(_RECORDS, exact):.2f}): "
            + (
                "smaller with more records, as print says."
                if _falls(noisy) and _falls(exact)
                else "not smaller with more records everywhere, unlike print."
            )
        )
    return tuple(sentences)


def _falls(values: Sequence[float]) -> bool:
    return all(earlier >= later for earlier, later in itertools.pairwise(values))


def _list(values: Sequence[float]) -> str:
    return ", ".join(f"{value:.3g}" for value in values)


EXPERIMENTS = (
    Experiment(
        "wang-xu-2019-figure-1",
        "wang-xu-2019/figure-1",
        "Wang & Xu 2019, Figure 1 again: the norm along T = 200 steps, δ = 0.001",
        _runs(epsilon=_EPSILONS, steps=200, records=10_000),
        lambda results: _paths(results, "epsilon", "ε"),
        _figure_1,
    ),
    Experiment(
        "wang-xu-2019-figure-2",
        "wang-xu-2019/figure-2",
        "Wang & Xu 2019, Figure 2 again: the number of steps T, ε = 2, δ = 0.001",
        _runs(epsilon=2.0, steps=_STEPS, records=10_000),
        lambda results: _paths(results, "steps", "T"),
        _figure_2,
    ),
    Experiment(
        "wang-xu-2019-figure-3",
        "wang-xu-2019/figure-3",
        "Wang & Xu 2019, Figure 3 again: the number of records n, ε = 2, T = 400, δ = 0.001",
        _runs(epsilon=2.0, steps=400, records=_RECORDS),
        lambda results: _paths(results, "records", "n"),
        _figure_3,
    ),
)
