"""Releases of every kind."""

from __future__ import annotations

import hashlib
import json
from fractions import Fraction
from typing import Any

from dpbounds.privacy.publishing.checker.assumptions import VERSION
from dpbounds.privacy.publishing.checker.fields import read_fields
from dpbounds.privacy.publishing.checker.noises.table import NOISES, read_noise
from dpbounds.privacy.publishing.checker.reading import field, quoted
from dpbounds.privacy.publishing.checker.schemes.table import SCHEMES
from dpbounds.privacy.publishing.checker.verdicts import Malformed


def read_release(release: object, version: int = VERSION) -> dict[str, Any]:
    """Return a release with its numbers read: fields of its kind, and no others."""
    kind = field(release, "kind", str)
    if kind not in SCHEMES or SCHEMES[kind].version > version:
        raise Malformed(f"a release of kind {quoted(kind)}, which version {version} does not have")
    scheme = SCHEMES[kind]
    found = read_fields(release, kind, scheme.fields)
    if "mechanism" in found:
        found["mechanism"] = read_noise(found["mechanism"], kind, scheme.refused_noises, version)
    scheme.demand(found, version)
    return found


def is_drawn(release: dict[str, Any]) -> bool:
    """Return whether it takes the profiles of version 5."""
    return SCHEMES[release["kind"]].is_drawn(release)


def version_of(release: dict[str, Any]) -> int:
    """Return the first version that has such a release."""
    if not is_drawn(release):
        return SCHEMES[release["kind"]].version
    noise = release.get("mechanism")
    return 5 if noise is None else max(5, NOISES[noise["kind"]].form(noise)[1])


def is_attained(release: dict[str, Any]) -> bool:
    """Return whether some run attains the release's pair, which then shows lower bounds; other pairs only dominate."""
    return SCHEMES[release["kind"]].is_attained(release)


def release_in_words(release: dict[str, Any]) -> str:
    """Equal releases; noise is rounded down, sample rates and distances up."""
    read = read_release(release)
    return SCHEMES[read["kind"]].words(read)


def lowest_terms(value: object) -> object:
    """Exact numbers as text p or p/q, wherever they stand; all else as it is."""
    if isinstance(value, dict):
        return {name: lowest_terms(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [lowest_terms(inner) for inner in value]
    return str(value) if isinstance(value, Fraction) else value


def digest(mechanism: list[Any]) -> str:
    """SHA-256 of the releases: compact JSON with sorted fields, numbers in lowest terms, equal ones in a row as one."""
    entries: list[dict[str, Any]] = []
    for release in map(read_release, mechanism):
        inner = release.get("mechanism", {})
        held = {**inner, **release}
        entry = {
            name: lowest_terms(value)
            for name, value in held.items()
            if value is not None and name not in ("kind", "mechanism")
        }
        entry["mechanism"] = inner.get("kind", release["kind"])
        sampling = SCHEMES[release["kind"]].sampling(release)
        if sampling is not None:
            entry["sampling"] = sampling
        if entries and {**entries[-1], "count": 0} == {**entry, "count": 0}:
            entries[-1]["count"] += entry["count"]
        else:
            entries.append(entry)
    return hashlib.sha256(json.dumps(entries, sort_keys=True, separators=(",", ":")).encode("ascii")).hexdigest()
