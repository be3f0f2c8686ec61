"""Monte Carlo bounds, and the questions that they answer."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from types import NoneType

from dpbounds.displayed import Displayed, Sheet, number
from dpbounds.errors import InvalidValue, NotCertified, shortened
from dpbounds.expressions.exact import ExactLike, brief, exact, positive_integer, to_decimal, to_float
from dpbounds.limits import SAMPLES
from dpbounds.privacy.accountants.probable.bounds import upper_bounds
from dpbounds.privacy.accountants.probable.drawing import source
from dpbounds.privacy.accountants.probable.planning import planned_epsilons
from dpbounds.privacy.accountants.probable.sampled import mixture_of
from dpbounds.privacy.mechanisms import Mechanism
from dpbounds.privacy.relations import Relation, as_relation
from dpbounds.privacy.values import Given, Target, demand_fields

DEFAULT_SAMPLES = 1_000_000
_LARGEST_EPSILON = 10**12  # largest ε whose differences have exponentials in double precision


@dataclass(frozen=True, slots=True, repr=False)
class Probable(Displayed):
    """An upper bound that holds with a stated confidence: not certified, not an ``Enclosure``.

    Attributes:
        mechanism: The mechanism.
        relation: The neighbouring relation.
        given: The given one of "delta" and "epsilon"; ``upper`` bounds the other.
        target: The given value.
        upper: The bound; it fails with probability 1 - ``confidence`` at most, over the draws.
        confidence: In (0, 1).
        samples: The number of draws in each of the two orders.
        seed: The seed of the draws; None if the operating system's randomness was used. With a seed, the confidence is
            conditional on the seed not having been chosen by its answer.
    """

    mechanism: Mechanism
    relation: Relation
    given: Given
    target: Fraction
    upper: Fraction
    confidence: Fraction
    samples: int
    seed: int | None

    def __post_init__(self) -> None:
        demand_fields(self, mechanism=Mechanism, relation=Relation, given=str, target=Fraction, upper=Fraction)
        demand_fields(self, confidence=Fraction, samples=int, seed=(int, NoneType))

    def rounded(self, digits: int) -> str:
        """Return the bound as a decimal with this number of digits, rounded up."""
        return to_decimal(self.upper, digits, "up")

    def _sheet(self) -> Sheet:
        wanted = "epsilon" if self.given == "delta" else "delta"
        facts = (
            (wanted, f"at most {self.rounded(6)}, with confidence {number(self.confidence)}: not certified"),
            (self.given, number(self.target)),
            ("relation", str(self.relation)),
            ("samples", f"{self.samples} in each order"),
            *(() if self.seed is None else (("seed", f"{self.seed}: valid if it was not chosen by its answer"),)),
            ("mechanism", shortened(repr(self.mechanism))),
        )
        return Sheet("a bound by sampling", facts)

    def __str__(self) -> str:
        wanted = "epsilon" if self.given == "delta" else "delta"
        told = f"with confidence {brief(self.confidence)} over {self.samples} samples, not certified"
        seeded = "" if self.seed is None else f", given that the seed {self.seed} was not chosen by its answer"
        return f"{wanted} <= {self.rounded(6)} at {self.given} = {brief(self.target)} ({self.relation}), {told}{seeded}"


def probable_epsilon(
    mechanism: Mechanism,
    delta: ExactLike,
    relation: str | Relation = Relation.ADD_OR_REMOVE_ONE,
    *,
    confidence: ExactLike,
    samples: int = DEFAULT_SAMPLES,
    seed: int | None = None,
) -> Probable:
    """Return a Monte Carlo bound on ε(δ), with a stated confidence (``probable.md``; Chernoff and Hoeffding).

    Args:
        mechanism: ``RandomlyAllocated`` with Gaussian noise, ``MatrixMechanism`` with balls in bins or with steps that
            are drawn apart ("minimum-separation" with a sample rate), or ``**`` of one.
        delta: In (0, 1). Publish δ + (1 - confidence) with the result.
        relation: "add-or-remove-one" or "zero-out-one".
        confidence: In (0, 1), such as ``"0.999999"``: for all questions about the same run together.
        samples: The number of draws in each order, for the bound itself; a tenth more are drawn to plan it.
        seed: None for randomness of the operating system, as required for a published value; a whole number repeats a
            run, and makes the confidence conditional.

    Raises:
        InvalidValue: A value is not allowed.
        UnsupportedMechanism: No pair to sample is known.
        NotCertified: The samples do not suffice to show any ε.

    >>> from dpbounds.privacy.mechanisms import Gaussian, RandomlyAllocated
    >>> found = probable_epsilon(RandomlyAllocated(Gaussian(1), 10, 3), "1e-2", confidence="0.999", samples=20000)
    >>> 1 < found.upper < 4, found.samples
    (True, 20000)
    """
    return _probable(mechanism, Target.of(delta, None), as_relation(relation), confidence, samples, seed)


def probable_delta(
    mechanism: Mechanism,
    epsilon: ExactLike,
    relation: str | Relation = Relation.ADD_OR_REMOVE_ONE,
    *,
    confidence: ExactLike,
    samples: int = DEFAULT_SAMPLES,
    seed: int | None = None,
) -> Probable:
    """Return a Monte Carlo bound on δ(ε), with a stated confidence.

    Arguments and errors as for :func:`probable_epsilon`, with ``epsilon`` at least 0 in place of ``delta``.
    """
    return _probable(mechanism, Target.of(None, epsilon), as_relation(relation), confidence, samples, seed)


def _probable(
    mechanism: Mechanism, target: Target, relation: Relation, confidence: ExactLike, samples: int, seed: int | None
) -> Probable:
    sure = exact(confidence, "confidence")
    if not 0 < sure < 1:
        raise InvalidValue("confidence", confidence, "greater than 0 and less than 1")
    count = positive_integer(samples, "samples", SAMPLES)
    bits = source(seed)
    mixture, epochs = mixture_of(mechanism, relation)
    if not target.for_epsilon and target.value > _LARGEST_EPSILON:
        raise NotCertified(f"δ is not sampled at an ε above {_LARGEST_EPSILON}; ask for a certified δ")
    planned = (
        planned_epsilons(mixture, epochs, target, 1 - sure, count, bits)
        if target.for_epsilon
        else [to_float(target.value, "down")]
    )
    bounds = upper_bounds(mixture, epochs, planned, 1 - sure, count, bits)
    if target.for_epsilon:
        upper = next((Fraction(at) for at, bound in zip(planned, bounds, strict=True) if bound <= target.value), None)
        if upper is None:
            raise NotCertified(
                f"{count} samples do not suffice to show that delta {brief(target.value)} is kept at "
                f"any epsilon up to {planned[-1]:.4g}; take more samples"
            )
    else:
        (upper,) = bounds
    return Probable(mechanism, relation, target.given, target.value, upper, sure, count, seed)
