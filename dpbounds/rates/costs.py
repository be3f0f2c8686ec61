"""The cost of running a guarantee: gradients of one record, and numbers held in memory beside the data.

Counted from the mechanism of the record: each release is one pass over what it is computed on. A difference of
gradients is two gradients; which releases are differences the mechanism does not say, so all are counted twice there
("at most"). Where the mechanism does not tell, the statement's own count is taken, if it has one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from dpbounds.privacy.mechanisms import Mechanism, parts_of
from dpbounds.theorems.record import Theorem

# Algorithms that estimate differences of gradients at two iterates: those two, the estimate, and one anchor, if any.
_SPIDERS = {
    "lowy-ullman-wright-2024/algorithm-1": 4,
    "lowy-ullman-wright-2024/algorithm-2": 4,
    "dpbounds/storm": 3,
    "dpbounds/storm/batches": 3,
}
# Algorithms that hold an iterate and a gradient; the iterate that is returned is drawn before the run.
_DESCENTS = {
    "dpbounds/geometric-noise-under-pl": 2,
    "dpbounds/noisy-descent-local-pl": 2,
    "wang-xu-2019/algorithm-1": 2,
    "wang-xu-2019/algorithm-2": 2,
    "wang-chen-xu-2019/algorithm-1": 2,
    "wang-chen-xu-2019/algorithm-4": 2,
    "lowy-ullman-wright-2024/algorithm-3": 2,
    "tholeti-kalyani-2020/algorithm-1": 2,
    "dpbounds/noisy-descent-exact": 2,
    "dpbounds/noisy-descent-batches": 2,
}
# Noise along a path: an iterate, the estimate and two gradients; and a Hessian, where one is formed.
_PATHS = {
    "dpbounds/population-path-noise": (4, 0),
    "dpbounds/population-path-noise/warm-start": (4, 0),
    "dpbounds/second-order-path-noise": (4, 1),
    "dpbounds/second-order-path-noise/population": (4, 1),
    "dpbounds/second-order-path-noise/warm-start": (4, 1),
}
_DRAW = "a draw from an exponential mechanism, not counted"
_VERTEX_SEARCHES = ("wang-xu-2019/algorithm-4",)  # an exponential mechanism whose scores are one gradient's entries


@dataclass(frozen=True, slots=True)
class Cost:
    """The amount of work.

    Attributes:
        gradients: Number of gradients of one record's loss; None if it is not stated.
        memory: Numbers beside the data; None where it is not stated.
        batch: Records that a step looks at, on average where they are sampled (rounded up); None where it is not
            stated. What happens once before the steps does not count.
        uncounted: It draws from an exponential mechanism, over a net (exponential in d) or by a sampler: not counted.
    """

    gradients: int | None
    memory: int | None
    note: str
    uncounted: bool = False
    batch: int | None = None


def caveat_of(cost: Cost) -> str:
    """Describe the gap between the bound and a run that reaches it; empty if there is none."""
    return "its exponential mechanism may be out of reach" if cost.uncounted else ""


NOT_STATED = Cost(None, None, "not stated")


def gradients_per_record(theorem: Theorem) -> int:
    """Return the largest number of gradients of a record in one step."""
    return 2 if (theorem.algorithm or theorem.id) in _SPIDERS else 1


def cost_of(
    theorem: Theorem,
    mechanism: Mechanism | None,
    dataset_size: int,
    dimension: int,
    steps: int | None = None,
    counted: int | None = None,
    held: int | None = None,
) -> Cost:
    """Return the cost of a statement's algorithm as prescribed.

    Args:
        theorem: The statement.
        mechanism: The mechanism of its releases; None if it is not recorded.
        dataset_size: n.
        dimension: d.
        steps: The number of steps, if known.
        counted: Gradients at most, as the statement itself counts them, if it does.
        held: Numbers beside the data, likewise.
    """
    memory = _memory(theorem, dimension) if held is None else held
    if mechanism is None:
        return Cost(counted, memory, "not stated" if counted is None else "at most")
    releases = parts_of(mechanism)
    searches = theorem.algorithm in _VERTEX_SEARCHES
    walk = [(part, count) for part, count in releases if searches or not part.chooses]
    if not walk:
        return Cost(0, None, f"no gradients, but {_DRAW}", uncounted=True)
    drawn = [(part.records_read(dataset_size), count) for part, count in walk]
    size = max(drawn, key=lambda one: one[1])[0]
    batch = None if size is None else math.ceil(size)
    twice = gradients_per_record(theorem) == 2
    sizes = [None if each is None else each * count for each, count in drawn]
    total: Fraction | None
    if theorem.algorithm is None and sum(count for _, count in walk) == 1:  # all that a walk releases, as one
        total, note = None if steps is None else Fraction(steps * dataset_size), "exact"
    else:
        total = None if None in sizes else sum((each for each in sizes if each is not None), Fraction(0))
        total, note = (None if total is None else total * (2 if twice else 1)), "at most" if twice else "exact"
    if total is None and counted is not None:
        total, note = Fraction(counted), "at most"
    uncounted = len(walk) < len(releases)
    note = "not stated" if total is None else f"{note}, and {_DRAW}" if uncounted else note
    return Cost(None if total is None else int(total), memory, note, uncounted, batch)


def _memory(theorem: Theorem, dimension: int) -> int | None:
    name = theorem.algorithm or theorem.id
    if name in _PATHS:
        vectors, matrices = _PATHS[name]
        return vectors * dimension + matrices * dimension**2
    held = _SPIDERS.get(name) or _DESCENTS.get(name)
    return None if held is None else held * dimension
