"""The papers' experiments again, and figures for the papers that have none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module

from dpbounds.algorithms.verification.experiments.base import Experiment
from dpbounds.algorithms.verification.judging.planned_checks import Size
from dpbounds.algorithms.verification.suite import belongs, swept
from dpbounds.algorithms.verification.sweeping.cells import NO_PROOF, NotMeasured, Result
from dpbounds.algorithms.verification.sweeping.store import Store
from dpbounds.algorithms.verification.sweeping.sweeps import Progress
from dpbounds.errors import BudgetExceeded
from dpbounds.render.curves import Panel

__all__ = ["Experiment", "Picture", "experiments", "run_experiments"]

_PAPERS = (
    "wang_xu_2019",
    "wang_xu_2019_methods",
    "tholeti_kalyani_2020",
    "ganesh_liu_oh_thakurta_2023",
    "lowy_ullman_wright_2024",
)


@dataclass(frozen=True, slots=True)
class Picture:
    """An experiment after it was run; without panels where its runs gave nothing to draw, as its only finding says."""

    experiment: Experiment
    panels: tuple[Panel, ...]
    findings: tuple[str, ...]


@cache
def experiments() -> tuple[Experiment, ...]:
    """Return all of them; names are unique."""
    papers = [import_module(f"{__name__}.{paper}") for paper in _PAPERS]
    return tuple(experiment for paper in papers for experiment in paper.EXPERIMENTS)


def run_experiments(
    size: Size,
    store: Store,
    *,
    theorems: Sequence[str] = (),
    jobs: int = 1,
    scheduler: str | None = None,
    progress: Progress | None = None,
) -> tuple[Picture, ...]:
    """Run the experiments of some statements or papers (of all by default); arguments are those of ``run_suite``."""
    wanted = theorems or [experiment.theorem for experiment in experiments()]
    chosen = [drawn for drawn in experiments() if any(belongs(drawn.theorem, name) for name in wanted)]
    found = swept(chosen, size, store, jobs=jobs, scheduler=scheduler, progress=progress)
    return tuple(_picture(experiment, results) for experiment, results in found)


def _picture(experiment: Experiment, results: list[Result] | str) -> Picture:
    """Return the picture of an experiment; if a run failed, was refused or unproven, only the reason."""
    if isinstance(results, str):
        return _not_drawn(experiment, results)
    try:
        return Picture(experiment, experiment.panels(results), experiment.findings(results))
    except BudgetExceeded as error:
        return _not_drawn(experiment, f"the ledger refuses a run: {error}")
    except NO_PROOF as error:
        return _not_drawn(experiment, f"nothing is proven of a run: {error}")
    except NotMeasured as error:
        return _not_drawn(experiment, str(error))


def _not_drawn(experiment: Experiment, why: str) -> Picture:
    return Picture(experiment, (), (f"Not drawn: {why.splitlines()[0]}.",))
