"""Noise in shares: each client adds a part of the noise, and only the sum over clients is seen."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction

from dpbounds.errors import InvalidValue, UnsupportedMechanism, demand_one_of
from dpbounds.expressions.exact import ExactLike, positive_integer
from dpbounds.privacy import pairs
from dpbounds.privacy.mechanisms.core import CODE, LOADER, Assumption, Mechanism, Writer
from dpbounds.privacy.mechanisms.noises.skellam import Skellam
from dpbounds.privacy.mechanisms.noises.whole_numbers import DiscreteGaussian, bounded_vectors, in_dimensions
from dpbounds.privacy.mechanisms.parameters import COUNT, NUMBER, WORD, parameter
from dpbounds.privacy.relations import Order, Relation
from dpbounds.privacy.values import positive, positive_rate

GAUSSIAN = "gaussian"
_WORDS = {GAUSSIAN: "Gaussian", "skellam": "Skellam", "discrete-gaussian": "discrete Gaussian"}


@dataclass(frozen=True, slots=True, init=False, repr=False)
class NoiseInShares(Mechanism):
    """Release the sum of the clients' vectors, to each of which its client adds independent noise before the sum.

    One record is one client with its whole vector. Who sends a vector is public: under zero-out-one a client sends
    noise alone, under replace-one another vector. Add-or-remove-one is refused, as a client takes its noise along, and
    so is every sampling scheme around it: ``client_rate`` draws clients. No sum of fewer than ``shares`` vectors may
    be opened, and clients must drop out independently of all vectors and of all noise of the round.

    Args:
        distribution: "gaussian", "skellam" or "discrete-gaussian"; the last two are noise on whole numbers.
        share_variance: The variance of the noise of one client in each coordinate, greater than 0; for discrete
            Gaussian noise its squared parameter s², at least 1. Noise of standard deviation z C in the sum needs
            z² C² / ``shares``.
        shares: m, the smallest number of vectors in a sum that is opened.
        bound: C, the l2 norm of each client's vector: greater than 0; for whole numbers at least 1.
        dimension: d, or None if it is not known. Skellam and discrete Gaussian noise have better bounds in one.
        colluding: k < m, the largest number of clients of one sum whose noise others know, or who add none. None: 0.
        client_rate: q in (0, 1], if each client is drawn for each round with probability q, independently, and only
            those send a vector. None: all clients send one, or those of a choice that does not depend on their data.

    Raises:
        InvalidValue: A value is out of its domain.

    The noise of m - k clients is accounted; ``shares.md`` has the proof.

    >>> NoiseInShares("gaussian", "0.225", 10, colluding=3).honest
    7
    """

    name = "noise-in-shares"
    alone = "who sends a vector shows: run it on all clients, or give client_rate, at which clients are drawn"

    distribution: str = field(metadata=parameter(WORD))
    share_variance: Fraction = field(metadata=parameter(NUMBER, rounds="down"))
    shares: int = field(metadata=parameter(COUNT))
    bound: Fraction = field(metadata=parameter(NUMBER))
    dimension: int | None = field(metadata=parameter(COUNT, optional=True))
    colluding: int | None = field(metadata=parameter(COUNT, optional=True))
    client_rate: Fraction | None = field(metadata=parameter(NUMBER, optional=True))

    def __init__(
        self,
        distribution: str,
        share_variance: ExactLike,
        shares: int,
        bound: ExactLike = 1,
        *,
        dimension: int | None = None,
        colluding: int | None = None,
        client_rate: ExactLike | None = None,
    ) -> None:
        demand_one_of("distribution", distribution, tuple(_WORDS))
        least = positive_integer(shares, "shares")
        some = None if colluding in (None, 0) else positive_integer(colluding, "colluding")
        if some is not None and some >= least:
            raise InvalidValue("colluding", some, f"less than shares = {least}", "a sum needs secret noise")
        if distribution == GAUSSIAN:
            known = None if dimension is None else positive_integer(dimension, "dimension")
            vectors = {"bound": positive(bound, "bound"), "dimension": known}
        else:
            vectors = bounded_vectors(bound, dimension)
        variance = positive(share_variance, "share_variance")
        if distribution == DiscreteGaussian.name and variance < 1:
            advice = (
                "with narrower shares, their sum is far from a discrete Gaussian: take a finer unit, or Skellam noise"
            )
            raise InvalidValue("share_variance", share_variance, "at least 1 for discrete Gaussian noise", advice)
        self._hold(
            distribution=distribution,
            share_variance=variance,
            shares=least,
            colluding=some,
            client_rate=None if client_rate in (None, 1) else positive_rate(client_rate),
            **vectors,
        )

    @property
    def honest(self) -> int:
        """The number of clients whose noise is counted, m - k."""
        return self.shares - (self.colluding or 0)

    def dominated_by(self, order: Order) -> pairs.StepBound:
        """Return the pair of the noise of all honest clients together (``shares.md``).

        Raises:
            UnsupportedMechanism: The clients of two neighbours differ, or nothing is proven of such vectors.
        """
        if order.counts_records:
            raise UnsupportedMechanism(
                "noise in shares is private under zero-out-one and replace-one, not under add-or-remove-one, where a "
                "client that leaves takes its noise along: ask with relation='zero-out-one', under which it sends "
                "noise alone"
            )
        summed = self._summed(order)
        if self.client_rate is not None:
            summed = pairs.StepBound(
                pairs.Diluted(self.client_rate, summed.pair),
                tuple(pairs.Diluted(self.client_rate, pair) for pair in summed.attacks),
            )
        return replace(summed, in_the_limit=True)  # attained where enough clients arrive

    def _summed(self, order: Order) -> pairs.StepBound:
        variance = self.honest * self.share_variance
        if self.distribution == GAUSSIAN:
            distance = (2 if order.moves_twice else 1) * self.bound
            return pairs.StepBound.attained(pairs.ShiftedGaussians(distance**2 / variance))
        if self.distribution == Skellam.name:
            return Skellam(variance, self.bound, dimension=self.dimension).dominated_by(order)
        if self.honest == 1:
            alone = DiscreteGaussian(noise_variance=variance, bound=self.bound, dimension=self.dimension)
            return alone.dominated_by(order)
        return self._sums_of_discrete_gaussians(order)

    def _sums_of_discrete_gaussians(self, order: Order) -> pairs.StepBound:
        times, scalar, whole = 2 if order.moves_twice else 1, self.dimension == 1, math.floor(self.bound)
        squared = (times * (whole if scalar else self.bound)) ** 2
        moved = 1 if scalar else min(math.floor(squared), self.dimension or math.floor(squared))
        variance, farthest = self.honest * self.share_variance, times * whole
        is_listed = pairs.sum_is_listed(self.share_variance, self.honest, farthest)
        along_one = pairs.ShiftedSumsOfDiscreteGaussians(self.share_variance, self.honest, farthest, scalar)
        if is_listed and scalar:
            return pairs.StepBound.attained(along_one)
        # no coordinate moves by more than 1, and the worst case moves as many as possible
        if is_listed and squared < 4:
            one = pairs.ShiftedSumsOfDiscreteGaussians(self.share_variance, self.honest, 1, scalar)
            return pairs.StepBound.attained(one if moved == 1 else pairs.Combined(((one, moved),)))
        closeness = pairs.closeness(self.share_variance, self.honest)
        known = pairs.DiscreteGaussianVectors(variance, Fraction(math.floor(squared)), moved, closeness)
        return pairs.StepBound(known, (along_one,) if is_listed else ())

    def assumptions(self, relation: Relation) -> tuple[Assumption, ...]:
        """Return the assumptions on clients, on their noise, and on who is in a sum."""
        drawn = "each client enters each round independently with exactly the rate given, whatever its data are"
        return (
            *([] if self.client_rate is None else [Assumption(LOADER, drawn)]),
            Assumption(
                CODE,
                "each client's vector is bounded by itself, and each client that does not collude adds fresh noise, "
                "drawn exactly and independently of everything, before the sum",
            ),
            Assumption(CODE, f"{self._opened}; {self.colluding or 'no'} clients of a sum collude at most"),
        )

    @property
    def _opened(self) -> str:
        """The sums that are opened, and who drops out of them."""
        return (
            f"no sum of fewer than {self.shares} clients is opened, nor a second sum of a round; clients drop out "
            "independently of all vectors and of all noise of the round"
        )

    def drawn_in_words(self, write: Writer) -> str:
        """Return the clients of a round."""
        if self.client_rate is None:
            return "all clients that arrive"
        return self.filled("Poisson samples of clients at rate {client_rate}, which may be seen", write)

    def draws(self, relation: Relation) -> str:
        """Describe how clients come into rounds, and which sums are opened."""
        poisson = "Poisson sampling of clients (each enters each round independently)"
        return f"{'no sampling of clients' if self.client_rate is None else poisson}, secure sums ({self._opened})"

    def in_words(self, write: Writer) -> str:
        """Return the noise of one client, the least number of clients, and how many may collude."""
        whole = "" if self.distribution == GAUSSIAN else ", whole numbers"
        without = "" if self.colluding is None else ", of whom at most {colluding} collude"
        scale = "squared parameter" if self.distribution == DiscreteGaussian.name else "variance"
        noise = (
            f"{_WORDS[self.distribution]} noise of {scale} {{share_variance}} from each of at least {{shares}} "
            f"clients{without}{whole}, per-client l2 bound {{bound}}"
        )
        return self.filled(noise + in_dimensions(self.dimension), write)
