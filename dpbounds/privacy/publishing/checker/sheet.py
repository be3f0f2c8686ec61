"""Readable summary of a certificate."""

from __future__ import annotations

from typing import Any

from dpbounds.privacy.publishing.checker.assumptions import assumptions_of
from dpbounds.privacy.publishing.checker.claims import claim_in_words, read_claim, relation_in_words
from dpbounds.privacy.publishing.checker.releases import digest, release_in_words


def sheet(document: dict[str, Any]) -> list[str]:
    """Return a readable summary of a well-formed certificate: claim, relation, mechanism, digest, assumptions."""
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
    lines.append("assumptions, which a certificate cannot prove and you have to confirm:")
    return lines + [f"  {number}. {text}" for number, text in enumerate(assumptions_of(document["version"]), 1)]
