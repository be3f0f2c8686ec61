"""Unique, exact descriptions of single releases; and the digest that all documents about them share.

A ledger holds these descriptions. The **digest** of releases is the SHA-256 (64 hexadecimal digits) of their
descriptions as one JSON list, in ASCII, without spaces, the fields of each object in the order of their names; equal
releases in a row are one with the sum of their counts. Every exact number is text, p or p/q in lowest terms. Gaussian
noise is given by ``noise_multiplier`` where it is known per unit of the per-record bound, else by ``noise_stddev`` and
``sensitivity``. The digest is part of ledgers, certificates and statements, and can be computed from the releases.

>>> from dpbounds.privacy.mechanisms import Gaussian, PoissonSampled
>>> print(canonical(PoissonSampled(Gaussian(2), "0.01") ** 500))
[{"count":500,"mechanism":"gaussian","noise_multiplier":"2","sample_rate":"1/100","sampling":"poisson"}]
>>> digest(PoissonSampled(Gaussian(2), "0.01") ** 500)[:16]
'175a326ce0e3361b'
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping

from dpbounds.errors import UnsupportedMechanism
from dpbounds.privacy import mechanisms
from dpbounds.privacy.mechanisms import LastIterate, Mechanism
from dpbounds.privacy.mechanisms.parameters import WriteNumber, parameters_of
from dpbounds.privacy.mechanisms.schemes.sampling import Sampling

FULL_BATCH = "full-batch"
POISSON, TRUNCATED = mechanisms.PoissonSampled.name, mechanisms.TruncatedPoisson.name
WITHOUT_REPLACEMENT = mechanisms.SampledWithoutReplacement.name
WITH_REPLACEMENT = mechanisms.SampledWithReplacement.name
SHUFFLED, ALLOCATED = mechanisms.Shuffled.name, mechanisms.RandomlyAllocated.name
BINS = mechanisms.BallsInBins.name

JsonObject = Mapping[str, object]

_EVERY = [each for name in mechanisms.__all__ if isinstance(each := getattr(mechanisms, name), type)]
_NAMED = {kind.name: kind for kind in _EVERY if issubclass(kind, Mechanism) and kind.name}
SAMPLINGS: dict[str, type[Sampling]] = {
    name: kind for name, kind in sorted(_NAMED.items()) if issubclass(kind, Sampling)
}
MECHANISMS: dict[str, type[Mechanism]] = {name: _NAMED[name] for name in sorted(_NAMED) if name not in SAMPLINGS}


def described(mechanism: Mechanism, count: int) -> JsonObject:
    """Return a number of equal releases as an entry of a ledger.

    Raises:
        UnsupportedMechanism: It is not a single release: a composition inside a sample, or parallel blocks.
    """
    if mechanism.whole:
        noise = written(mechanism.mechanism) if isinstance(mechanism, LastIterate) else {}
        return {"mechanism": mechanism.name, **written(mechanism), **noise, "count": count}
    if isinstance(mechanism, Sampling):
        inner, sampling = mechanism.mechanism, {"sampling": mechanism.name, **written(mechanism)}
    else:
        inner, sampling = mechanism, {"sampling": FULL_BATCH}
    if inner.name not in MECHANISMS or inner.whole:
        raise UnsupportedMechanism(f"a ledger holds single releases, and cannot hold {inner!r}: list its parts")
    return {"mechanism": inner.name, **written(inner), **sampling, "count": count}


def written(mechanism: Mechanism, number: WriteNumber = str) -> dict[str, object]:
    """Return the parameters of one record as JSON values, those that are None left out."""
    values = {name: (each, getattr(mechanism, name)) for name, each in parameters_of(mechanism).items()}
    return {name: each.kind.write(value, number) for name, (each, value) in values.items() if value is not None}


def digest(releases: Mechanism | Iterable[tuple[Mechanism, int]]) -> str:
    """Return the digest of releases, 64 hexadecimal digits; ``UnsupportedMechanism`` if one is not a single release."""
    return hashlib.sha256(canonical(releases).encode("ascii")).hexdigest()


def canonical(releases: Mechanism | Iterable[tuple[Mechanism, int]]) -> str:
    """Return the text that the digest is of."""
    joined: list[tuple[Mechanism, int]] = []
    for part, count in mechanisms.parts_of(releases) if isinstance(releases, Mechanism) else releases:
        if joined and joined[-1][0] == part:
            joined[-1] = part, joined[-1][1] + count
        else:
            joined.append((part, count))
    entries = [described(part, count) for part, count in joined]
    return json.dumps(entries, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
