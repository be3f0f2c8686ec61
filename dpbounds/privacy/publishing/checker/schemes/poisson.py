"""Poisson samples."""

from __future__ import annotations

from typing import Any

from dpbounds.privacy.publishing.checker.profiles import Profile
from dpbounds.privacy.publishing.checker.samples import joining


def of_poisson(release: dict[str, Any], order: str, relation: str) -> Profile:
    """Noise other than Gaussian on a Poisson sample."""
    return joining(release["mechanism"], order, relation, release["sample_rate"])
