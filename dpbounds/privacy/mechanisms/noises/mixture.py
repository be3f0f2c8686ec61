"""Gaussian noise on a sum to which a record contributes more or less, at random."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import ExactLike
from dpbounds.privacy import pairs
from dpbounds.privacy.mechanisms.core import CODE, ON_SUMS, Assumption, Mechanism, Trait, Writer, listed_pairs
from dpbounds.privacy.mechanisms.parameters import NUMBER, pairs_of, parameter
from dpbounds.privacy.relations import Order, Relation
from dpbounds.privacy.values import at_least_zero, positive, probability

_MOST = 100
_MOST_NAMED = 8  # norms that are named in words


@dataclass(frozen=True, slots=True, init=False, repr=False)
class MixtureOfGaussians(Mechanism):
    """Release a sum plus N(0, σ² I), where a record's vector has norm at most c_i with probability p_i.

    The index i is drawn anew for every record in every release, independently of everything else; the distribution is
    public and the same for all records. Many sampling schemes are of this kind.

    Args:
        noise_stddev: σ, greater than 0, in the units of the norms.
        norms: Pairs (c_i, p_i), or a mapping: c_i at least 0, p_i that sum to 1.

    Raises:
        InvalidValue: A value is out of its domain.

    >>> MixtureOfGaussians(2, {0: "0.9", 1: "0.1"}).norms[1]
    (Fraction(1, 1), Fraction(1, 10))
    """

    name = "mixture-of-gaussians"

    noise_stddev: Fraction = field(metadata=parameter(NUMBER, rounds="down"))
    norms: tuple[tuple[Fraction, Fraction], ...] = field(metadata=parameter(pairs_of("norm", "probability")))

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

    @property
    def traits(self) -> frozenset[Trait]:
        """Properties of noise on sums, except that a record's contribution is random."""
        return ON_SUMS - {Trait.CERTAIN}

    def thinned(self, rate: Fraction) -> MixtureOfGaussians:
        """Return the mixture on a Poisson sample: a record that is not drawn contributes 0."""
        present = tuple((norm, rate * chance) for norm, chance in self.norms)
        return MixtureOfGaussians(self.noise_stddev, ((Fraction(0), 1 - rate), *present))

    def dominated_by(self, order: Order) -> pairs.StepBound:
        """Return a mixture of Gaussians; where it is one Gaussian, or a Poisson sample, that pair (``mixtures.md``)."""
        direction = pairs.Direction.of(order)
        parts = tuple((norm**2 / self.noise_stddev**2, chance) for norm, chance in self.norms)
        (least, _), (largest, chance) = parts[0], parts[-1]
        if len(parts) == 1:
            return pairs.StepBound.attained(pairs.ShiftedGaussians(largest * (4 if order.moves_twice else 1)))
        if len(parts) == 2 and least == 0:
            return pairs.StepBound.attained(pairs.SampledGaussians(direction, chance, 1 / largest))
        return pairs.StepBound.attained(pairs.MixedGaussians(direction, parts))

    def assumptions(self, relation: Relation) -> tuple[Assumption, ...]:
        """Return the assumption that the norms are drawn as described."""
        return (
            Assumption(
                CODE, "each record adds a vector whose bound is drawn with its probability, independently of others"
            ),
        )

    def in_words(self, write: Writer) -> str:
        """Return the noise, and the norms that a record draws from."""
        if len(self.norms) > _MOST_NAMED:
            norms = f"{len(self.norms)} up to {write(self.norms[-1][0], 'up')}"
        else:
            norms = ", ".join(f"{write(norm, 'up')} (probability {write(chance, 'up')})" for norm, chance in self.norms)
        return self.filled(f"Gaussian noise of stddev {{noise_stddev}}, norms drawn from {norms}", write)
