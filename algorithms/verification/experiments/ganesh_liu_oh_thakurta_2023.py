"""Figures that Ganesh, Liu, Oh & Thakurta 2023 lack: results of their algorithms against n, with explicit bounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpbounds.algorithms.verification.experiments.base import Experiment, of_task
from dpbounds.algorithms.verification.experiments.sizes import Quantity, compared, records
from dpbounds.algorithms.verification.judging.planned_checks import by_size, cells, together
from dpbounds.algorithms.verification.studies import selection, stochastic_spider
from dpbounds.algorithms.verification.sweeping.cells import Result, parameter, vector
from dpbounds.algorithms.verification.sweeping.trials import at_cell, bound_of
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.render.curves import Panel
from dpbounds.theorems.registry import theorem

_PAPER = "ganesh-liu-oh-thakurta-2023"
_NET = f"{_PAPER}/theorem-5.8/explicit"

# --- Stochastic Spider

_SMALLEST = Quantity(
    "smallest gradient norm",
    "smallest",
    bound_of(stochastic_spider.FAILURE),
    "Theorem 4.2",
    "n^(-2/3) times logarithms",
    "gradient norm",
)


def _search_findings(results: Sequence[Result]) -> tuple[str, ...]:
    bounds = zip(results, _SMALLEST.bounds(results), strict=True)
    above = sum(value > bound for result, bound in bounds for value in vector(result, "smallest"))
    runs, allowed = sum(len(vector(result, "smallest")) for result in results), float(stochastic_spider.FAILURE)
    fresh = ", ".join(f"{sum(taken) / len(taken):.3g}" for taken in (vector(result, "fresh") for result in results))
    return (
        _SMALLEST.told(results),
        f"The bound holds with a probability of {1 - allowed:g}: {above} of {runs} runs lie above it, a share of "
        f"{above / runs:.2g}, {'at most' if above <= allowed * runs else 'more than'} the {allowed:g} that it allows.",
        f"Fresh estimates that a run takes, on average: {fresh}.",
    )


# --- exponential mechanisms

_LINE = by_size((1000, 2000, 4000, 8000), (1000, 2000, 4000, 8000, 16_000, 32_000))
_PLANE = by_size((50, 100, 200, 400), (50, 100, 200, 400, 800))


def net_bound(result: Result) -> Enclosure:
    """Theorem 5.8 with constants, empirical risk, for the net that is used."""
    method, problem = at_cell(selection.net_choice.posed, result)
    values: dict[str, Any] = {
        "lipschitz": problem.lipschitz,
        "net_radius": method.net.covering_radius,
        "enclosing_radius": method.net.radius,
        "diameter": 2 * method.net.radius,
        "dimension": problem.dimension,
        "dataset_size": problem.records,
        "epsilon": method.epsilon,
    }
    return theorem(_NET).evaluate("empirical", **values).value


_ON_A_NET = Quantity("net", "excess", net_bound, "Theorem 5.8", "1/n times a logarithm, of its empirical part")
_OF_GIBBS = Quantity("Gibbs sample", "excess", source="Theorem 5.6")


def _pairs(results: Sequence[Result]) -> list[tuple[int, list[Result], list[Result]]]:
    """Return the results of the net and of Gibbs sampling, by dimension."""
    pairs = []
    for dimension in sorted({int(parameter(result, "dimension")) for result in results}):
        here = [result for result in results if parameter(result, "dimension") == dimension]
        pairs.append((dimension, of_task(here, selection.net_choice), of_task(here, selection.gibbs_sample)))
    return pairs


def _mechanism_panels(results: Sequence[Result]) -> tuple[Panel, ...]:
    return tuple(
        Panel(
            f"a double well, d = {dimension}, ε = 1",
            "records n",
            "excess empirical risk",
            (*_ON_A_NET.curves(net), *_OF_GIBBS.curves(gibbs)),
            log_x=True,
        )
        for dimension, net, gibbs in _pairs(results)
    )


def _mechanism_findings(results: Sequence[Result]) -> tuple[str, ...]:
    sentences = []
    for dimension, net, gibbs in _pairs(results):
        sentences += [f"d = {dimension}, {_ON_A_NET.told(net)}", f"d = {dimension}, {_OF_GIBBS.told(gibbs)}"]
        names = "the excess on a net", "that of a Gibbs sample"
        both = _ON_A_NET.measured(net), _OF_GIBBS.measured(gibbs)
        sentences.append(f"d = {dimension}: {compared(*both, names, records(net))}")
    return tuple(sentences)


EXPERIMENTS = (
    Experiment(
        f"{_PAPER}-stochastic-spider",
        f"{_PAPER}/theorem-4.2/explicit",
        "Ganesh et al. 2023, Theorem 4.2: Stochastic Spider against n",
        cells(
            stochastic_spider.search,
            records=by_size((4000, 8000, 16_000), (4000, 8000, 16_000, 32_000, 64_000)),
            repetitions=by_size(128, 512),
        ),
        lambda results: (_SMALLEST.panel("a wavy landscape, d = 8, ε = 1", results),),
        _search_findings,
    ),
    Experiment(
        f"{_PAPER}-exponential-mechanism",
        _NET,
        "Ganesh et al. 2023, Theorems 5.6 and 5.8: exponential mechanisms against n",
        together(
            *(
                runs(records=sizes, dimension=dimension)
                for dimension, sizes in ((1, _LINE), (2, _PLANE))
                for runs in (selection.on_nets, selection.gibbs_samples)
            )
        ),
        _mechanism_panels,
        _mechanism_findings,
    ),
)
