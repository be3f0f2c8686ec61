"""Poisson samples."""

from __future__ import annotations

from typing import Any, ClassVar

from dpbounds.privacy.publishing.checker.aim import Aim
from dpbounds.privacy.publishing.checker.fields import COUNTED, Fields, unread
from dpbounds.privacy.publishing.checker.noises.gaussian import GaussianNoise
from dpbounds.privacy.publishing.checker.noises.table import joining
from dpbounds.privacy.publishing.checker.reading import positive
from dpbounds.privacy.publishing.checker.schemes.scheme import Scheme, demand_rate
from dpbounds.privacy.publishing.checker.spent import Spent


class Poisson(Scheme):
    """Noise other than Gaussian on a Poisson sample."""

    kind = "poisson"
    fields: ClassVar[Fields] = {"kind": unread, "mechanism": unread, "sample_rate": positive, "count": COUNTED}
    refused_noises = (GaussianNoise.kind,)

    def demand(self, release: dict[str, Any], version: int) -> None:
        """Refuse a rate above 1."""
        demand_rate(release)

    def holds(self, noise: dict[str, Any], relation: str) -> bool:
        """Every noise."""
        return True

    def spent(self, release: dict[str, Any], order: str, relation: str, aim: Aim) -> Spent:
        """Return a record beside the others."""
        return Spent(steps=[(joining(release["mechanism"], order, relation, release["sample_rate"]), 1)])
