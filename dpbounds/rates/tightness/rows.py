"""The table of tightness: every proven bound with constants on an output of an algorithm, with its instances."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dpbounds.rates.promises import GOALS
from dpbounds.rates.tightness import choices, descents, frank_wolfe, sampled, single_records, spider, subgradients
from dpbounds.rates.tightness.instances import Finding, Instance, compare
from dpbounds.theorems.parts import Bound
from dpbounds.theorems.record import Metric, Side, Theorem
from dpbounds.theorems.registry import on_metrics
from dpbounds.theorems.standing import PROVEN, standing

INSTANCES = (
    *descents.INSTANCES,
    *spider.INSTANCES,
    *sampled.INSTANCES,
    *single_records.INSTANCES,
    *subgradients.INSTANCES,
    *choices.INSTANCES,
    *frank_wolfe.INSTANCES,
)

_LOWER = "a lower bound, which an algorithm would have to reach: no algorithm's exact minimax risk is known"
_STEPS = "every step is charged with its worst case; no problem that is bad in all of them is known"
_TAIL = "an instance needs a quantile of a largest norm, of which only the mean is computed so far"
_UNIFORM = "pays for uniform convergence, of which no instance with this link is computed"
_EVERYWHERE = "pays for uniform convergence, of which no instance is computed"
OPEN = {
    "dpbounds/negative-curvature-descent": _STEPS,
    "dpbounds/population-path-noise": _EVERYWHERE,
    "dpbounds/population-path-noise/warm-start": _EVERYWHERE,
    "dpbounds/second-order-path-noise": _STEPS,
    "dpbounds/second-order-path-noise/iterative": _STEPS,
    "dpbounds/second-order-path-noise/population": _EVERYWHERE,
    "dpbounds/second-order-path-noise/population/iterative": _EVERYWHERE,
    "dpbounds/second-order-path-noise/warm-start": _STEPS,
    "dpbounds/second-order-path-noise/warm-start/iterative": _STEPS,
    "ganesh-liu-oh-thakurta-2023/lemma-3.4": "its bound is a counter-example itself",
    "ganesh-liu-oh-thakurta-2023/lemma-4.1": "above-threshold on two queries: no instance is computed",
    "ganesh-liu-oh-thakurta-2023/lemma-4.1/explicit": "above-threshold on two queries: no instance is computed",
    "ganesh-liu-oh-thakurta-2023/theorem-4.2/explicit": _TAIL,
    "ganesh-liu-oh-thakurta-2023/theorem-4.6/explicit": _TAIL,
    "lowy-ullman-wright-2024/corollary-5.3/explicit": "two runs in a row: an instance would have to be bad for both",
    "lowy-ullman-wright-2024/lemma-e.3": "a union bound over points: no instance is computed",
    "wang-chen-xu-2019/theorem-5/explicit": _UNIFORM,
    "wang-chen-xu-2019/theorem-6/explicit": _UNIFORM,
    "wang-chen-xu-2019/theorem-8/explicit": _STEPS,
    "wang-chen-xu-2019/theorem-9/explicit": _STEPS,
}
_NOT_YET = "no instance yet"


@dataclass(frozen=True, slots=True)
class Row:
    """A statement, with its tightness.

    Attributes:
        findings: One for each part of which an instance is computed.
        reason: Why there is none.
    """

    theorem: Theorem
    findings: tuple[Finding, ...]
    reason: str | None


def statements() -> Iterator[Theorem]:
    """Yield every statement with a proven bound with constants on an output of an algorithm."""
    for theorem in on_metrics(*GOALS, Metric.SAMPLE_SIZE):
        bounds = [part for part in theorem.parts if isinstance(part, Bound)]
        if theorem.side in (Side.UPPER, Side.LOWER) and any(standing(theorem, one) in PROVEN for one in bounds):
            yield theorem


def of(theorem: Theorem) -> tuple[Instance, ...]:
    """Return the instances of a statement's parts."""
    return tuple(one for one in INSTANCES if one.statement == theorem.id)


def row(theorem: Theorem) -> Row:
    """Return the known tightness of one statement."""
    findings = tuple(compare(theorem, one) for one in of(theorem))
    reason = OPEN.get(theorem.id, _LOWER if theorem.side is Side.LOWER else _NOT_YET)
    return Row(theorem, findings, None if findings else reason)


def rows() -> tuple[Row, ...]:
    """Return the rows of all statements."""
    return tuple(row(theorem) for theorem in statements())


def verdict(finding: Finding) -> str:
    """Return the verdict in words; the factor is rounded up."""
    return "exact" if finding.exact else f"within {finding.ratio.decimals(4)[1]}"
