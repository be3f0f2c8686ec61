"""The ranks of guarantees among their like, each with its reason in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import groupby

from dpbounds.rates.guarantees import Guarantee


def ranked(found: Sequence[Guarantee]) -> tuple[Guarantee, ...]:
    """Proven bounds, then each kind of orders, those that leave out least first; each by value."""

    def kind(one: Guarantee) -> tuple[bool, int, bool, tuple[str, ...]]:
        return one.bound is None, len(one.hides), one.logs_hidden, tuple(sorted(one.hides))

    ordered = sorted(found, key=lambda one: (kind(one), one.value, one.id))
    result: list[Guarantee] = []
    for _, group in groupby(ordered, key=kind):
        same = list(group)
        for place, one in enumerate(same, 1):
            why = _why_bound(one, same[0]) if one.bound is not None else _why_order(one, same, result)
            unless = ["if " + " and ".join(one.unchecked)] if one.unchecked else []
            result.append(replace(one, place=place, why="; ".join((*why, *unless))))
    return tuple(result)


def _why_bound(one: Guarantee, best: Guarantee) -> Iterator[str]:
    if one.id == best.id:
        yield "the smallest proven bound"
    else:
        yield "proven"
        yield f"{_times(one, best)} the best bound"
    if one.vacuous:
        since = one.meaningful_from
        declared = "" if since is None or since.monotone else " (not declared monotone in n)"
        yield "vacuous here" + ("" if since is None else f": meaningful from n = {since.dataset_size}{declared}")
    if one.caveat:
        yield one.caveat


def _why_order(one: Guarantee, same: Sequence[Guarantee], before: Sequence[Guarantee]) -> Iterator[str]:
    yield "an order, no constant stated"
    if len(same) > 1:
        kind = "such orders" if one.like != "orders of growth" else "the orders that leave nothing out"
        yield f"the smallest of {kind}" if one.id == same[0].id else f"{_times(one, same[0])} the smallest of {kind}"
    explicit = next((bound for bound in before if bound.id == f"{one.id}/explicit" and bound.bound is not None), None)
    if explicit is not None:
        yield f"with constants it is number {explicit.place} of the proven bounds"


def _times(one: Guarantee, best: Guarantee) -> str:
    if best.value <= 0:
        return "above"
    ratio = one.value / best.value
    if ratio < Fraction(1001, 1000):
        return "as large as"
    return f"{float(ratio):.3g} times" if ratio < 10**6 else "more than a million times"
