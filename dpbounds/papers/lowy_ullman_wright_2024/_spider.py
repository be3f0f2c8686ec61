"""Full-batch DP-SPIDER with explicit constants, for any public bound on the gap and any share of the budget.

The derivation is in algorithm_1_explicit.md and lemma_3_1_explicit.md.
"""

from dpbounds.privacy.mechanisms import Composed, Gaussian, Mechanism
from dpbounds.theorems.language import Expr, Max, Numbers, Rational, ceiling, floor, q, sqrt


def noise_ratio(budget: Expr) -> Expr:
    """Return A = √d/(n√ρ)."""
    return sqrt(q.d) / (q.n * sqrt(budget))


def best_steps(gap: Expr, budget: Expr) -> Expr:
    """Return the number of steps that minimises the bound, before rounding."""
    return (q.L * gap / (4 * q.G**2 * noise_ratio(budget) ** 4)) ** Rational(1, 3)


def steps(gap: Expr, budget: Expr) -> Expr:
    """Return the number of steps that minimises the bound, rounded up."""
    return Max(1, ceiling(best_steps(gap, budget)))


def anchor_period(count: Expr, budget: Expr) -> Expr:
    """Return the steps from one anchor to the next, in a run of ``count`` steps."""
    return 1 + floor(1 / (2 * count * noise_ratio(budget) ** 2))


def anchors(gap: Expr, budget: Expr) -> Expr:
    """Return the number of anchors."""
    count = steps(gap, budget)
    return ceiling(count / anchor_period(count, budget))


def anchor_variance(gap: Expr, budget: Expr) -> Expr:
    """Return σ₁², the variance of an anchor, for half of the budget."""
    return 4 * q.G**2 * anchors(gap, budget) / (q.n**2 * budget)


def difference_variance(gap: Expr, budget: Expr) -> Expr:
    """Return σ₂², the variance of a difference per squared distance of its two iterates, for half of the budget."""
    return 4 * q.L**2 * (steps(gap, budget) - anchors(gap, budget)) / (q.n**2 * budget)


def bound(gap: Expr, budget: Expr) -> Expr:
    """Return the bound on the expected gradient norm in closed form."""
    a = noise_ratio(budget)
    leading = sqrt(6) * 2 ** Rational(1, 3) * (q.L * gap * q.G * a**2) ** Rational(1, 3)
    return leading + 2 * q.G * a + 2 * sqrt(6) * q.G * a**2


def prescribed_bound(gap: Expr, budget: Expr) -> Expr:
    """Return the sharper bound at the rounded parameters, from which the closed form follows."""
    descent = 4 * q.L * gap / steps(gap, budget)
    return sqrt(descent + q.d * anchor_variance(gap, budget))


def mechanism(at: Numbers, gap: Expr, budget: Expr) -> Mechanism:
    """Return the anchors and differences; noise is in units of one record's contribution, G/n or min(L|Δw|, 2G)/n."""
    anchored = at.count(anchors(gap, budget))
    remaining = at.count(steps(gap, budget)) - anchored
    parts: list[tuple[Mechanism, int]] = [(Gaussian(at.down(sqrt(4 * anchored / budget))), anchored)]
    if remaining > 0:
        parts.append((Gaussian(at.down(sqrt(4 * remaining / budget))), remaining))
    return Composed(tuple(parts))
