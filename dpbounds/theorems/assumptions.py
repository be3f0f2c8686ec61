"""Assumptions of theorems, as named objects with an order of implication.

An assumption is a statement about the loss, the set or the data; its constants (Lipschitz, smoothness, ...) are
quantities of the symbol table. ``a.implies(b)`` follows the arrows that are written down here, and nothing else: each
arrow is a one-line proof in the text of the stronger assumption, with the constants that it gives. ``holds_for`` asks a
concrete problem (``witnesses.py``); which assumptions exclude each other is in ``consistency.py``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from dpbounds.errors import InvalidValue, nearest

if TYPE_CHECKING:
    from dpbounds.theorems.witnesses import Witness


@dataclass(frozen=True, slots=True)
class Assumption:
    """One named assumption.

    Attributes:
        text: The assumption, and the reason for its implications.
        stronger_than: Assumptions that follow at once.
        asks: The property of a ``Witness`` that proves it: a constant that is not None, or a question.
    """

    name: str
    text: str
    stronger_than: tuple[Assumption, ...] = ()
    asks: str | None = None

    def implies(self, other: Assumption) -> bool:
        """Return whether the other one follows from this one, by the arrows written down here."""
        return self is other or any(weaker.implies(other) for weaker in self.stronger_than)

    def holds_for(self, witness: Witness) -> bool:
        """Return whether it is proven of a concrete problem."""
        found = None if self.asks is None else getattr(witness, self.asks)
        return bool(found()) if callable(found) else found is not None

    def __str__(self) -> str:
        return self.name


def follow(given: tuple[Assumption, ...], wanted: tuple[Assumption, ...]) -> bool:
    """Return whether each wanted assumption is implied by one of those given."""
    return all(any(one.implies(other) for one in given) for other in wanted)


# The loss of one record
GRADIENT_DISTANCE = Assumption(
    "bounded gradient differences",
    "at every w the gradients of any two records lie at most Δ apart",
    asks="field_square",  # at most twice the distance from the mean
)
NEAR_A_FIELD = Assumption(
    "gradients near a common field",
    "some c(w), which need not be known, has |∇f(w,z) - c(w)|₂ <= G for all z and w: two records' gradients are at "
    "most 2G apart (the converse only with G√(2d/(d+1)), Jung), and G² bounds their variance; nothing about one record",
    (GRADIENT_DISTANCE,),
    "field_square",
)
LIPSCHITZ = Assumption(
    "Lipschitz",
    "|f(w,z) - f(w',z)| <= G|w - w'|₂ for every record z: per-record gradients <= G, so near the field 0",
    (NEAR_A_FIELD,),
    "lipschitz_square",
)
LIPSCHITZ_L1 = Assumption(
    "Lipschitz in l1",
    "|f(w,z) - f(w',z)| <= G|w - w'|₁: every partial derivative is at most G",
    asks="partial_bound",
)
SMOOTH_RISK = Assumption(
    "smooth risk",
    "|∇F(w) - ∇F(w')|₂ <= L|w - w'|₂ for the mean F of the losses",
    asks="risk_smoothness",
)
SMOOTH = Assumption(
    "smooth",
    "|∇f(w,z) - ∇f(w',z)|₂ <= L|w - w'|₂ for every record; so for the mean",
    (SMOOTH_RISK,),
    "smoothness",
)
SMOOTH_L1 = Assumption("smooth in l1", "|∇F(w) - ∇F(w')|_∞ <= L|w - w'|₁", asks="risk_smoothness")
HESSIAN_LIPSCHITZ = Assumption(
    "Hessian-Lipschitz",
    "|∇²f(w,z) - ∇²f(w',z)| <= ρ_H|w - w'|₂ in operator norm, every z",
    asks="hessian_lipschitz",
)
BOUNDED_LOSS = Assumption("bounded loss", "|f(w,z)| is bounded by a public constant", asks="loss_range")
BOUNDED_RISK = Assumption(
    "bounded risk",
    "F(w₁) - inf F is finite: the initial gap Δ_F, or at most the range B",
    asks="infimum",
)
BOUNDED_RANGE = Assumption(
    "bounded range",
    "sup F - inf F <= B (print: the risk is bounded by B)",
    asks="has_bounded_range",
)

# The shape of the risk
KL = Assumption("Kurdyka-Łojasiewicz", "F - inf F <= γᵏ|∇F|ᵏ for some 1 <= k <= 2", asks="is_kl")
PL_NEAR_THE_START = Assumption(
    "Polyak-Łojasiewicz near the start",
    "|∇F|² >= 2μ(F - inf F) within some distance of the first iterate; inf F is that over all of R^d",
    asks="pl_constant",
)
PL = Assumption(
    "Polyak-Łojasiewicz",
    "|∇F|² >= 2μ(F - inf F): KL with k = 2 and γ² = 1/(2μ)",
    (KL, PL_NEAR_THE_START),
    "pl_constant",
)
QUASAR_CONVEX = Assumption(
    "quasar-convex",
    "<∇F(w), w - w*> >= q(F(w) - inf F) for a minimiser w* and some 0 < q <= 1",
    asks="quasar_convexity",
)
STAR_CONVEX = Assumption("star-convex", "quasar-convex with q = 1", (QUASAR_CONVEX,), "is_star_convex")
CONVEX = Assumption(
    "convex",
    "f(·,z) is convex; the first-order inequality at a minimiser is star-convexity",
    (STAR_CONVEX,),
    "is_convex",
)
STRONGLY_CONVEX = Assumption(
    "strongly convex",
    "convex less (μ/2)|w|²; then |∇F|² >= 2μ(F - inf F)",
    (CONVEX, PL),
    "is_strongly_convex",
)
DISSIPATIVE = Assumption(
    "dissipative",
    "<w, ∇F(w)> >= m|w|² - b: far out the gradient points inwards",
    asks="is_dissipative",
)
STRICT_SADDLES = Assumption(
    "strict saddles",
    "at every saddle point the Hessian has a negative eigenvalue",
    asks="has_strict_saddles_only",
)
REALISABLE = Assumption(
    "realisable",
    "the labels are generated by a parameter in the set (and symmetric noise)",
    asks="is_realisable",
)
MINIMAX = Assumption(
    "minimax",
    "F is what is left after maximising over a second argument, strongly concave in it (as any F is after F(w) - v²)",
    asks="can_be_chosen",
)
SADDLES_ARE_HARDER = Assumption(
    "M at least sqrt(ρα)",
    "a point of curvature below -sqrt(ρα) can exist at all",
    asks="can_be_chosen",  # α is
)

# The set
CLOSED_CONVEX_SET = Assumption(
    "closed convex set",
    "w is constrained to a closed convex set C (maybe all of R^d)",
    asks="can_be_chosen",  # all domains of witnesses are closed and convex
)
ALL_OF_SPACE = Assumption(
    "all of space",
    "C = R^d; F, L and μ are those of the losses' mean and a public regulariser together, G is that of the losses",
    (CLOSED_CONVEX_SET,),
    "is_everywhere",
)
UNCONSTRAINED = Assumption("unconstrained", "C = R^d and no regulariser", (ALL_OF_SPACE,), "is_unconstrained")
BOUNDED_SET = Assumption(
    "bounded set",
    "C is closed, convex and bounded",
    (CLOSED_CONVEX_SET,),
    "is_on_a_bounded_set",
)
SYMMETRIC_SET = Assumption(
    "centrally symmetric set",
    "C = -C, closed, convex and bounded",
    (BOUNDED_SET,),
    "is_on_a_bounded_set",  # all bounded domains of witnesses are
)
POLYTOPE = Assumption("polytope", "C is the convex hull of N known points", (BOUNDED_SET,), "is_on_the_l1_ball")
L1_GEOMETRY = Assumption(
    "l1 ball or simplex",
    "C is the unit l1 ball or the probability simplex",
    (POLYTOPE,),
    "is_on_the_l1_ball",
)

# The regulariser and the data
CONVEX_REGULARISER = Assumption(
    "convex regulariser",
    "F is the mean loss plus r(w), convex, closed, maybe not smooth",
    asks="has_convex_regulariser",
)
GENERALISED_LINEAR = Assumption(
    "generalised linear", "f(w,z) is a function of <w, x> and y alone", asks="is_generalised_linear"
)
SUB_GAUSSIAN_GRADIENTS = Assumption(
    "sub-Gaussian gradients",
    "E exp<v, ∇f - E∇f> <= exp(τ²|v|²/2) for every v and w",
    asks="field_square",  # bounded differences: Hoeffding's lemma
)
SAMPLED_RECORDS = Assumption(
    "i.i.d. records", "the records are independent draws from one distribution", asks="can_be_chosen"
)


@cache
def _by_name() -> Mapping[str, Assumption]:
    return {one.name: one for one in globals().values() if isinstance(one, Assumption)}


def named(name: str) -> Assumption:
    """Return the assumption of this file that has that name.

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
