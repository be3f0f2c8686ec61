"""The file of a kernel certificate: a line of JSON, for people and for the check of the masses, and integers.

::

    dpbounds kernel certificate 1
    {"relation": ..., "releases": [...], "epsilon": ..., "delta": ..., ...}
    claims 1
    claim remove
    bits 64
    threshold N E           at most e^epsilon; N E stands for N / 2^E
    factor N E              at most e^-h
    delta N E
    kinds 1
    kind 1000               the number of such steps
    ratio N E               at most Q/P at level 0
    infinite M              the mass at infinite loss; M stands for M / 2^bits
    masses 3
    M M M
    end

The checker skips the second line. Every number in the others is a natural number in decimal digits.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dpbounds import documents
from dpbounds.errors import CertificateError, InvalidValue
from dpbounds.privacy.publishing.kernel.composing import Binary, Kind

FIRST_LINE = "dpbounds kernel certificate 1"
MOST_BITS = 10_000
_DIGITS = re.compile(r"[0-9]{1,4000}", re.ASCII)


@dataclass(frozen=True, slots=True)
class KernelClaim:
    """A claim about one class of neighbours: P(E) <= c Q(E) + δ for every event E and every c >= threshold.

    Attributes:
        name: The class.
        bits: Masses are multiples of 2^-bits.
        threshold: A lower bound of e^ε.
        factor: A lower bound of e^-h.
        delta: δ.
        kinds: The steps.
    """

    name: str
    bits: int
    threshold: Binary
    factor: Binary
    delta: Binary
    kinds: tuple[Kind, ...]


@dataclass(frozen=True, slots=True)
class KernelCertificate:
    """A kernel certificate.

    Attributes:
        about: The words: releases, relation, ε, δ, lattices, assumptions.
        claims: A claim for each class of neighbours.
    """

    about: Mapping[str, Any]
    claims: tuple[KernelClaim, ...]

    def text(self) -> str:
        """Return the content of the file."""
        return "\n".join([*self._lines(), ""])

    def _lines(self) -> Iterator[str]:
        yield FIRST_LINE
        yield json.dumps(self.about, ensure_ascii=True, allow_nan=False)
        yield f"claims {len(self.claims)}"
        for claim in self.claims:
            yield f"claim {claim.name}"
            yield f"bits {claim.bits}"
            for name in ("threshold", "factor", "delta"):
                yield _fraction(name, getattr(claim, name))
            yield f"kinds {len(claim.kinds)}"
            for kind in claim.kinds:
                yield f"kind {kind.count}"
                yield _fraction("ratio", kind.ratio)
                yield f"infinite {kind.infinite}"
                yield f"masses {len(kind.masses)}"
                yield " ".join(map(str, kind.masses))
        yield "end"


def _fraction(name: str, value: Binary) -> str:
    return f"{name} {value[0]} {value[1]}"


def read(text: str) -> KernelCertificate:
    """Read the content of a file.

    Raises:
        CertificateError: It is not a kernel certificate.
    """
    first, _, rest = text.partition("\n")
    if first != FIRST_LINE:
        raise CertificateError(f"not a kernel certificate: its first line must be {FIRST_LINE!r}")
    words, _, rest = rest.partition("\n")
    try:
        about = documents.parsed(words, "the second line")
    except InvalidValue as error:
        raise CertificateError(f"not a kernel certificate: {error}") from None
    if not isinstance(about, dict):
        raise CertificateError("not a kernel certificate: the second line must be a JSON object")
    words_left = _Words(rest.split())
    claims = tuple(words_left.claim() for _ in range(words_left.size("claims", 1)))
    words_left.expect("end")
    if words_left.left():
        raise CertificateError("not a kernel certificate: nothing may follow 'end'")
    return KernelCertificate(about, claims)


class _Words:
    """The words of a file that are not read yet."""

    def __init__(self, words: list[str]) -> None:
        self._words = words
        self._at = 0

    def left(self) -> bool:
        return self._at < len(self._words)

    def word(self) -> str:
        if not self.left():
            raise CertificateError("not a kernel certificate: the file ends too early")
        self._at += 1
        return self._words[self._at - 1]

    def expect(self, known: str) -> None:
        found = self.word()
        if found != known:
            raise CertificateError(f"not a kernel certificate: {known!r} is expected in place of {found[:40]!r}")

    def number(self) -> int:
        found = self.word()
        if not _DIGITS.fullmatch(found):
            raise CertificateError(f"not a kernel certificate: a natural number is expected in place of {found[:40]!r}")
        return int(found)

    def size(self, name: str, least: int, most: int = 10**9) -> int:
        self.expect(name)
        found = self.number()
        if not least <= found <= most:
            raise CertificateError(f"not a kernel certificate: {name} must be {least} to {most}, not {found}")
        return found

    def fraction(self, name: str) -> Binary:
        self.expect(name)
        number = self.number()
        exponent = self.number()
        if exponent > MOST_BITS:
            raise CertificateError(f"not a kernel certificate: {name} has more than {MOST_BITS} binary digits")
        return number, exponent

    def kind(self) -> Kind:
        count = self.size("kind", 1, 10**15)
        ratio = self.fraction("ratio")
        self.expect("infinite")
        infinite = self.number()
        masses = tuple(self.number() for _ in range(min(self.size("masses", 0), len(self._words))))
        return Kind(count, ratio, infinite, masses)

    def claim(self) -> KernelClaim:
        self.expect("claim")
        name = self.word()
        bits = self.size("bits", 1, MOST_BITS)
        threshold = self.fraction("threshold")
        factor = self.fraction("factor")
        delta = self.fraction("delta")
        kinds = tuple(self.kind() for _ in range(self.size("kinds", 0)))
        return KernelClaim(name, bits, threshold, factor, delta, kinds)
