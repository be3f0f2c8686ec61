"""A claim enclosed by a route that its certificate does not record."""

from __future__ import annotations

from dpbounds.errors import NotCertified
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.exact import to_decimal
from dpbounds.privacy.accountants.certified import prove_delta, prove_epsilon
from dpbounds.privacy.pairs.pairs import Product, SampledGaussians, as_gaussian
from dpbounds.privacy.proofs import Declined, Proof
from dpbounds.privacy.publishing.certificates.claims import Claim
from dpbounds.privacy.publishing.publishable import finite_ends
from dpbounds.privacy.routes.contour import contour_at_most
from dpbounds.privacy.routes.lattice import delta_bounds, epsilon_bounds

_SECOND_TOLERANCE = 1e-3  # relative tolerance of a lattice run that is compared with a contour integral


def order_of(product: Product) -> str:
    """Return the order of the neighbours whose pair it is, as certificates name it."""
    return next((str(pair.direction) for pair, _ in product if isinstance(pair, SampledGaussians)), "both orders")


def by_other_route(claim: Claim, products: tuple[Product, ...]) -> tuple[bool, bool, list[str]]:
    """Enclose the claimed value by routes not recorded: (contradicts, confirms both bounds, lines)."""
    lines: list[str] = []
    enclosure: Enclosure | None = None
    names: list[str] = []
    complete = True
    for product in products:
        order = order_of(product)
        recorded = claim.routes.get(order, "none")
        if recorded == "dominated":
            gaussian = as_gaussian(product)
            if gaussian is not None and claim.high[1] > 0 and contour_at_most(gaussian, *claim.high):
                lines.append(
                    f"order {order}: a Chernoff bound at the claimed upper bound shows again that it spends no more"
                )
                continue
        proof, reason = _second_proof(claim, product, recorded)
        if proof is None:
            lines.append(f"order {order}: no other route gave an answer ({reason})")
            complete = False
            continue
        names.append(proof.route)
        enclosure = proof.enclosure if enclosure is None else enclosure.larger(proof.enclosure)
    if enclosure is None:
        return False, False, lines
    low, high = finite_ends(enclosure)
    how = " and ".join(dict.fromkeys(names))
    width = to_decimal((high - low) / high, 2, "up") if high > 0 else "0"
    if low > claim.upper or (complete and high < claim.lower):
        lines.append(f"CONTRADICTED: by the {how} route the value lies in {enclosure}")
        return True, False, lines
    if not complete:
        return False, False, lines
    within = low >= claim.lower and high <= claim.upper
    lines.append(
        f"confirmed by the {how} route to a relative width of {width}"
        + (", which lies within the claim" if within else f": {enclosure} agrees with the claim")
    )
    return False, within, lines


def _second_proof(claim: Claim, product: Product, recorded: str) -> tuple[Proof | None, str]:
    """Return an enclosure by another route than the one recorded; with a lattice, also by a finer one."""
    asks_epsilon, others = claim.given == "delta", ("lattice",) if recorded == "contour" else ("contour", "lattice")
    reasons = []
    for route in others:
        try:
            if route == "lattice":
                tolerance = _SECOND_TOLERANCE / 2 if recorded == "lattice" else _SECOND_TOLERANCE
                bounds = epsilon_bounds if asks_epsilon else delta_bounds
                return bounds(product, claim.target, tolerance=tolerance), ""
            prove = prove_epsilon if asks_epsilon else prove_delta
            return prove(product, claim.target, 1e-9, "contour"), ""
        except (Declined, NotCertified) as reason:
            reasons.append(f"{route}: {reason}")
    return None, "; ".join(reasons)


def at_the_ends(claim: Claim, products: tuple[Product, ...]) -> tuple[bool, list[str]]:
    """Enclose δ anew at both bounds of the claim: for claims that a lattice proved."""
    high, low = claim.high, claim.low
    try:
        above = [prove_delta(product, high[0], 1e-9).enclosure for product in products]
        below = above if low[0] == high[0] else [prove_delta(product, low[0], 1e-9).enclosure for product in products]
    except (Declined, NotCertified) as reason:
        return False, [f"delta at the ends of the claim could not be enclosed: {reason}"]
    suffices = all(enclosure.exact_upper <= high[1] for enclosure in above)
    needed = claim.lower == 0 or any(enclosure.exact_lower > low[1] for enclosure in below)
    if not (suffices and needed):
        return False, []
    methods = " and ".join(dict.fromkeys(enclosure.method for enclosure in (*above, *below)))
    return True, [f"delta at the ends of the claim, enclosed anew ({methods}), confirms both inequalities"]
