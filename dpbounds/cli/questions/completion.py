"""Tab completion for shells: ids, metrics, algorithms, tables, by their beginning.

Click makes the shells' scripts; nothing here imports a statement or an algorithm's study.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

import click


def _offered(
    names: Callable[[], Iterable[str]], ctx: click.Context, parameter: click.Parameter, begun: str
) -> list[str]:
    return sorted({name for name in names() if name.startswith(begun)})


def _ids() -> Iterable[str]:
    from dpbounds.theorems.index import listing

    return (entry.id for entry in listing())


def _papers() -> Iterable[str]:
    from dpbounds.theorems.index import PAPERS, listing

    return (*PAPERS, *(entry.paper for entry in listing()))


def _metrics() -> Iterable[str]:
    from dpbounds.theorems.vocabulary import Metric

    return map(str, Metric)


def _statuses() -> Iterable[str]:
    from dpbounds.theorems.vocabulary import Status

    return map(str, Status)


def _algorithms() -> Iterable[str]:
    from dpbounds.algorithms.verification.catalogue import example_names

    return example_names()


def _checked() -> Iterable[str]:
    from dpbounds.algorithms.verification.catalogue import checked_statements

    return checked_statements()


def _tables() -> Iterable[str]:
    from dpbounds.render import catalogue, pages

    return ("all", *catalogue.names(), *pages.names())


IDS = partial(_offered, _ids)
PAPERS = partial(_offered, _papers)
METRICS = partial(_offered, _metrics)
STATUSES = partial(_offered, _statuses)
ALGORITHMS = partial(_offered, _algorithms)
CHECKED = partial(_offered, _checked)
TABLES = partial(_offered, _tables)
