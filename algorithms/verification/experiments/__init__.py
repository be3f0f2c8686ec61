"""The papers' experiments again, and figures for the papers that have none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from algorithms.verification.experiments.base import Experiment
from algorithms.verification.store import Store
from algorithms.verification.suite import Size, belongs
from algorithms.verification.sweeps import Progress, sweep
from dpbounds.errors import InvalidValue
from dpbounds.render.curves import Panel

__all__ = ["Experiment", "Picture", "experiments", "run_experiments"]


@dataclass(frozen=True, slots=True)
class Picture:
    """An experiment after it was run."""

    experiment: Experiment
    panels: tuple[Panel, ...]
    findings: tuple[str, ...]


@cache
def experiments() -> tuple[Experiment, ...]:
    """All of them; names are unique."""
    from algorithms.verification.experiments import (
        ganesh_liu_oh_thakurta_2023,
        lowy_ullman_wright_2024,
        tholeti_kalyani_2020,
        wang_xu_2019,
        wang_xu_2019_methods,
    )

    papers = (
        wang_xu_2019,
        wang_xu_2019_methods,
        tholeti_kalyani_2020,
        ganesh_liu_oh_thakurta_2023,
        lowy_ullman_wright_2024,
    )
    found = tuple(each for paper in papers for each in paper.EXPERIMENTS)
    names = [one.name for one in found]
    if len(set(names)) != len(names):
        raise InvalidValue("names", names, "each experiment under its own name")
    return found


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
    chosen = [one for one in experiments() if not theorems or any(belongs(one.theorem, name) for name in theorems)]
    cells = {one.name: list(one.cells(size)) for one in chosen}
    sweep((cell for each in cells.values() for cell in each), store, jobs=jobs, scheduler=scheduler, progress=progress)
    pictures = []
    for one in chosen:
        results = [result for cell in cells[one.name] if (result := store.result(cell)) is not None]
        pictures.append(Picture(one, one.panels(results), one.findings(results)))
    return tuple(pictures)
