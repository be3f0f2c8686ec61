r"""If $\pi$ has the log-Sobolev inequality with constant $C_{LS}$ and $c \le d\pi'/d\pi \le C$, then $\pi'$ has it
with constant $\frac Cc C_{LS}$ (Holley & Stroock). For $\pi' \propto e^{-\beta(F_D + \frac\lambda2\|w\|^2)}$ on a
convex set of diameter $D$ that makes $C_{LS} \le \frac{e^{\beta G D}}{\beta\lambda}$, as sections D.1 and D.2 use it.
"""

from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import PAPER, ratio_lower, ratio_upper
from dpbounds.theorems.language import Bound, Unit, exp, q

regularised = exp(q.beta * q.G * q.D) / (q.beta * q.regularisation)

THEOREM = PAPER.theorem(
    title="perturbation of a log-Sobolev inequality",
    where="Section 5.1, Lemma 5.2; Appendix D.1 and D.2 for the second part",
    bounds="functional-inequality",
    status="proved",
    assumptions="Lipschitz, bounded set",
    parts=(
        Bound(ratio_upper / ratio_lower * q.C_LS, "perturbed", "constant of π'", unit=Unit(length=2)),
        Bound(regularised, "regularised", "constant of the regularised Gibbs distribution", unit=Unit(length=2)),
    ),
    notes="""
    - Proof: Ent(f²) is the least E[f² ln(f²/t) - f² + t] over t > 0, whose integrand is not negative.
    - Assumptions are those of the second part. C/c does not change when the densities are normalised.
    - Section 1.2 prints the second constant as exp(max|F - F|)/μ, without β in the exponent.
    """,
)
