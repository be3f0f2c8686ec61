"""Consistency of assumptions: contradictions, witnesses, and impossible constants.

All of it hangs on sets of assumptions, not on statements: a rule is written down once, and holds for every statement
that assumes at least what it asks for.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from dpbounds.theorems import assumptions as known
from dpbounds.theorems.assumptions import BOUNDED_RANGE, SADDLES_ARE_HARDER, Assumption, follow

if TYPE_CHECKING:
    from sympy.logic.boolalg import Boolean

    from dpbounds.theorems.parts import Condition
    from dpbounds.theorems.witnesses import Witness

Assumed = tuple[Assumption, ...]


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Assumptions that only constant functions, or none, satisfy together; with a proof in one sentence."""

    together: Assumed
    because: str


_EKELAND = "by Ekeland's principle some points have F near its supremum and a gradient near 0, so F - inf F is 0"
_ON_THE_LINE = (
    (known.LIPSCHITZ, known.KL, f"F - inf F <= (γG)ᵏ everywhere; {_EKELAND}"),
    (known.LIPSCHITZ, known.DISSIPATIVE, "<w, ∇F> <= G|w|, which is below m|w|² - b far out"),
    *(
        (bounded, shape, because)
        for bounded in (known.BOUNDED_LOSS, BOUNDED_RANGE)
        for shape, because in (
            (known.KL, f"F is bounded; {_EKELAND}"),
            (known.QUASAR_CONVEX, "along a ray from w* the gap grows at least like its length to the power q, or is 0"),
            (known.DISSIPATIVE, "along a ray the derivative is at least mr - b/r, so that F grows like mr²/2"),
        )
    ),
)
CONTRADICTIONS: tuple[Contradiction, ...] = (
    *(Contradiction((one, other, known.UNCONSTRAINED), because) for one, other, because in _ON_THE_LINE),
    Contradiction((known.BOUNDED_SET, known.ALL_OF_SPACE), "R^d is not bounded"),
)


def contradiction(assumed: Assumed) -> Contradiction | None:
    """Return the first rule by which only constant functions satisfy all of them."""
    return next((rule for rule in CONTRADICTIONS if follow(assumed, rule.together)), None)


def all_implied(assumed: Assumed) -> Assumed:
    """Return the assumptions and all their consequences, each once."""
    found: dict[Assumption, None] = {}
    for one in assumed:
        found |= dict.fromkeys((one, *all_implied(one.stronger_than)))
    return tuple(found)


def satisfies(witness: Witness, assumed: Assumed) -> bool:
    """Return whether a problem is proven to satisfy all of them and their consequences, without being constant."""
    return not witness.is_constant() and all(one.holds_for(witness) for one in all_implied(assumed))


@cache
def witness_of(assumed: Assumed) -> Witness | None:
    """Return a problem of the library that satisfies all of them, if one is known."""
    from dpbounds.theorems.witnesses import WITNESSES

    return next((one for one in WITNESSES if satisfies(one, assumed)), None)


def defects_of(assumed: Assumed) -> Iterator[str]:
    """Describe defects of a set of assumptions: contradictory, or without a witness."""
    rule = contradiction(assumed)
    if rule is not None:
        names = ", ".join(one.name for one in rule.together)
        yield f"contradictory: no risk but a constant is {names} ({rule.because})"
    elif witness_of(assumed) is None:
        names = ", ".join(one.name for one in assumed)
        yield f"no witness known: the library has no example that is {names}; whether there is one is not said"


def bounds_single_records(assumed: Assumed) -> bool:
    """Return whether the contribution of one record alone is bounded, as add-or-remove-one requires.

    A bound on differences of records says what replacing one can do, and nothing about one that is left out.
    """
    implied = all_implied(assumed)
    return known.GRADIENT_DISTANCE not in implied or known.LIPSCHITZ in implied


@dataclass(frozen=True, slots=True)
class KnownRelation:
    """A relation that the constants of every problem satisfy under some assumptions, with its proof in a few words.

    Attributes:
        with_regulariser: Whether it holds where F has a regulariser besides the losses.
    """

    assumed: Assumed
    holds: Boolean
    why: str
    with_regulariser: bool = True

    @property
    def symbols(self) -> frozenset[str]:
        """Names of the quantities that occur."""
        return frozenset(symbol.name for symbol in self.holds.free_symbols)


@cache
def limits() -> tuple[KnownRelation, ...]:
    """Return all relations between constants that are known here."""
    from sympy import pi, sqrt

    from dpbounds.expressions import symbols as s

    limit, of_losses = KnownRelation, {"with_regulariser": False}
    gap, G, L, D, in_set = s.initial_gap, s.lipschitz, s.smoothness, s.diameter, (known.BOUNDED_SET,)
    return (
        limit((), gap <= s.loss_range, "a gap is at most the range", **of_losses),
        limit(
            (known.PL, known.LIPSCHITZ), 2 * s.pl_constant * gap <= G**2, "2μ(F - inf F) <= |∇F|² <= G²", **of_losses
        ),
        limit(
            (known.KL, known.LIPSCHITZ),
            gap <= (s.kl_constant * G) ** s.kl_exponent,
            "F - inf F <= γᵏ|∇F|ᵏ <= (γG)ᵏ",
            **of_losses,
        ),
        limit(
            (known.PL, known.SMOOTH_RISK, known.ALL_OF_SPACE),
            s.pl_constant <= L,
            "a gradient step shows |∇F|² <= 2L(F - inf F)",
        ),
        limit(
            (known.KL, known.SMOOTH_RISK, known.ALL_OF_SPACE),
            gap ** (2 - s.kl_exponent) <= s.kl_constant ** (2 * s.kl_exponent) * (2 * L) ** s.kl_exponent,
            "a gradient step shows |∇F|² <= 2L(F - inf F)",
        ),
        limit(
            (known.STRONGLY_CONVEX, known.SMOOTH_RISK),
            s.pl_constant <= L,
            "μ|u - w|² <= <∇F(u) - ∇F(w), u - w> <= L|u - w|²",
        ),
        limit((known.LIPSCHITZ, *in_set), gap <= G * D, "F changes by at most GD within the set", **of_losses),
        limit(
            (known.LIPSCHITZ_L1, *in_set),
            gap <= s.lipschitz_l1 * s.l1_diameter,
            "F changes by at most that within the set",
            **of_losses,
        ),
        limit((known.NEAR_A_FIELD,), s.distance <= 2 * G, "two records' gradients are at most 2G apart"),
        limit((known.NEAR_A_FIELD,), s.sensitivity <= 2 * G, "two records' gradients are at most 2G apart"),
        limit((known.GRADIENT_DISTANCE,), s.distance <= s.sensitivity, "Δ is the largest distance"),
        limit(in_set, 2 * s.norm_bound >= D, "two points of norm at most r are at most 2r apart"),
        limit((known.SYMMETRIC_SET,), 2 * s.norm_bound <= D, "with w the set holds -w"),
        limit(in_set, 2 * s.enclosing_radius >= D, "two points of a ball are at most its diameter apart"),
        limit(in_set, s.l1_diameter >= D, "|u|₂ <= |u|₁"),
        limit(in_set, s.l1_diameter <= sqrt(s.dimension) * D, "|u|₁ <= √d|u|₂"),
        limit(in_set, s.norm_bound <= s.l1_norm_bound, "|u|₂ <= |u|₁"),
        limit(in_set, s.l1_norm_bound <= sqrt(s.dimension) * s.norm_bound, "|u|₁ <= √d|u|₂"),
        limit(in_set, s.gaussian_width <= sqrt(s.dimension) * D, "the width does not change when C is shifted"),
        limit(in_set, sqrt(2 * pi) * s.gaussian_width >= D, "two points at distance D have a width of D/√(2π)"),
        limit((known.GENERALISED_LINEAR,), s.rank <= s.dimension, "features lie in R^d"),
        limit((known.GENERALISED_LINEAR,), s.rank <= s.dataset_size, "n features span at most n dimensions"),
        limit((SADDLES_ARE_HARDER,), s.hessian_lipschitz * s.stationarity <= L**2, "√(ρα) <= M"),
    )


@cache
def limits_for(assumed: Assumed) -> tuple[KnownRelation, ...]:
    """Return the relations that hold under these assumptions."""
    regularised = known.CONVEX_REGULARISER in assumed or (
        known.ALL_OF_SPACE in assumed and known.UNCONSTRAINED not in assumed
    )
    return tuple(one for one in limits() if follow(assumed, one.assumed) and (one.with_regulariser or not regularised))


def conditions_for(assumed: Assumed, given: Container[str]) -> tuple[Condition, ...]:
    """Return those relations as conditions, if every quantity is given: impossible constants are refused."""
    from dpbounds.theorems.parts import Condition

    return tuple(
        Condition(holds=one.holds, why=f"no problem has other constants: {one.why}")
        for one in limits_for(assumed)
        if all(name in given for name in one.symbols)
    )
