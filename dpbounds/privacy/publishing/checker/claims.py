"""Claims: reading them, and in words."""

from __future__ import annotations

from decimal import ROUND_FLOOR
from typing import Any

from dpbounds.privacy.publishing.checker.balls import shown
from dpbounds.privacy.publishing.checker.reading import field, quoted, rational
from dpbounds.privacy.publishing.checker.relations import RELATIONS
from dpbounds.privacy.publishing.checker.verdicts import Malformed


def read_claim(account: object) -> dict[str, Any]:
    """Return the claim "ε(δ) (or δ(ε)) of this mechanism lies in [lower, upper]" with exact numbers."""
    claim = field(account, "claim", dict)
    given, relation = field(claim, "given", str), field(claim, "relation", str)
    target, lower, upper = (rational(claim.get(name), 0) for name in ("target", "lower", "upper"))
    if given not in ("delta", "epsilon") or lower > upper or (given == "delta" and not 0 < target < 1):
        raise Malformed("a claim needs given = delta or epsilon, its target in range, and lower <= upper")
    if relation not in RELATIONS:
        raise Malformed(f"relation {quoted(relation)}")
    found = {"relation": relation, "given": given, "target": target, "lower": lower, "upper": upper}
    if "group_size" in claim:
        found["group_size"] = field(claim, "group_size", int)
        if not 2 <= found["group_size"] <= 1000:
            raise Malformed("a group has 2 to 1000 records")
    return found


def claim_in_words(claim: dict[str, Any]) -> str:
    """Return the claim, rounded outwards."""
    other = "epsilon" if claim["given"] == "delta" else "delta"
    ends = f"[{shown(claim['lower'], ROUND_FLOOR)}, {shown(claim['upper'])}]"
    group = f", groups of {claim['group_size']} records" if "group_size" in claim else ""
    return f"{other} in {ends} at {claim['given']} = {shown(claim['target'])} ({claim['relation']}{group})"


def relation_in_words(claim: dict[str, Any]) -> str:
    """Return the definition of neighbouring datasets."""
    group = claim.get("group_size", 1)
    more = "" if group == 1 else f"; here for up to {group} records at once, the same throughout"
    return RELATIONS[claim["relation"]] + more
