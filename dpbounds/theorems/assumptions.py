"""What theorems assume, as named objects with an order of implication.

An assumption is a statement about the loss, the set or the data; its constants (Lipschitz, smoothness, ...) are
quantities of the symbol table. ``a.implies(b)`` follows the arrows that are written down here, and nothing else: each
arrow is a one-line proof in the text of the stronger assumption, with the constants that it gives. ``holds_for`` asks a
concrete problem (``witnesses.py``); which assumptions exclude each other is in ``consistency.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from operator import methodcaller
from typing import TYPE_CHECKING

from dpbounds.errors import InvalidValue, nearest

if TYPE_CHECKING:
    from dpbounds.theorems.witnesses import Witness

_asks = methodcaller  # the name of a method of Witness


@dataclass(frozen=True, slots=True)
class Assumption:
    """One named assumption.

    Attributes:
        name: Under which it is listed.
        text: What it says, and why it gives what it implies.
        stronger_than: Assumptions that follow at once.
        holds_for: Proves it of a concrete problem, or says no; None if nobody wrote down how.
    """

    name: str
    text: str
    stronger_than: tuple[Assumption, ...] = ()
    holds_for: Callable[[Witness], bool] | None = None

    def implies(self, other: Assumption) -> bool:
        """Whether the other one follows from this one, by the arrows written down here."""
        return self is other or any(weaker.implies(other) for weaker in self.stronger_than)

    def __str__(self) -> str:
        return self.name


def follow(given: tuple[Assumption, ...], wanted: tuple[Assumption, ...]) -> bool:
    """Whether each wanted assumption is implied by one of those given."""
    return all(any(one.implies(other) for one in given) for other in wanted)


# The loss of one record
GRADIENT_DISTANCE = Assumption(
    "bounded gradient differences",
    "at every w the gradients of any two records lie at most Δ apart",
    holds_for=_asks("is_near_a_field"),  # at most twice the distance from the mean
)
NEAR_A_FIELD = Assumption(
    "gradients near a common field",
    "some c(w), which nobody needs to know, has |∇f(w,z) - c(w)|₂ <= G for all z and w: two records' gradients are at "
    "most 2G apart (the converse only with G√(2d/(d+1)), Jung), and G² bounds their variance; nothing about one record",
    (GRADIENT_DISTANCE,),
    _asks("is_near_a_field"),
)
LIPSCHITZ = Assumption(
    "Lipschitz",
    "|f(w,z) - f(w',z)| <= G|w - w'|₂ for every record z: per-record gradients <= G, so near the field 0",
    (NEAR_A_FIELD,),
    _asks("is_lipschitz"),
)
LIPSCHITZ_L1 = Assumption(
    "Lipschitz in l1",
    "|f(w,z) - f(w',z)| <= G|w - w'|₁: every partial derivative is at most G",
    holds_for=_asks("is_lipschitz_l1"),
)
SMOOTH_RISK = Assumption(
    "smooth risk",
    "|∇F(w) - ∇F(w')|₂ <= L|w - w'|₂ for the mean F of the losses",
    holds_for=_asks("has_smooth_risk"),
)
SMOOTH = Assumption(
    "smooth",
    "|∇f(w,z) - ∇f(w',z)|₂ <= L|w - w'|₂ for every record; so for the mean",
    (SMOOTH_RISK,),
    _asks("is_smooth"),
)
SMOOTH_L1 = Assumption("smooth in l1", "|∇F(w) - ∇F(w')|_∞ <= L|w - w'|₁", holds_for=_asks("has_smooth_risk"))
HESSIAN_LIPSCHITZ = Assumption(
    "Hessian-Lipschitz",
    "|∇²f(w,z) - ∇²f(w',z)| <= ρ_H|w - w'|₂ in operator norm, every z",
    holds_for=_asks("has_lipschitz_hessian"),
)
BOUNDED_LOSS = Assumption("bounded loss", "|f(w,z)| is bounded by a public constant", holds_for=_asks("is_bounded"))
BOUNDED_RISK = Assumption(
    "bounded risk",
    "F(w₁) - inf F is finite: the initial gap Δ_F, or at most the range B",
    holds_for=_asks("is_bounded_below"),
)
BOUNDED_RANGE = Assumption(
    "bounded range",
    "sup F - inf F <= B (print: the risk is bounded by B)",
    holds_for=_asks("has_bounded_range"),
)

# The shape of the risk
KL = Assumption("Kurdyka-Łojasiewicz", "F - inf F <= γᵏ|∇F|ᵏ for some 1 <= k <= 2", holds_for=_asks("is_kl"))
PL = Assumption(
    "Polyak-Łojasiewicz",
    "|∇F|² >= 2μ(F - inf F): KL with k = 2 and γ² = 1/(2μ)",
    (KL,),
    _asks("is_pl"),
)
QUASAR_CONVEX = Assumption(
    "quasar-convex",
    "<∇F(w), w - w*> >= q(F(w) - inf F) for a minimiser w* and some 0 < q <= 1",
    holds_for=_asks("is_quasar_convex"),
)
STAR_CONVEX = Assumption("star-convex", "quasar-convex with q = 1", (QUASAR_CONVEX,), _asks("is_star_convex"))
CONVEX = Assumption(
    "convex",
    "f(·,z) is convex; the first-order inequality at a minimiser is star-convexity",
    (STAR_CONVEX,),
    _asks("is_convex"),
)
STRONGLY_CONVEX = Assumption(
    "strongly convex",
    "convex less (μ/2)|w|²; then |∇F|² >= 2μ(F - inf F)",
    (CONVEX, PL),
    _asks("is_strongly_convex"),
)
DISSIPATIVE = Assumption(
    "dissipative",
    "<w, ∇F(w)> >= m|w|² - b: far out the gradient points inwards",
    holds_for=_asks("is_dissipative"),
)
STRICT_SADDLES = Assumption(
    "strict saddles",
    "at every saddle point the Hessian has a negative eigenvalue",
    holds_for=_asks("has_strict_saddles_only"),
)
REALISABLE = Assumption(
    "realisable",
    "the labels are generated by a parameter in the set (and symmetric noise)",
    holds_for=_asks("is_realisable"),
)
MINIMAX = Assumption(
    "minimax",
    "F is what is left after maximising over a second argument, strongly concave in it (as any F is after F(w) - v²)",
    holds_for=_asks("can_be_chosen"),
)
SADDLES_ARE_HARDER = Assumption(
    "M at least sqrt(ρα)",
    "a point of curvature below -sqrt(ρα) can exist at all",
    holds_for=_asks("can_be_chosen"),  # α is
)

# The set
CLOSED_CONVEX_SET = Assumption(
    "closed convex set",
    "w is constrained to a closed convex set C (maybe all of R^d)",
    holds_for=_asks("can_be_chosen"),  # all domains of witnesses are closed and convex
)
ALL_OF_SPACE = Assumption(
    "all of space",
    "C = R^d; F, L and μ are those of the losses' mean and a public regulariser together, G is that of the losses",
    (CLOSED_CONVEX_SET,),
    _asks("is_everywhere"),
)
UNCONSTRAINED = Assumption("unconstrained", "C = R^d and no regulariser", (ALL_OF_SPACE,), _asks("is_unconstrained"))
BOUNDED_SET = Assumption(
    "bounded set",
    "C is closed, convex and bounded",
    (CLOSED_CONVEX_SET,),
    _asks("is_on_a_bounded_set"),
)
SYMMETRIC_SET = Assumption(
    "centrally symmetric set",
    "C = -C, closed, convex and bounded",
    (BOUNDED_SET,),
    _asks("is_on_a_bounded_set"),  # all bounded domains of witnesses are
)
POLYTOPE = Assumption("polytope", "C is the convex hull of N known points", (BOUNDED_SET,), _asks("is_on_the_l1_ball"))
L1_GEOMETRY = Assumption(
    "l1 ball or simplex",
    "C is the unit l1 ball or the probability simplex",
    (POLYTOPE,),
    _asks("is_on_the_l1_ball"),
)

# The regulariser and the data
CONVEX_REGULARISER = Assumption(
    "convex regulariser",
    "F is the mean loss plus r(w), convex, closed, maybe not smooth",
    holds_for=_asks("has_convex_regulariser"),
)
GENERALISED_LINEAR = Assumption(
    "generalised linear", "f(w,z) is a function of <w, x> and y alone", holds_for=_asks("is_generalised_linear")
)
SUB_GAUSSIAN_GRADIENTS = Assumption(
    "sub-Gaussian gradients",
    "E exp<v, ∇f - E∇f> <= exp(τ²|v|²/2) for every v and w",
    holds_for=_asks("is_near_a_field"),  # bounded differences: Hoeffding's lemma
)
SAMPLED_RECORDS = Assumption(
    "i.i.d. records", "the records are independent draws from one distribution", holds_for=_asks("can_be_chosen")
)


@cache
def _by_name() -> Mapping[str, Assumption]:
    return {one.name: one for one in globals().values() if isinstance(one, Assumption)}


def named(name: str) -> Assumption:
    """The assumption of this file that has that name.

    Raises:
        InvalidValue: There is none; the message names similar ones.

    >>> named("smooth risk") is SMOOTH_RISK
    True
    """
    found = _by_name().get(name)
    if found is None:
        near = ", ".join(nearest(name, _by_name()) or _by_name())
        raise InvalidValue("assumption", repr(name), f"one of dpbounds.theorems.assumptions, such as {near}")
    return found
