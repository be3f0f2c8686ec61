"""Gaussian noise on all records or on Poisson samples, as every version has it."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, ClassVar

from dpbounds.privacy.publishing.checker.balls import shown
from dpbounds.privacy.publishing.checker.fields import COUNTED, Fields, unread
from dpbounds.privacy.publishing.checker.noises.mixtures import mixed
from dpbounds.privacy.publishing.checker.reading import positive, quoted
from dpbounds.privacy.publishing.checker.relations import RELATIONS
from dpbounds.privacy.publishing.checker.schemes.full_batch import FullBatch
from dpbounds.privacy.publishing.checker.schemes.poisson import Poisson
from dpbounds.privacy.publishing.checker.schemes.scheme import Scheme, noise_in_words, of_noise
from dpbounds.privacy.publishing.checker.spent import Sampled, Spent
from dpbounds.privacy.publishing.checker.verdicts import Malformed, require


class Gaussian(Scheme):
    """One release, whose object holds the parameters of its noise."""

    kind = "gaussian"
    version = 1
    fields: ClassVar[Fields] = {
        **dict.fromkeys(("noise_multiplier", "noise_stddev", "sensitivity", "sample_rate"), positive),
        "kind": unread,
        "count": COUNTED,
    }
    groups_under = tuple(RELATIONS)

    def holds(self, noise: dict[str, Any], relation: str) -> bool:
        """However its noise is given."""
        return True

    def is_drawn(self, release: dict[str, Any]) -> bool:
        """Closed forms and the contour integral know it."""
        return False

    def is_attained(self, release: dict[str, Any]) -> bool:
        """Return True: a single record attains it."""
        return True

    def product(self, release: dict[str, Any], relation: str) -> tuple[Fraction, Sampled]:
        """μ² of one release on all the data, or its pair on a sample."""
        (z, farthest), q = of_noise(release, relation), release["sample_rate"]
        if q is not None and q > 1:
            raise Malformed(f"sample rate {quoted(str(q))}")
        if q is None or q == 1:
            return (farthest / z) ** 2, Sampled()
        if release["noise_multiplier"] is None and relation == "replace-one":
            raise Malformed("a sampled release under replace-one needs noise_multiplier")
        return Fraction(0), Sampled({(q, z**2): 1})

    def of_group(self, release: dict[str, Any], order: str, relation: str, group: int) -> Spent:
        """Return the profile of a group: k times the shift; or a binomial number of it on a sample."""
        shift, sampled = self.product(release, relation)
        if not sampled:
            return Spent(group**2 * shift)
        q, (z, _) = release["sample_rate"], of_noise(release, relation)
        require(group <= 64, "a group on Poisson samples has at most 64 records")
        law = [math.comb(group, j) * q**j * (1 - q) ** (group - j) for j in range(group + 1)]
        return Spent(steps=[(mixed(law, z, order), 1)])

    def sampling(self, release: dict[str, Any]) -> str:
        """Return the name of the sampling scheme around the noise."""
        return FullBatch.kind if release["sample_rate"] is None else Poisson.kind

    def words(self, release: dict[str, Any]) -> str:
        """Noise is rounded down, sample rates and distances up."""
        q = release["sample_rate"]
        on = "the full data" if q is None else f"Poisson samples at rate {shown(q)}"
        return f"{release['count']} x Gaussian noise, {noise_in_words(release)}, on {on}"
