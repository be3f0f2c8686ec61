"""Kernel certificates of accounts: for runs that the lattice route proves."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from dpbounds import documents
from dpbounds.errors import CertificateError, NotCertified, UnsupportedMechanism, demand
from dpbounds.expressions.exact import to_decimal
from dpbounds.privacy.accountants.certified import Account
from dpbounds.privacy.domination.composition import neighbour_classes
from dpbounds.privacy.mechanisms import parts_of as releases_in
from dpbounds.privacy.pairs.pairs import Product
from dpbounds.privacy.proofs import Declined
from dpbounds.privacy.publishing import standalone_checker
from dpbounds.privacy.publishing.certificates import release_of
from dpbounds.privacy.publishing.kernel.composing import Binary, Composition, composed
from dpbounds.privacy.publishing.kernel.files import MOST_BITS, KernelCertificate, KernelClaim
from dpbounds.privacy.publishing.kernel.masses import (
    Lattices,
    exponential_below,
    grid_for,
    kinds_of,
    lattices_for,
    parts_of,
)
from dpbounds.privacy.publishing.numerals import exact_text
from dpbounds.privacy.publishing.publishable import demand_one_record, finite_ends, versions
from dpbounds.privacy.routes.allocation.discrete_pairs import Grid

_REFINEMENTS = (1.0, 0.3, 0.1, 0.03)
_ENOUGH = Fraction(1003, 1000)  # δ of the lattice over the certified δ, at which no finer lattice is tried
_MARGINS = (0, 1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000)  # parts in a million of ε, tried in turn for a given δ
_GUARD_BITS = 20
_DIGITS = 6


@dataclass(frozen=True, slots=True)
class _Class:
    """A class of neighbours on a lattice."""

    name: str
    grid: Grid | None
    on: Lattices
    composition: Composition

    def delta(self, epsilon: Fraction) -> Fraction:
        return Fraction(self.composition.bound(exponential_below(epsilon)), 1 << self.composition.unit)


def kernel_certificate(subject: Account) -> KernelCertificate:
    """Return the kernel certificate of an account.

    For a given ε, δ is at most 1 % above the account's. For a given δ, ε is at most 1 % above it.

    Raises:
        CertificateError: The account is one of groups, or has an infinite bound or δ = 0; the lattice route does not
            prove it; or it would need too large a lattice.
    """
    demand("subject", subject, Account)
    demand_one_record(subject, "kernel certificate")
    ends = finite_ends(subject.enclosure)
    epsilon, delta = (ends[1], subject.target) if subject.given == "delta" else (subject.target, ends[1])
    if delta <= 0:
        raise CertificateError("no kernel certificate for delta = 0: a lattice proves a delta greater than 0")
    releases = [release_of(*part, subject.relation) for part in releases_in(subject.mechanism)]
    classes = [
        _on_a_lattice(each.name, each.product, epsilon, delta)
        for each in neighbour_classes(subject.mechanism, subject.relation).every()
    ]
    if subject.given == "delta":
        epsilon = _least_epsilon(classes, epsilon, delta)
    else:
        delta = Fraction(to_decimal(max(each.delta(epsilon) for each in classes), _DIGITS, "up"))
    about: dict[str, Any] = {
        "relation": str(subject.relation),
        "releases": releases,
        "digest": standalone_checker.digest(releases),
        "epsilon": exact_text(epsilon),
        "delta": exact_text(delta),
        "classes": [_lattices(each) for each in classes],
        "versions": versions(),
    }
    return KernelCertificate(about, tuple(_claim(each, epsilon, delta) for each in classes))


def write_kernel_certificate(path: str | Path, subject: Account) -> None:
    """Write the kernel certificate, whole or not at all; errors as for :func:`kernel_certificate`, ``OSError``."""
    documents.write(path, kernel_certificate(subject).text())


def _on_a_lattice(name: str, product: Product, epsilon: Fraction, delta: Fraction) -> _Class:
    """Return a class on the coarsest of some lattices that proves about δ, or on the finest."""
    found: _Class | None = None
    for refinement in _REFINEMENTS:
        try:
            found = _refined(name, product, epsilon, delta, refinement)
        except (Declined, NotCertified, UnsupportedMechanism) as reason:
            if found is None:
                raise CertificateError(f"no kernel certificate of the class {name!r}: {reason}") from None
            break
        if found.delta(epsilon) <= _ENOUGH * delta:
            return found
    assert found is not None
    return found


def _refined(name: str, product: Product, epsilon: Fraction, delta: Fraction, refinement: float) -> _Class:
    grid = grid_for(product, delta, refinement)
    parts = parts_of(product, grid)
    if not parts:
        raise Declined("no step spends anything")
    on = lattices_for(parts, epsilon, refinement)
    steps, levels = sum(part.count for part in parts), max((marks[-1] for marks in on.marks), default=1)
    smallest = max(0, delta.denominator.bit_length() - delta.numerator.bit_length())
    bits = smallest + (steps * levels).bit_length() + _GUARD_BITS
    if bits > MOST_BITS:
        raise Declined(f"lattice: masses of {bits} bits are more than {MOST_BITS}")
    return _Class(name, grid, on, composed(bits, exponential_below(-on.spacing), kinds_of(parts, on, bits)))


def _least_epsilon(classes: Sequence[_Class], epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return the least ε of some at which every class spends at most δ."""
    for margin in _MARGINS:
        raised = epsilon * (1 + Fraction(margin, 10**6))
        rounded = raised if margin == 0 else Fraction(to_decimal(raised, 2 * _DIGITS, "up"))
        if all(each.delta(rounded) <= delta for each in classes):
            return rounded
    raise CertificateError("no kernel certificate: on the lattices that were tried, epsilon would be 1 % above")


def _claim(each: _Class, epsilon: Fraction, delta: Fraction) -> KernelClaim:
    found = each.composition
    return KernelClaim(
        claim_name(each.name), found.bits, exponential_below(epsilon), found.factor, fraction_below(delta), found.kinds
    )


def claim_name(name: str) -> str:
    """Return the name of a class as one word: "remove"."""
    return re.sub(r"\W+", "-", name)


def fraction_below(delta: Fraction) -> Binary:
    """Return a binary fraction that is at most δ, and near it."""
    exponent = 64 + max(0, delta.denominator.bit_length() - delta.numerator.bit_length())
    return math.floor(delta * 2**exponent), exponent


def _lattices(each: _Class) -> dict[str, Any]:
    on, grid = each.on, each.grid
    return {
        "name": each.name,
        "spacing": exact_text(on.spacing),
        "precision": on.precision,
        "offsets": [exact_text(offset) for offset in on.offsets],
        "marks": [list(marks) for marks in on.marks],
        "grid": None if grid is None else _grid(grid),
    }


def _grid(grid: Grid) -> dict[str, Any]:
    fineness = grid.fineness
    return {
        "spacing": exact_text(grid.spacing),
        "negligible": exact_text(Fraction(grid.negligible)),
        "least": exact_text(Fraction(grid.least)),
        "fineness": [fineness.cells, fineness.bits, fineness.losses],
        "by_threshold": grid.by_threshold,
    }
