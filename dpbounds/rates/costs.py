"""What a guarantee costs to run: gradients of one record, and numbers held in memory beside the data.

Counted from the mechanism of the record: each release is one pass over what it is computed on. A difference of
gradients is two gradients; which releases are differences the mechanism does not say, so all are counted twice there
("at most").
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from dpbounds.privacy import mechanisms as known
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
    "wang-xu-2019/algorithm-1": 2,
    "wang-xu-2019/algorithm-2": 2,
    "wang-chen-xu-2019/algorithm-1": 2,
    "wang-chen-xu-2019/algorithm-4": 2,
    "lowy-ullman-wright-2024/algorithm-3": 2,
    "tholeti-kalyani-2020/algorithm-1": 2,
    "dpbounds/noisy-descent-exact": 2,
    "dpbounds/noisy-descent-batches": 2,
}
_VERTEX_SEARCHES = ("wang-xu-2019/algorithm-4",)  # an exponential mechanism whose scores are one gradient's entries


@dataclass(frozen=True, slots=True)
class Cost:
    """How much work.

    Attributes:
        gradients: Of one record's loss; None where it is not stated.
        memory: Numbers beside the data; None where it is not stated.
        uncounted: It draws from an exponential mechanism, over a net (exponential in d) or by a sampler: not counted.
    """

    gradients: int | None
    memory: int | None
    note: str
    uncounted: bool = False


def caveat_of(cost: Cost) -> str:
    """What stands between the bound and a run that reaches it; empty where nothing does."""
    return "its exponential mechanism may be out of reach" if cost.uncounted else ""


NOT_STATED = Cost(None, None, "not stated")


def gradients_per_record(theorem: Theorem) -> int:
    """How many gradients of a record one step takes, at most."""
    return 2 if (theorem.algorithm or theorem.id) in _SPIDERS else 1


def cost_of(
    theorem: Theorem, mechanism: Mechanism | None, dataset_size: int, dimension: int, steps: int | None = None
) -> Cost:
    """The cost of a statement's algorithm as prescribed, which takes so many steps, if that is known."""
    name = theorem.algorithm or theorem.id
    vectors = _SPIDERS.get(name) or _DESCENTS.get(name)
    memory = None if vectors is None else vectors * dimension
    if mechanism is None:
        return Cost(None, memory, "not stated")
    twice = gradients_per_record(theorem) == 2
    total, selection = Fraction(0), False
    releases = parts_of(mechanism)
    walked = sum(count for part, count in releases if not isinstance(part, known.ExponentialMechanism))
    if theorem.algorithm is None and walked == 1:  # all that a walk releases, as one
        alone = len(releases) == 1
        known_steps = Cost(None, memory, "not stated") if steps is None else Cost(steps * dataset_size, memory, "exact")
        return known_steps if alone else replace(known_steps, uncounted=True)
    for part, count in releases:
        drawn = _records(part, dataset_size)
        if isinstance(part, known.ExponentialMechanism) and theorem.algorithm not in _VERTEX_SEARCHES:
            selection = True
        elif drawn is None:
            return Cost(None, memory, "not stated")
        else:
            total += count * drawn * (2 if twice else 1)
    if selection and total == 0:
        return Cost(None, None, "a draw from an exponential mechanism, not counted", uncounted=True)
    note = "at most" if twice else "exact"
    if selection:
        return Cost(
            int(total), memory, f"{note}, and a draw from an exponential mechanism, not counted", uncounted=True
        )
    return Cost(int(total), memory, note)


def _records(part: Mechanism, dataset_size: int) -> Fraction | None:
    """Records that one release looks at (on average, for Poisson samples)."""
    match part:
        case known.Gaussian() | known.Laplace() | known.UniformBall() | known.ExponentialMechanism():
            return Fraction(dataset_size)
        case known.PoissonSampled(sample_rate=rate):
            return rate * dataset_size
        case known.SampledWithoutReplacement(batch_size=batch) | known.SampledWithReplacement(batch_size=batch):
            return Fraction(batch)
        case known.TruncatedPoisson(sample_rate=rate, max_batch_size=most):
            return min(rate * dataset_size, Fraction(most))
        case known.InParallel():
            return Fraction(dataset_size)  # every record is in one block
    return None
