r"""If $\pi$ has the log-Sobolev inequality with constant $C_{LS}$ and $c \le d\pi'/d\pi \le C$, then $\pi'$ has it
with constant $\frac Cc C_{LS}$ (Holley & Stroock). For $\pi' \propto e^{-\beta(F_D + \frac\lambda2\|w\|^2)}$ on a
convex set of diameter $D$ that makes $C_{LS} \le \frac{e^{\beta G D}}{\beta\lambda}$, as sections D.1 and D.2 use it.
"""

from sympy import Expr, exp

from dpbounds.expressions.symbols import (
    Unit,
    diameter,
    inverse_temperature,
    lipschitz,
    log_sobolev,
    regularisation,
)
from dpbounds.theorems.assumptions import BOUNDED_SET, LIPSCHITZ
from dpbounds.theorems.ganesh_liu_oh_thakurta_2023._quantities_sampling import (
    RATIO_LOWER,
    RATIO_UPPER,
    ratio_lower,
    ratio_upper,
)
from dpbounds.theorems.record import Bound, Metric, Note, Side, Status, Theorem


def perturbed() -> Expr:
    return ratio_upper / ratio_lower * log_sobolev


def regularised() -> Expr:
    return exp(inverse_temperature * lipschitz * diameter) / (inverse_temperature * regularisation)


THEOREM = Theorem(
    id="ganesh-liu-oh-thakurta-2023/lemma-5.2",
    title="perturbation of a log-Sobolev inequality",
    statement=__doc__,
    where="Section 5.1, Lemma 5.2; Appendix D.1 and D.2 for the second part",
    metric=Metric.FUNCTIONAL_INEQUALITY,
    side=Side.UPPER,
    status=Status.PROVED,
    local=(RATIO_LOWER, RATIO_UPPER),
    parts=(
        Bound(
            formula=perturbed,
            name="perturbed",
            unit=Unit(length=2),
            meaning="constant of π'",
            increasing_in=(ratio_upper, log_sobolev),
            decreasing_in=(ratio_lower,),
        ),
        Bound(
            formula=regularised,
            name="regularised",
            unit=Unit(length=2),
            meaning="constant of the regularised Gibbs distribution",
            increasing_in=(lipschitz, diameter),
            decreasing_in=(regularisation,),
        ),
    ),
    assumptions=(LIPSCHITZ, BOUNDED_SET),
    notes=(
        Note("Proof: Ent(f²) is the least E[f² ln(f²/t) - f² + t] over t > 0, whose integrand is not negative."),
        Note("Assumptions are those of the second part. C/c does not change when the densities are normalised."),
        Note("Section 1.2 prints the second constant as exp(max|F - F|)/μ, without β in the exponent."),
    ),
)
