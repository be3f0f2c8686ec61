r"""Assumption 2, the generalised linear model: $f(w, (x, y)) = (\sigma(\langle w, x\rangle) - y)^2$ with $\|x\|_2,
\|w\|_2 \le 1$, $y \in \{0, 1\}$, $E[y \mid x] = \sigma(\langle w^*, x\rangle)$, and on $[-1, 1]$ a link with $\sigma',
\sigma'' \le C_\sigma$ (read: in absolute value), $\sigma' \ge c_\sigma > 0$, $|\sigma| \le B_\sigma$.

Consequences, with $\varphi(s) = (\sigma(s) - y)^2$: $|\varphi'| = 2|\sigma - y|\sigma' \le 2(B_\sigma + 1)C_\sigma$ and
$|\varphi''| = |2\sigma'^2 + 2(\sigma - y)\sigma''| \le 2C_\sigma^2 + 2(B_\sigma + 1)C_\sigma$, so these are a Lipschitz
and a smoothness constant of the loss. Moreover $L_P(w) - L_P(w^*) \le \mu \langle \nabla L_P(w), w - w^*\rangle$ with
$\mu = C_\sigma/2c_\sigma$ (derived in population.md).
"""

from dpbounds.papers.wang_chen_xu_2019 import PAPER, link_bound, link_constant, link_slope
from dpbounds.theorems.language import Bound, Erratum

THEOREM = PAPER.theorem(
    title="generalised linear model with a monotone link",
    where="Section 4, Assumption 2",
    status="definition",
    assumptions="monotone link",
    parts=(
        Bound(
            2 * (link_bound + 1) * link_constant,
            "lipschitz",
            "bound on |φ'|, hence on the gradient (in l2 for |x|₂ <= 1, in l∞ for |x|_∞ <= 1)",
        ),
        Bound(
            2 * (link_constant**2 + (link_bound + 1) * link_constant),
            "smoothness",
            "bound on |φ''|, hence on the Hessian",
        ),
        Bound(link_constant / (2 * link_slope), "domination", "μ with excess population risk <= μ<∇L_P(w), w - w*>"),
    ),
    errata=Erratum(
        printed="max{σ', σ''} <= C_σ",
        right="max{|σ'|, |σ''|} <= C_σ: without absolute values σ'' may be as negative as it likes, and the loss "
        "has no smoothness constant",
        severity="typo",
        evidence="test_assumption_2.py::test_without_absolute_values_the_loss_is_not_smooth",
        survives="everything that is derived from |σ''| <= C_σ",
    ),
)
