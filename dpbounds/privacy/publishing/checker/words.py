"""Releases in words, their digest, and the sheet of a certificate."""

from __future__ import annotations

import hashlib
import json
from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction
from typing import Any

from dpbounds.privacy.publishing.checker.assumptions import assumptions_of
from dpbounds.privacy.publishing.checker.balls import shown
from dpbounds.privacy.publishing.checker.claims import claim_in_words, read_claim, relation_in_words
from dpbounds.privacy.publishing.checker.releases import read_release
from dpbounds.privacy.publishing.checker.schemes.last_iterates import is_scheduled
from dpbounds.privacy.publishing.checker.schemes.matrices import matrix_in_words


def release_in_words(release: dict[str, Any]) -> str:
    """Equal releases; noise is rounded down, sample rates and distances up."""
    read = read_release(release)
    if "mechanism" in read:
        return drawn_in_words(read)
    z, stddev, distance, q = (
        read.get(name) for name in ("noise_multiplier", "noise_stddev", "sensitivity", "sample_rate")
    )
    noise = "" if z is None else f"standard deviation {shown(z, ROUND_FLOOR)} per unit of the per-record bound"
    if stddev is not None and distance is not None:
        noise = f"standard deviation {shown(stddev, ROUND_FLOOR)} at sensitivity {shown(distance)}"
    times = f"{read['count']} x "
    if read["kind"] == "last-iterate":
        also = f" and after epochs {', '.join(map(str, read['checkpoints'][:20]))}" if read["checkpoints"] else ""
        more = ", ..." if len(read["checkpoints"]) > 20 else ""
        steps = read["smoothness_step"]
        sizes = f"steps, {shown(min(steps))} to" if is_scheduled(read) else "step"
        largest = shown(max(steps) if is_scheduled(read) else steps)
        return (
            f"{times}only the last iterate{also}{more} of {read['epochs']} epochs of {read['batches']} batches in a "
            f"{read['order']} order, smoothness {sizes} {largest}, weight decay step "
            f"{shown(read['weight_decay_step'], ROUND_FLOOR)}; Gaussian noise in every step, {noise}"
        )
    if read["kind"] == "matrix":
        return f"{times}{matrix_in_words(read)}; Gaussian noise in every row, {noise}"
    on = "the full data" if q is None else f"Poisson samples at rate {shown(q)}"
    return f"{times}Gaussian noise, {noise}, on {on}"


def drawn_in_words(read: dict[str, Any]) -> str:
    """Noise and how records are drawn; exact numbers are rounded so that what is said spends no less."""

    def told(name: str, value: Any) -> str:
        down = name in ("noise_multiplier", "noise_stddev", "noise_scale", "rest")
        word = shown(value, ROUND_FLOOR if down else ROUND_CEILING) if isinstance(value, Fraction) else str(value)
        if name == "norms":
            word = ", ".join(f"{shown(c)} with probability {shown(p)}" for c, p in value)
        return f"{name.replace('_', ' ')} {word}"

    noise, left = read["mechanism"], ("kind", "mechanism", "count")
    of_noise = [told(name, value) for name, value in noise.items() if name not in left and value is not None]
    drawn = [told(name, value) for name, value in read.items() if name not in left]
    how = f"{read['kind'].replace('-', ' ')}{' (' if drawn else ''}{', '.join(drawn)}{')' if drawn else ''}"
    return f"{read['count']} x {noise['kind'].replace('-', ' ')} noise, {', '.join(of_noise)}, on {how}"


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
        if inner:
            entry["sampling"] = release["kind"]
        elif release["kind"] == "gaussian":
            entry["sampling"] = "poisson" if "sample_rate" in entry else "full-batch"
        if entries and {**entries[-1], "count": 0} == {**entry, "count": 0}:
            entries[-1]["count"] += entry["count"]
        else:
            entries.append(entry)
    return hashlib.sha256(json.dumps(entries, sort_keys=True, separators=(",", ":")).encode("ascii")).hexdigest()


def sheet(document: dict[str, Any]) -> list[str]:
    """What a well-formed certificate is about, for a person: claim, relation, mechanism, digest; then assumptions."""
    lines = []
    for account in document["accounts"]:
        claim, releases = read_claim(account), account["mechanism"]
        role = {"account": "", "suffices": " of the value", "fails": " of the value that fails"}[account["role"]]
        lines += [
            f"claim{role}: {claim_in_words(claim)}",
            f"  relation: {claim['relation']}: {relation_in_words(claim)}",
            *(f"  mechanism: {release_in_words(release)}" for release in releases[:20]),
            *([f"  mechanism: and {len(releases) - 20} more kinds of releases"] if len(releases) > 20 else []),
            f"  digest of the releases: {digest(releases)}",
        ]
    lines.append("assumptions, which a certificate cannot prove and somebody has to vouch for:")
    return lines + [f"  {number}. {text}" for number, text in enumerate(assumptions_of(document["version"]), 1)]
