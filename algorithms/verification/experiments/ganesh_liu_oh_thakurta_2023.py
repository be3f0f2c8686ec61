"""Figures that Ganesh, Liu, Oh & Thakurta 2023 lack: what their algorithms reach against n, beside explicit bounds."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache

from algorithms.verification.cells import Cell, Result
from algorithms.verification.experiments.base import Experiment, parameter, task, vector
from algorithms.verification.experiments.sizes import Quantity, compared, records
from algorithms.verification.suite import Size
from algorithms.verification.tasks import selection, stochastic_spider
from dpbounds.render.curves import Panel
from dpbounds.theorems.registry import theorem

_PAPER = "ganesh-liu-oh-thakurta-2023"
_SEARCH = f"{_PAPER}/theorem-4.2/explicit"
_NET, _GIBBS = f"{_PAPER}/theorem-5.8/explicit", f"{_PAPER}/theorem-5.6/explicit"

# --- Stochastic Spider ------------------------------------------------------------------------------------------------

_SEARCH_SIZES = {Size.QUICK: (4000, 8000, 16_000), Size.FULL: (4000, 8000, 16_000, 32_000, 64_000)}
_SEARCH_REPETITIONS = {Size.QUICK: 128, Size.FULL: 512}


def _search_cells(size: Size) -> list[Cell]:
    name = "algorithms.verification.tasks.stochastic_spider:search"
    return [Cell.of(name, 0, records=n, repetitions=_SEARCH_REPETITIONS[size]) for n in _SEARCH_SIZES[size]]


@cache
def _search_bound(n: int) -> float:
    bound = stochastic_spider.planned_search(n).bound(stochastic_spider.wavy(n), stochastic_spider.FAILURE)
    return float(bound.upper)


_SMALLEST = Quantity(
    "smallest gradient norm",
    "smallest",
    lambda each: _search_bound(int(parameter(each, "records"))),
    "Theorem 4.2",
    "n^(-2/3) times logarithms",
)


def _search_panels(results: Sequence[Result]) -> tuple[Panel, ...]:
    curves = _SMALLEST.curves(results)
    return (Panel("a wavy landscape, d = 8, ε = 1", "records n", "gradient norm", curves, log_x=True),)


def _search_findings(results: Sequence[Result]) -> tuple[str, ...]:
    above = sum(value > bound for each, bound in _with_bounds(results) for value in vector(each, "smallest"))
    runs, allowed = sum(len(vector(each, "smallest")) for each in results), float(stochastic_spider.FAILURE)
    fresh = ", ".join(f"{sum(taken) / len(taken):.3g}" for taken in (vector(each, "fresh") for each in results))
    return (
        _SMALLEST.told(results),
        f"The bound holds with a probability of {1 - allowed:g}: {above} of {runs} runs lie above it, a share of "
        f"{above / runs:.2g}, {'at most' if above <= allowed * runs else 'more than'} the {allowed:g} that it allows.",
        f"Fresh estimates that a run takes, on average: {fresh}.",
    )


def _with_bounds(results: Sequence[Result]) -> list[tuple[Result, float]]:
    return list(zip(results, _SMALLEST.bounds(results), strict=True))


# --- exponential mechanisms -------------------------------------------------------------------------------------------

_EPSILON = 1.0
_SIZES: dict[Size, dict[int, tuple[int, ...]]] = {
    Size.QUICK: {1: (1000, 2000, 4000, 8000), 2: (50, 100, 200, 400)},
    Size.FULL: {1: (1000, 2000, 4000, 8000, 16_000, 32_000), 2: (50, 100, 200, 400, 800)},
}
_REPETITIONS = {Size.QUICK: 1500, Size.FULL: 12_000}


def _mechanism_cells(size: Size) -> list[Cell]:
    found = []
    for dimension, sizes in _SIZES[size].items():
        for n in sizes:
            each = {"records": n, "dimension": dimension, "epsilon": _EPSILON, "repetitions": _REPETITIONS[size]}
            found += [
                Cell.of("algorithms.verification.tasks.selection:net_choice", 0, variant="proven", **each),
                Cell.of("algorithms.verification.tasks.selection:gibbs_sample", 0, **each),
            ]
    return found


@cache
def net_bound(n: int, dimension: int, epsilon: float) -> float:
    """Theorem 5.8 with constants, empirical risk, for the net that is used."""
    net = selection.planned_net(n, dimension, epsilon, "proven").net
    values = {
        "lipschitz": selection.double_well(n, dimension).lipschitz,
        "net_radius": net.covering_radius,
        "enclosing_radius": net.radius,
        "diameter": 2 * net.radius,
        "dimension": dimension,
        "dataset_size": n,
        "epsilon": Fraction(epsilon),
    }
    return theorem(_NET).evaluate("empirical", **values).value.upper


@cache
def gibbs_bound(n: int, dimension: int, epsilon: float) -> float:
    """Theorem 5.6 with constants, empirical risk, at the temperature that is used."""
    bound = selection.planned_gibbs(n, dimension, epsilon).bound(selection.double_well(n, dimension))
    return float(bound.upper)


def _sizes(each: Result) -> tuple[int, int, float]:
    return int(parameter(each, "records")), int(parameter(each, "dimension")), parameter(each, "epsilon")


_ON_A_NET = Quantity(
    "net",
    "excess",
    lambda each: net_bound(*_sizes(each)),
    "Theorem 5.8",
    "1/n times a logarithm, of its empirical part",
)
_OF_GIBBS = Quantity("Gibbs sample", "excess", lambda each: gibbs_bound(*_sizes(each)), "Theorem 5.6")


def _pairs(results: Sequence[Result]) -> list[tuple[int, list[Result], list[Result]]]:
    """By dimension: the results of the net and of Gibbs sampling."""
    found = []
    for dimension in sorted({int(parameter(each, "dimension")) for each in results}):
        here = [each for each in results if parameter(each, "dimension") == dimension]
        by_task = [[each for each in here if task(each) == name] for name in ("net_choice", "gibbs_sample")]
        found.append((dimension, by_task[0], by_task[1]))
    return found


def _mechanism_panels(results: Sequence[Result]) -> tuple[Panel, ...]:
    return tuple(
        Panel(
            f"a double well, d = {dimension}, ε = {_EPSILON:g}",
            "records n",
            "excess empirical risk",
            (*_ON_A_NET.curves(net), *_OF_GIBBS.curves(gibbs)),
            log_x=True,
        )
        for dimension, net, gibbs in _pairs(results)
    )


def _mechanism_findings(results: Sequence[Result]) -> tuple[str, ...]:
    found = []
    for dimension, net, gibbs in _pairs(results):
        found += [f"d = {dimension}, {_ON_A_NET.told(net)}", f"d = {dimension}, {_OF_GIBBS.told(gibbs)}"]
        names = "the excess on a net", "that of a Gibbs sample"
        both = _ON_A_NET.measured(net), _OF_GIBBS.measured(gibbs)
        found.append(f"d = {dimension}: {compared(*both, names, records(net))}")
    return tuple(found)


EXPERIMENTS = (
    Experiment(
        f"{_PAPER}-stochastic-spider",
        _SEARCH,
        "Ganesh et al. 2023, Theorem 4.2: Stochastic Spider against n",
        _search_cells,
        _search_panels,
        _search_findings,
    ),
    Experiment(
        f"{_PAPER}-exponential-mechanism",
        _NET,
        "Ganesh et al. 2023, Theorems 5.6 and 5.8: exponential mechanisms against n",
        _mechanism_cells,
        _mechanism_panels,
        _mechanism_findings,
    ),
)
