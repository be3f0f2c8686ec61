"""Gaussian noise on all records or on Poisson samples, as every version has it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from dpbounds.privacy.publishing.checker.profiles import Sampled
from dpbounds.privacy.publishing.checker.reading import quoted
from dpbounds.privacy.publishing.checker.verdicts import Malformed


def of_noise(release: dict[str, Any], relation: str) -> tuple[Fraction, int]:
    """z, in units of the distance 1, and the distance: 2 under replace-one, unless the final one is given."""
    z, stddev, distance = (release[name] for name in ("noise_multiplier", "noise_stddev", "sensitivity"))
    if z is not None and stddev is None and distance is None:
        return z, 2 if relation == "replace-one" else 1
    if z is None and stddev is not None and distance is not None:
        return stddev / distance, 1
    raise Malformed("a release gives either noise_multiplier, or noise_stddev with sensitivity")


def gaussian(release: dict[str, Any], relation: str) -> tuple[Fraction, Sampled]:
    """μ² of one release on all the data, or its pair on a sample."""
    (z, farthest), q = of_noise(release, relation), release["sample_rate"]
    if q is not None and q > 1:
        raise Malformed(f"sample rate {quoted(str(q))}")
    if q is None or q == 1:
        return (farthest / z) ** 2, Sampled()
    if release["noise_multiplier"] is None and relation == "replace-one":
        raise Malformed("a sampled release under replace-one needs noise_multiplier")
    return Fraction(0), Sampled({(q, z**2): 1})
