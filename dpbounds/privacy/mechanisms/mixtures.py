"""Gaussian noise on a sum to which a record contributes more or less, by chance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import ExactLike
from dpbounds.privacy.mechanisms.additive import positive
from dpbounds.privacy.mechanisms.algebra import Mechanism, listed_pairs
from dpbounds.privacy.values import at_least_zero, probability

_MOST = 100


@dataclass(frozen=True, slots=True, init=False, repr=False)
class MixtureOfGaussians(Mechanism):
    """Release a sum plus N(0, σ² I), where a record's vector has norm at most c_i with probability p_i.

    Which i it is is drawn anew for every record in every release, independently of everything else; the law is public
    and the same for all records. Many ways of drawing batches are of this kind.

    Args:
        noise_stddev: σ, greater than 0, in the units of the norms.
        norms: Pairs (c_i, p_i), or a mapping: c_i at least 0, p_i that sum to 1.

    Raises:
        InvalidValue: A value is out of its domain.

    >>> MixtureOfGaussians(2, {0: "0.9", 1: "0.1"}).norms[1]
    (Fraction(1, 1), Fraction(1, 10))
    """

    noise_stddev: Fraction
    norms: tuple[tuple[Fraction, Fraction], ...]

    def __init__(
        self,
        noise_stddev: ExactLike,
        norms: Mapping[ExactLike, ExactLike] | Iterable[tuple[ExactLike, ExactLike]],
    ) -> None:
        weights: dict[Fraction, Fraction] = {}
        for norm, chance in listed_pairs(norms, "norms", "pairs of a norm and a probability"):
            at = at_least_zero(norm, "norm")
            weights[at] = weights.get(at, Fraction(0)) + probability(chance, "probability")
        if sum(weights.values()) != 1:
            raise InvalidValue("probabilities", sum(weights.values()), "numbers that sum to exactly 1")
        kept = tuple(sorted((norm, chance) for norm, chance in weights.items() if chance))
        if len(kept) > _MOST:
            raise InvalidValue("number of norms", len(kept), f"at most {_MOST}")
        if kept[-1][0] == 0:
            raise InvalidValue("norms", [0], "not all 0", "a record would contribute nothing")
        self._hold(noise_stddev=positive(noise_stddev, "noise_stddev"), norms=kept)
