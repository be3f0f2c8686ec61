"""All kinds of noise."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from dpbounds.privacy.publishing.checker.assumptions import VERSION
from dpbounds.privacy.publishing.checker.fields import read_fields
from dpbounds.privacy.publishing.checker.noises.gaussian import GaussianNoise
from dpbounds.privacy.publishing.checker.noises.laplace import LaplaceNoise
from dpbounds.privacy.publishing.checker.noises.mixtures import MixtureOfGaussiansNoise
from dpbounds.privacy.publishing.checker.noises.noise import Noise
from dpbounds.privacy.publishing.checker.noises.responses import RandomizedResponseNoise
from dpbounds.privacy.publishing.checker.noises.skellam import SkellamNoise
from dpbounds.privacy.publishing.checker.noises.whole_numbers import DiscreteGaussianNoise, DiscreteLaplaceNoise
from dpbounds.privacy.publishing.checker.profiles import Profile
from dpbounds.privacy.publishing.checker.reading import field, quoted
from dpbounds.privacy.publishing.checker.verdicts import Malformed

NOISES: dict[str, Noise] = {
    each.kind: each
    for each in (
        *(GaussianNoise(), LaplaceNoise(), DiscreteLaplaceNoise(), DiscreteGaussianNoise()),
        *(MixtureOfGaussiansNoise(), RandomizedResponseNoise(), SkellamNoise()),
    )
}


def read_noise(noise: object, sampling: str, refused: tuple[str, ...] = (), version: int = VERSION) -> dict[str, Any]:
    """Read the noise of each batch; some schemes treat some noises as another kind."""
    kind = field(noise, "kind", str)
    if kind not in NOISES or kind in refused:
        raise Malformed(f"noise of kind {quoted(kind)} with records drawn by {sampling}")
    fields, first = NOISES[kind].form(noise)
    if first > version:
        raise Malformed(f"such noise of kind {quoted(kind)}, which version {version} does not have")
    found = read_fields(noise, f"noise {kind}", fields)
    NOISES[kind].demand(found)
    return found


def noise_profile(noise: dict[str, Any], times: int) -> Profile:
    """(15), (16), (29) Noise on all records, one of them moving by ``times`` times its bound: 2 if it is replaced."""
    return NOISES[noise["kind"]].profile(noise, times)


def joining(noise: dict[str, Any], order: str, relation: str, rate: Fraction) -> Profile:
    """(14), (30) A record that is in a Poisson sample with probability ``rate``, beside the others."""
    return NOISES[noise["kind"]].sampled(noise, order, relation, rate)
