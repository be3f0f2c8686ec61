r"""Convergence, taken over from Ge, Huang, Jin & Yuan 2015: let $f$ be strict saddle, $|f| \le B$, with Lipschitz
gradients and Hessians, and let the noise of the stochastic gradient have $E[nn^\top] = \sigma^2 I$. For some threshold
$\eta_{\max}$, every failure probability $\zeta$ and every $\eta \le \eta_{\max} / \max(1, \log(1/\zeta))$, stochastic
gradient descent is after $t = O(\eta^{-2} \log(1/\zeta))$ steps at a point $O(\sqrt{\eta \log(1/\zeta)})$-close to some
local minimum, with probability $1 - \zeta$.
"""

from dpbounds.papers.tholeti_kalyani_2020 import PAPER
from dpbounds.theorems.language import LENGTH, Condition, Max, Parameter, Rate, Unit, log, q, sqrt

step_threshold = PAPER.quantity(
    "step_threshold",
    r"\eta_{\max}",
    "step size up to which the theorem holds at constant confidence; its value is not stated",
    unit=Unit(loss=-1, length=2),
)
largest_step = step_threshold / Max(1, log(1 / q.zeta))
short_steps = Condition(q.eta <= largest_step, "range of the theorem")

THEOREM = PAPER.theorem(
    title="convergence to a local minimum",
    where="Section IV.B, Theorem 2, and the two sentences after it",
    bounds="distance, probability",
    status="claimed",
    sampling="one uniformly random record per step",
    assumptions="unconstrained, strict saddles, bounded loss, smooth risk, Hessian-Lipschitz",
    parts=(
        Rate(
            sqrt(q.eta * log(1 / q.zeta)),
            meaning="distance to some local minimum",
            unit=LENGTH,
            hides="d sigma B L rho_H",
            conditions=short_steps,
        ),
        Parameter(largest_step, "step_size", "the largest step size that is allowed"),
        Parameter(
            log(1 / q.zeta) / q.eta**2,
            "steps",
            "number of steps",
            up_to_constant=True,
            hides="d sigma B L rho_H",
            conditions=short_steps,
        ),
    ),
    algorithm="tholeti-kalyani-2020/algorithm-1",
    relies_on="cited/ge-et-al-2015/theorem-6",
    notes="""
    - Quoted there without proof; it was not compared with its source here. The constants, and how they depend on d,
      σ and the strictness of the saddles, are hidden.
    - That the noise of Algorithm 1 'automatically' has E[nnᵀ] = σ²I is true for the noise that is added, with σ² =
      r²/(d+2). The oracle's total noise also contains the choice of the record, and its covariance is the sum of the
      two; whether the theorem needs equality or only enough noise in every direction was not checked.
    - Together with Theorem 1: steps of the order of η⁻² cost a δ of the order of η⁻² δ₁/N, so a small δ and a point
      close to a minimum need N far above η⁻² δ₁. The paper combines no constants; a bound for the gradient norm that
      has them is tholeti-kalyani-2020/algorithm-1/explicit.
    """,
)
