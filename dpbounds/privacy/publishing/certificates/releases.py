"""The releases of a certificate: mechanisms written as in certificates, and read back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dpbounds.errors import CertificateError, shortened
from dpbounds.privacy.mechanisms import (
    Gaussian,
    LastIterate,
    MatrixMechanism,
    Mechanism,
    PoissonSampled,
)
from dpbounds.privacy.mechanisms.descriptions import FULL_BATCH, MECHANISMS, SAMPLINGS, written
from dpbounds.privacy.mechanisms.parameters import parameters_of
from dpbounds.privacy.mechanisms.schemes.encoders import encoder_of
from dpbounds.privacy.mechanisms.schemes.sampling import Sampling
from dpbounds.privacy.publishing import standalone_checker
from dpbounds.privacy.publishing.numerals import exact_text
from dpbounds.privacy.relations import Relation

_NO_PAIR = "the stand-alone checker does not re-derive"


def why_no_certificate(part: Mechanism, relation: Relation, group_size: int = 1) -> str | None:
    """Return why certificates cannot describe a part of a composition, and an alternative; None if they can."""
    inner, kind = _inner(part), _kind(part)
    scheme = standalone_checker.SCHEMES.get(kind)
    grouped = scheme is not None and str(relation) in scheme.groups_under and isinstance(inner, Gaussian)
    if group_size > 1 and not grouped:
        return (
            f"{_NO_PAIR} groups of records with {shortened(repr(part))} under {relation}: Gaussian noise on all "
            "records, on Poisson samples, and (but for zero-out-one) on batches of a fixed size has a certificate"
        )
    if (
        isinstance(part, MatrixMechanism)
        and part.participation == "minimum-separation"
        and part.sample_rate is not None
    ):
        told = "steps drawn apart at a sample rate: leave the rate out, the certificate without it holds for them, too"
        return f"{_NO_PAIR} {told}"
    if part.whole:
        return None
    if inner.name not in standalone_checker.NOISES or scheme is None:
        return f"{_NO_PAIR} {shortened(repr(part))}: publish the command and its output"
    noise = _noise(inner)
    if isinstance(part, PoissonSampled):
        finally_given = kind == inner.name and noise["sensitivity"] is not None
        if finally_given and relation is Relation.REPLACE_ONE and part.sample_rate < 1:
            return f"{_NO_PAIR} noise with its final distance on a sample under replace-one: give noise_multiplier"
        known = standalone_checker.NOISES[inner.name]
        if not known.on_poisson_samples(standalone_checker.read_noise(noise, part.name)):
            return f"{_NO_PAIR} {inner!r} on samples of vectors of that norm: bound each coordinate"
    if scheme.holds(noise, str(relation)):
        return None
    if relation is Relation.ZERO_OUT_ONE and scheme.holds(noise, str(Relation.REPLACE_ONE)):
        return f"{_NO_PAIR} {inner!r} on such samples, a record being zeroed: replace-one has a certificate"
    return f"{_NO_PAIR} {inner!r} on such samples: Gaussian noise, given by noise_multiplier, has a certificate"


def release_of(mechanism: Mechanism, count: int, relation: Relation, group_size: int = 1) -> dict[str, Any]:
    """Equal releases as a certificate writes them, or ``CertificateError`` where it cannot."""
    reason = why_no_certificate(mechanism, relation, group_size)
    if reason is not None:
        raise CertificateError(f"no certificate: {reason}")
    inner, kind = _inner(mechanism), _kind(mechanism)
    if mechanism.whole:
        held = _numbers(mechanism.mechanism) if isinstance(mechanism, LastIterate) else {}
        return {"kind": kind, **held, **_numbers(mechanism), "count": count}
    drawn = _numbers(mechanism) if mechanism is not inner else {}
    if kind == inner.name:
        return {"kind": kind, **_numbers(inner), "sample_rate": drawn.get("sample_rate"), "count": count}
    return {"kind": kind, "mechanism": _noise(inner), **drawn, "count": count}


def _inner(part: Mechanism) -> Mechanism:
    """Return the noise of a release on samples; else the release itself."""
    return part.mechanism if isinstance(part, Sampling) else part


def _kind(part: Mechanism) -> str:
    """Return the kind of a release in certificates: its sampling scheme, unless the checker has its noise as a kind."""
    inner = _inner(part)
    kind = FULL_BATCH if part is inner and not part.whole else part.name
    scheme = standalone_checker.SCHEMES.get(kind)
    return inner.name if scheme is not None and inner.name in scheme.refused_noises else kind


def _noise(mechanism: Mechanism) -> dict[str, Any]:
    return {"kind": mechanism.name, **_numbers(mechanism)}


def _numbers(mechanism: Mechanism) -> dict[str, object]:
    """Return the parameters of one record, those that are not given as null; of two ways of giving one, that taken."""
    given = written(mechanism, exact_text)
    replacing = {name: each.instead_of for name, each in parameters_of(mechanism).items() if each.instead_of}
    unused = {old if name in given else name for name, old in replacing.items()}
    return {**{name: None for name in parameters_of(mechanism) if name not in unused}, **given}


def mechanism_of(release: Mapping[str, Any]) -> Mechanism:
    """Return the mechanism of a release, whose numbers have been read."""
    kind = release["kind"]
    if "mechanism" in release:
        noise = release["mechanism"]
        inner = _made(MECHANISMS[noise["kind"]], noise)
        return inner if kind == FULL_BATCH else _made(SAMPLINGS[kind], release, inner)
    if kind == MatrixMechanism.name:
        return _made(MatrixMechanism, {**release, "matrix": encoder_of(release["matrix"])})
    gaussian = _made(Gaussian, release)
    if kind == LastIterate.name:
        return _made(LastIterate, release, gaussian)
    rate = release["sample_rate"]
    return gaussian if rate is None else PoissonSampled(gaussian, rate)


def _made(make: Callable[..., Mechanism], numbers: Mapping[str, Any], *inner: Mechanism) -> Mechanism:
    return make(*inner, **{name: numbers[name] for name in parameters_of(make) if name in numbers})
