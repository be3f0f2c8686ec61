"""The number of records from which on a bound is below everything that holds trivially."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from dpbounds.errors import DpboundsError
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.symbols import dataset_size as records
from dpbounds.privacy.values import Budget
from dpbounds.rates.guarantees import Threshold, Unfit
from dpbounds.rates.prescriptions import DIGITS, settled_at
from dpbounds.rates.settling import Freedom, promised, settle, tuned_within
from dpbounds.rates.trivial import Trivial
from dpbounds.theorems.evaluation import evaluate
from dpbounds.theorems.monotonicity import falls
from dpbounds.theorems.record import Bound, Parameter, Theorem

_LARGEST_SIZE = 1 << 200


def threshold(
    theorem: Theorem,
    part: Bound,
    known: Mapping[str, Fraction],
    budget: Budget,
    rho: Fraction | None,
    trivial: tuple[Trivial, ...],
    searched: Freedom,
    vacuous: bool | None,
) -> Threshold | None:
    """The n from which the bound is below every trivial one, by bisection: evaluated there, and with one record less.

    At other n nothing is claimed unless the record declares the bound monotone. Trivial bounds do not depend on n.
    Bounds that are calibrated anew for each n are tried only if they are vacuous at the given n.
    """
    sampled = theorem.privacy is not None and theorem.privacy.guess is not None
    if not trivial or (sampled and not vacuous):
        return None

    near = searched.point

    def meaningful(size: int) -> bool:
        nonlocal near
        here = {**known, "dataset_size": Fraction(size)}
        try:
            if sampled:  # what a budget allows depends on what is chosen
                _, settled, found, near = settle(theorem, part, here, budget, replace(searched, point=near))
                return found.applies is not False and below(found.value, trivial)
            if searched.free:
                values = {**here, **({"rho": rho} if rho else {})}
                best = tuned_within(theorem, part, values, replace(searched, point=near))
                here, near = {**here, **best.values}, best.point
            settled = settled_at(theorem, here, rho)
            found = evaluate(theorem, part.name, settled.values, digits=DIGITS)
        except (DpboundsError, Unfit):
            return False
        value = None if found.applies is False else promised(theorem, found, settled)
        return value is not None and below(value, trivial)

    high = int(known["dataset_size"])
    factor = 2
    if meaningful(high):
        low = high
        while low > 1 and meaningful(low):
            high, low, factor = low, max(1, low // factor), factor**2
        if low == 1 and meaningful(1):
            return Threshold(1, _declared(theorem, part), part.name)
    else:
        low = high
        while not meaningful(high):
            low, high, factor = high, factor * high, factor**2
            if high > _LARGEST_SIZE:
                return None
    while high - low > 1:
        middle = math.isqrt(low * high) if high > 4 * low else (low + high) // 2
        low, high = (low, middle) if meaningful(middle) else (middle, high)
    return Threshold(high, _declared(theorem, part), part.name)


def _declared(theorem: Theorem, part: Bound) -> bool:
    """Return whether nothing else than the known dependence on n enters: no parameter, and no condition."""
    touched = any(records in one.symbols for one in (*theorem.conditions, *part.conditions))
    prescribed = {one.name for one in theorem.parts if isinstance(one, Parameter)}
    indirect = any(symbol.name in prescribed for symbol in part.expression.free_symbols)
    return falls(theorem, part, records) and not touched and not indirect


def below(value: Enclosure, trivial: tuple[Trivial, ...]) -> bool:
    """Return whether a bound is below all trivial bounds."""
    return all(value.less_than(one.value) is True for one in trivial)
