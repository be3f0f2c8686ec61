"""The table of arrows: what a guarantee of one notion says in another, with the theorem, its source, and its tightness.

An arrow starts from a mechanism that is given by its guarantee. Its number is computed by ``convert.py``, for any
mechanism; the table says which theorem that number rests on, and why some numbers are infinite.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args

from dpbounds.privacy.mechanisms import (
    ZCDP,
    ApproximateDP,
    GaussianDP,
    Mechanism,
    ProfileDP,
    PureDP,
    RenyiDP,
)

Notion = Literal["pure", "epsilon", "delta", "renyi", "zcdp", "gdp", "trade-off"]
NOTIONS: tuple[Notion, ...] = get_args(Notion)

_PURE = "losses.md, section 2, and conversions.md, section 1"
_APPROXIMATE = "conversions.md, section 2"
_RENYI = "conversions.md, section 4"
_GAUSSIAN = "conversions.md, section 6"
_NONE = "conversions.md, section 8"
_ALL_TESTS = "attackers.md, section 6"
_DUALITY = "attackers.md, sections 1 and 2"
_HULL = "losses.md, section 2"
_KAIROUZ = "Kairouz, Oh & Viswanath 2015"
_CANONNE = "Canonne, Kamath & Steinke 2020"
_DONG = "Dong, Roth & Su 2022"
_BUN = "Bun & Steinke 2016"
_HERE = "proven here"
_REVEALED = "with probability delta the record may be published, so that every divergence and every ratio is infinite"
_NO_TEST = "a test that never accuses falsely may be right with probability delta, and one between Gaussians never is"
_FIRST_ORDERS = "finitely many orders leave events of tiny probability whose ratio is unbounded"


@dataclass(frozen=True, slots=True)
class Arrow:
    """An implication from a guarantee to another notion of privacy.

    Attributes:
        start: The mechanism that is given by the guarantee.
        to: The notion that it leads to.
        theorem: The statement; empty where no finite number holds.
        source: Where it was first proven.
        proof: The derivation in this project.
        tight: Whether some mechanism with the guarantee attains the number, so that none smaller holds for all of them.
        none: Why there is no finite number, or when there is none; else empty.
    """

    start: type[Mechanism]
    to: Notion
    theorem: str
    source: str
    proof: str
    tight: bool = False
    none: str = ""


def _tight(start: type[Mechanism], to: Notion, theorem: str, source: str, proof: str, none: str = "") -> Arrow:
    return Arrow(start, to, theorem, source, proof, True, none)


def _bound(start: type[Mechanism], to: Notion, theorem: str, source: str, proof: str, none: str = "") -> Arrow:
    return Arrow(start, to, theorem, source, proof, False, none)


def _none(start: type[Mechanism], to: Notion, reason: str, source: str = _HERE, proof: str = _NONE) -> Arrow:
    return Arrow(start, to, "", source, proof, False, reason)


_EVERY = (
    _tight(PureDP, "pure", "the same ε", "definition", _PURE),
    _tight(PureDP, "epsilon", "the ε of randomised response at δ", _KAIROUZ, _PURE),
    _tight(PureDP, "delta", "the δ of randomised response at ε'", _KAIROUZ, _PURE),
    _tight(PureDP, "renyi", "the Rényi divergence of randomised response", "Mironov 2017", _PURE),
    _tight(PureDP, "zcdp", "ρ = ε tanh(ε/2)", f"{_BUN} for ε²/2; sharpened here", _PURE),
    _tight(PureDP, "gdp", "μ = 2 Φ⁻¹(e^ε/(1 + e^ε))", _HERE, _ALL_TESTS),
    _tight(PureDP, "trade-off", "the trade-off function of randomised response", "Wasserman & Zhou 2010", _DUALITY),
    _none(ApproximateDP, "pure", f"{_REVEALED}, unless delta is 0", proof=_APPROXIMATE),
    _tight(ApproximateDP, "epsilon", "the ε of the worst (ε, δ)-private pair", _KAIROUZ, _APPROXIMATE),
    _tight(ApproximateDP, "delta", "the δ of the worst (ε, δ)-private pair", _KAIROUZ, _APPROXIMATE),
    _none(ApproximateDP, "renyi", f"{_REVEALED}, unless delta is 0", proof=_APPROXIMATE),
    _none(ApproximateDP, "zcdp", f"{_REVEALED}, unless delta is 0", proof=_APPROXIMATE),
    _none(ApproximateDP, "gdp", f"{_NO_TEST}, unless delta is 0"),
    _tight(ApproximateDP, "trade-off", "that of the worst (ε, δ)-private pair", "Wasserman & Zhou 2010", _DUALITY),
    _tight(ProfileDP, "pure", "the first ε with δ = 0", _HERE, _HULL, f"where no δ is 0: {_REVEALED}"),
    _tight(ProfileDP, "epsilon", "the convex hull of the points and their mirror images", _HERE, _HULL),
    _tight(ProfileDP, "delta", "the convex hull of the points and their mirror images", _HERE, _HULL),
    _tight(ProfileDP, "renyi", "the sum over the corners of the hull", _HERE, _HULL, f"where no δ is 0: {_REVEALED}"),
    _bound(
        ProfileDP, "zcdp", "ρ = ε tanh(ε/2) of the first ε with δ = 0", _HERE, _PURE, f"where no δ is 0: {_REVEALED}"
    ),
    _bound(ProfileDP, "gdp", "the smallest μ below the hull", _HERE, _ALL_TESTS, f"where no δ is 0: {_NO_TEST}"),
    _tight(ProfileDP, "trade-off", "the largest function that the points allow", _DONG, _DUALITY),
    _none(ZCDP, "pure", "Gaussian noise has the guarantee, and unbounded losses"),
    _bound(ZCDP, "epsilon", "D_λ = ξ + λρ, converted at the best real order", _CANONNE, _RENYI),
    _bound(ZCDP, "delta", "D_λ = ξ + λρ, converted at the best real order", _CANONNE, _RENYI),
    _tight(ZCDP, "renyi", "ξ + λρ (tight for ξ = 0)", "definition", _GAUSSIAN),
    _tight(ZCDP, "zcdp", "ξ + ρ (tight for ξ = 0)", _BUN, _NONE),
    _bound(ZCDP, "gdp", "a finite μ, larger than sqrt(2ρ)", _HERE, _ALL_TESTS),
    _bound(ZCDP, "trade-off", "from its δ(ε)", _DONG, _DUALITY),
    _none(RenyiDP, "pure", "Gaussian noise with little μ has the guarantee, and unbounded losses"),
    _bound(RenyiDP, "epsilon", "each order converted; the least", _CANONNE, _RENYI),
    _bound(RenyiDP, "delta", "each order converted; the least", _CANONNE, _RENYI),
    _bound(
        RenyiDP,
        "renyi",
        "two convex functions of λ between the orders, growth of D_λ below them",
        "van Erven & Harremoës 2014 for (λ-1) D_λ; sharpened here",
        "renyi.md, section 6",
        f"above the largest order: {_FIRST_ORDERS}",
    ),
    _none(RenyiDP, "zcdp", _FIRST_ORDERS),
    _none(RenyiDP, "gdp", _FIRST_ORDERS),
    _bound(RenyiDP, "trade-off", "from its δ(ε)", _DONG, _DUALITY),
    _none(GaussianDP, "pure", "the losses of Gaussian noise are unbounded", _DONG),
    _tight(GaussianDP, "epsilon", "the ε of shifted Gaussians", "Balle & Wang 2018", _GAUSSIAN),
    _tight(GaussianDP, "delta", "the δ of shifted Gaussians", "Balle & Wang 2018", _GAUSSIAN),
    _tight(GaussianDP, "renyi", "λμ²/2", _DONG, _GAUSSIAN),
    _tight(GaussianDP, "zcdp", "ρ = μ²/2", _BUN, _GAUSSIAN),
    _tight(GaussianDP, "gdp", "the same μ", "definition", _GAUSSIAN),
    _tight(GaussianDP, "trade-off", "Φ(Φ⁻¹(1 - a) - μ)", _DONG, "attackers.md, section 5"),
)
ARROWS = {(arrow.start, arrow.to): arrow for arrow in _EVERY}


def arrow_of(mechanism: Mechanism, to: Notion) -> Arrow | None:
    """Return the arrow from a mechanism that is given by its guarantee; None from any other mechanism.

    An (ε, 0)-private mechanism is taken as a pure one. With ξ > 0 no arrow of (ξ, ρ)-zCDP is known to be tight.
    """
    start = PureDP if getattr(mechanism, "delta", None) == 0 else type(mechanism)
    found = ARROWS.get((start, to))
    return found if found is None or getattr(mechanism, "xi", None) is None else replace(found, tight=False)
