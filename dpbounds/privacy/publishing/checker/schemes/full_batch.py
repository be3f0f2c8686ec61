"""All records in every step."""

from __future__ import annotations

from typing import Any, ClassVar

from dpbounds.privacy.publishing.checker.aim import Aim
from dpbounds.privacy.publishing.checker.fields import COUNTED, Fields, unread
from dpbounds.privacy.publishing.checker.noises.gaussian import GaussianNoise
from dpbounds.privacy.publishing.checker.noises.table import NOISES
from dpbounds.privacy.publishing.checker.schemes.scheme import Scheme
from dpbounds.privacy.publishing.checker.spent import Spent


class FullBatch(Scheme):
    """Noise on all records."""

    kind = "full-batch"
    fields: ClassVar[Fields] = {"kind": unread, "mechanism": unread, "count": COUNTED}
    refused_noises = (GaussianNoise.kind,)

    def holds(self, noise: dict[str, Any], relation: str) -> bool:
        """Every noise."""
        return True

    def spent(self, release: dict[str, Any], order: str, relation: str, aim: Aim) -> Spent:
        """Return the noise's own."""
        noise = NOISES[release["mechanism"]["kind"]]
        found = noise.spent(release["mechanism"], 2 if relation == "replace-one" else 1)
        if order == "add" and not noise.symmetric:
            found.steps = [(profile.reversed(), times) for profile, times in found.steps]
        return found
