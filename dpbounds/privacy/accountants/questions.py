"""Questions about one product of pairs, and the answers of closed forms."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from dpbounds.errors import NotCertified
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.exact import brief, to_float
from dpbounds.expressions.working import working
from dpbounds.privacy.pairs.pairs import Product
from dpbounds.privacy.proofs import Proof
from dpbounds.privacy.routes.closed_forms import (
    ball,
    certainly_infinite,
    closed_form_delta,
    closed_form_epsilon,
    has_closed_form,
)
from dpbounds.privacy.routes.lattice.integer_measures import LARGEST_WORK, Work
from dpbounds.privacy.values import Target

Route = Literal["auto", "closed form", "contour", "lattice"]

DEFAULT_TOLERANCE = 1e-9
ACCEPTED = 1e-3  # relative width at which the contour's answer is accepted, even if a narrower one was requested
CLOSED_FORM_PRECISION = 160
WORK = LARGEST_WORK // 2  # operations of the lattice, for all classes of one question
STOPPED = "stopped by the time limit"
_CLOSED_FORM_WIDTH = 2.0**-52  # relative width of closed forms, unless a narrower one is requested


@dataclass(frozen=True, slots=True)
class Question:
    """The question about every product.

    Attributes:
        target: The given δ or ε; the other one is the unknown.
        tolerance: Relative width aimed at.
        route: The only one to take, or "auto".
        work: The remaining work of lattices (None: the default limit).
        grouped: Whether the product stands for another one in fewer groups, which makes the answer wider anyway.
        on_curve: Whether it is one of many on one curve.
    """

    target: Target
    tolerance: float
    route: Route = "auto"
    work: Work | None = None
    grouped: bool = False
    on_curve: bool = False


def by_closed_form(product: Product, asked: Question) -> Proof | None:
    """Answer by a closed form, if one is known, or is the requested method; else None."""
    if asked.route != "closed form" and not (asked.route == "auto" and has_closed_form(product)):
        return None
    closed_form = epsilon_by_closed_form if asked.target.for_epsilon else _delta_by_closed_form
    return closed_form(product, asked.target.value, asked.tolerance)


def epsilon_by_closed_form(product: Product, delta: Fraction, tolerance: float = _CLOSED_FORM_WIDTH) -> Proof:
    """Prove ε(δ), infinite where an infinite loss is likelier than δ; NotCertified where there is no closed form."""
    _require_closed_form(product)
    pair = product[0][0]
    tied = pair.tied_epsilon(delta)
    if tied is not None:
        return Proof(Enclosure.exactly(tied, "closed form"), "closed form")
    with working(CLOSED_FORM_PRECISION):
        certain = certainly_infinite(pair)
        if certain > ball(delta):
            return Proof(Enclosure(math.inf, math.inf, "closed form", CLOSED_FORM_PRECISION), "closed form")
        if not certain < ball(delta):
            raise NotCertified(
                f"δ = {brief(delta)} cannot be distinguished from the probability that the loss is infinite"
            )
    low, high = closed_form_epsilon(pair, delta, min(tolerance, _CLOSED_FORM_WIDTH))
    return Proof(Enclosure(low, high, "closed form", CLOSED_FORM_PRECISION), "closed form")


def _delta_by_closed_form(product: Product, epsilon: Fraction, tolerance: float) -> Proof:
    _require_closed_form(product)
    value, precision = closed_form_delta(product[0][0], epsilon, max(64, math.ceil(-math.log2(tolerance)) + 8))
    return Proof(Enclosure.from_balls(value, value, "closed form", precision).within(0, 1), "closed form")


def _require_closed_form(product: Product) -> None:
    if not has_closed_form(product):
        raise NotCertified("there is no closed form for several subsampled releases; use another route")


def relative_width(proof: Proof) -> float:
    """Return the width of the enclosure divided by its upper bound, rounded up; 1 if only that is infinite."""
    lower, upper = proof.enclosure.exact_lower, proof.enclosure.exact_upper
    if upper == lower:
        return 0.0
    return 1.0 if isinstance(upper, float) else to_float((upper - lower) / upper, "up")
