"""All records in every step."""

from __future__ import annotations

from typing import Any

from dpbounds.privacy.publishing.checker.noises import noise_profile
from dpbounds.privacy.publishing.checker.profiles import Profile


def of_full_batch(release: dict[str, Any], order: str, relation: str) -> Profile:
    """Noise on all records."""
    found = noise_profile(release["mechanism"], 2 if relation == "replace-one" else 1)
    return found.reversed() if order == "add" and release["mechanism"]["kind"] == "mixture-of-gaussians" else found
