"""The decision about one claim."""

from __future__ import annotations

from typing import Any

from dpbounds.privacy.publishing.checker.balls import shown
from dpbounds.privacy.publishing.checker.claims import read_claim
from dpbounds.privacy.publishing.checker.fields import FIELDS
from dpbounds.privacy.publishing.checker.pairs import check_order, products_of
from dpbounds.privacy.publishing.checker.reading import field
from dpbounds.privacy.publishing.checker.relations import RECORD
from dpbounds.privacy.publishing.checker.releases import is_attained, is_drawn, read_release
from dpbounds.privacy.publishing.checker.runs import check_drawn
from dpbounds.privacy.publishing.checker.verdicts import CONFIRMED, NOT_COVERED, WRONG
from dpbounds.privacy.publishing.checker.work import effort


def check_account(account: object) -> tuple[int, str, list[str], dict[str, Any]]:
    """Check one claim; returns the status, the result, its derivation line by line, and the claim."""
    claim = read_claim(account)
    effort.done = 0.0
    relation, given, target, lower, upper = (claim[name] for name in FIELDS["claim"])
    proofs = {field(proof, "order", str).split(" ")[0]: proof for proof in field(account, "proofs", list)}
    high, low = ((upper, target), (lower, target)) if given == "delta" else ((target, upper), (target, lower))
    releases = [read_release(release) for release in field(account, "mechanism", list)]
    drawn, shows = any(map(is_drawn, releases)) or "group_size" in claim, all(map(is_attained, releases))
    if drawn:
        names, products = list(RECORD[relation]), []
    else:
        products = products_of(field(account, "mechanism", list), relation)
        names = [order for order, *_ in products]
    if set(proofs) != set(names):
        needed = " and ".join(names)
        line = f"CONTRADICTED: the orders proven, {sorted(proofs)}, are not those needed, {needed}"
        return WRONG, "NOT confirmed", [line], claim
    if drawn:
        answers = check_drawn(releases, claim, proofs)
    else:
        asked = low if shows and lower > 0 else None  # 0 is always a lower bound
        answers = [check_order(*product, proofs, high, asked) for product in products]
        answers = answers if shows else [(below, None, how) for below, _, how in answers]
    upper_holds = all(below for below, *_ in answers)
    confirmed = upper_holds and (lower == 0 or any(above for _, above, _ in answers))
    refuted = any(below is False for below, *_ in answers) or (
        lower > 0 and all(above is False for _, above, _ in answers)
    )
    verdict = "confirmed" if confirmed else "REFUTED" if refuted else "NOT confirmed"
    status, recorded = CONFIRMED if confirmed else WRONG, proofs[names[0]]["route"]
    if not confirmed and not refuted and upper_holds and (recorded == "lattice" or not shows):
        # what a person relies on, though not all that is claimed
        status = NOT_COVERED
        why = "of a lattice certificate" if shows else "of what is only known to dominate"
        verdict = f"the upper bound is confirmed; the lower bound {why} is not covered"
    elif not confirmed and not refuted and recorded not in ("lattice", "contour", "closed form", "profiles"):
        status, verdict = NOT_COVERED, f"neither confirmed nor refuted; the method {recorded!r} is not covered"
    lines = []
    for order, (below, above, how) in zip(names, answers, strict=True):
        word = {True: "yes", False: "NO", None: "neither shown nor excluded"}[below]
        lines.append(f"order {order}: delta({shown(high[0])}) <= {shown(high[1])}? {word} ({how})")
        if lower > 0:
            word = "yes" if above else "not in this order (one of them is enough)"
            if above is None:
                word = "not needed of this order: another one shows it" if confirmed else "neither shown nor excluded"
            lines.append(f"order {order}: delta({shown(low[0])}) > {shown(low[1])}? {word}")
    return status, verdict, lines, claim
