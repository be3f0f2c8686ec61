r"""Lower bounds for private estimation of a mean in the unit ball: the terms that all lower bounds share.

Section numbers are those of ``lower_bounds.md``. Each bound is a scale times the minimum of 1 and a term of privacy,
for $n$ records, some of which are not 0.
"""

from dpbounds.theorems.language import Condition, Expr, Max, Min, Rational, exp, log, q, sqrt

growth_of_odds = exp(q.epsilon) - 1  # e^ε - 1: relative change of odds by one record

# Two datasets: one coordinate (section 2)
two_points_room = (
    Condition(
        q.delta <= growth_of_odds / (2 * (3 * exp(q.epsilon) - 1)), "the ⌈1/ε⌉ records together keep a δ below 1/2"
    ),
)
two_points = Min(1, 1 / (q.epsilon * q.n))  # share of the records that differ
two_points_overlap = 1 / (1 + 3 * exp(q.epsilon))

# Packing: the term min(d, ln 1/δ) (section 3)
packing_delta = Condition(q.delta <= exp(-1) * (1 - exp(-q.epsilon)) / 4, "ln((e^ε - 1)/(4δ)) is at least 1 + ε")
packing_delta_of_draws = Condition(q.delta <= growth_of_odds / 4, "ln((e^ε - 1)/(4δ)) is not negative")
_packing_logarithm = log(growth_of_odds / (4 * q.delta))
ball_packing = Max(0, Min((q.d - 2) * log(2), _packing_logarithm))
ball_packing_room = (Condition(q.d >= 2 + q.epsilon / log(2), "2^d points, of which one record reveals less"),)
sign_packing = Max(0, Min(q.d / 8 - log(4), _packing_logarithm))
sign_packing_room = (Condition(q.d >= 8 * q.epsilon + 8 * log(4), "e^(d/8) points, of which one record reveals less"),)

# Fingerprints: the term √(d ln 1/δ) (section 4)
_fingerprint_logarithm = log(growth_of_odds / (3 * q.delta * sqrt(q.d)))


def fingerprint_level(crowd: int) -> Expr:
    """Return the ε of a group of records: the largest that keeps its δ small and is at most d/``crowd``."""
    return Min(_fingerprint_logarithm, q.d / crowd)


def fingerprint_room(crowd: int) -> tuple[Condition, ...]:
    """Return the conditions under which groups of whole records have an ε of at least 1/2."""
    return (
        Condition(
            q.delta <= growth_of_odds * exp(-Max(1, q.epsilon)) / (3 * sqrt(q.d)), "its logarithm is at least max(1, ε)"
        ),
        Condition(q.d >= crowd * Max(1, q.epsilon), "enough coordinates for one group"),
        Condition(q.n >= 1 / q.epsilon, "enough records for one group"),
    )


def fingerprint_room_of_draws(crowd: int) -> tuple[Condition, ...]:
    """Return the conditions of ``fingerprint_room`` for records that are drawn, where groups need not be whole."""
    return (
        Condition(q.delta <= growth_of_odds * exp(-Rational(1, 2)) / (3 * sqrt(q.d)), "its logarithm is at least 1/2"),
        Condition(q.d >= Rational(crowd, 2), "enough coordinates for one group"),
        Condition(q.n * growth_of_odds >= Rational(1, 2), "enough records for one group"),
    )


def of_records(level: Expr) -> Expr:
    """Return level/(εn), the share of n records in a group of that ε."""
    return level / (q.epsilon * q.n)


def of_draws(level: Expr) -> Expr:
    """Return level/((e^ε - 1)n), the same share for records that are drawn, whose number varies."""
    return level / (growth_of_odds * q.n)
