"""Mechanisms in words."""

from __future__ import annotations

from fractions import Fraction

from dpbounds.cli.printing.output import plain
from dpbounds.expressions.exact import Direction as Side
from dpbounds.privacy.mechanisms import Mechanism, parts_of


def described(mechanism: Mechanism) -> str:
    """Return the releases of a mechanism in one line."""
    return "; ".join(f"{releases(part, count)}, {noise_of(part)}" for part, count in parts_of(mechanism))


def releases(part: Mechanism, count: int) -> str:
    """Return a number of releases, and the records that they are about."""
    return part.releases_in_words(count, _exactly)


def drawn(part: Mechanism) -> str:
    """Return the records that a release is about: the full batch, or a sample."""
    return part.drawn_in_words(_exactly)


def noise_of(part: Mechanism) -> str:
    """Describe the noise or the answer of a release, without its batches."""
    return part.in_words(_exactly)


def _exactly(value: Fraction, _: Side) -> str:
    return plain(value)
