r"""Assumption 2, the generalised linear model: $f(w, (x, y)) = (\sigma(\langle w, x\rangle) - y)^2$ with $\|x\|_2,
\|w\|_2 \le 1$, $y \in \{0, 1\}$, $E[y \mid x] = \sigma(\langle w^*, x\rangle)$, and on $[-1, 1]$ a link with $\sigma',
\sigma'' \le C_\sigma$ (read: in absolute value), $\sigma' \ge c_\sigma > 0$, $|\sigma| \le B_\sigma$.

What it gives, with $\varphi(s) = (\sigma(s) - y)^2$: $|\varphi'| = 2|\sigma - y|\sigma' \le 2(B_\sigma + 1)C_\sigma$
and $|\varphi''| = |2\sigma'^2 + 2(\sigma - y)\sigma''| \le 2C_\sigma^2 + 2(B_\sigma + 1)C_\sigma$, so these are a
Lipschitz and a smoothness constant of the loss. Moreover $L_P(w) - L_P(w^*) \le \mu
\langle \nabla L_P(w), w - w^*\rangle$ with $\mu = C_\sigma/2c_\sigma$ (derived in population.md).
"""

from sympy import Expr

from dpbounds.theorems.record import Bound, Erratum, Metric, Severity, Status, Theorem
from dpbounds.theorems.wang_chen_xu_2019._assumptions import GLM_LINK
from dpbounds.theorems.wang_chen_xu_2019._quantities import (
    LINK_BOUND,
    LINK_CONSTANT,
    LINK_SLOPE,
    link_bound,
    link_constant,
    link_slope,
)


def lipschitz() -> Expr:
    return 2 * (link_bound + 1) * link_constant


def smoothness() -> Expr:
    return 2 * (link_constant**2 + (link_bound + 1) * link_constant)


def domination() -> Expr:
    return link_constant / (2 * link_slope)


THEOREM = Theorem(
    id="wang-chen-xu-2019/assumption-2",
    title="generalised linear model with a monotone link",
    statement=__doc__,
    where="Section 4, Assumption 2",
    metric=Metric.NONE,
    status=Status.DEFINITION,
    assumptions=(GLM_LINK,),
    local=(LINK_CONSTANT, LINK_SLOPE, LINK_BOUND),
    parts=(
        Bound(
            formula=lipschitz,
            name="lipschitz",
            meaning="bound on |φ'|, hence on the gradient (in l2 for |x|₂ <= 1, in l∞ for |x|_∞ <= 1)",
            increasing_in=(link_bound, link_constant),
        ),
        Bound(
            formula=smoothness,
            name="smoothness",
            meaning="bound on |φ''|, hence on the Hessian",
            increasing_in=(link_bound, link_constant),
        ),
        Bound(
            formula=domination,
            name="domination",
            meaning="μ with excess population risk <= μ<∇L_P(w), w - w*>",
            increasing_in=(link_constant,),
            decreasing_in=(link_slope,),
        ),
    ),
    errata=(
        Erratum(
            printed="max{σ', σ''} <= C_σ",
            right="max{|σ'|, |σ''|} <= C_σ: without absolute values σ'' may be as negative as it likes, and the "
            "loss has no smoothness constant",
            severity=Severity.TYPO,
            evidence="test_assumption_2.py::test_without_absolute_values_the_loss_is_not_smooth",
            survives="everything that is derived from |σ''| <= C_σ",
        ),
    ),
)
