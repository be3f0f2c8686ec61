r"""If all densities proportional to $e^{-\beta F_D - r}$ have the log-Sobolev inequality with constant $C$, one sample
is $\rho$-zCDP with $\rho = \frac{2CG^2\beta^2}{n^2}$ under replace-one (a quarter of it if a record is removed and the
factor $\frac1n$ stays), so $(\rho + 2\sqrt{\rho \ln(1/\delta)}, \delta)$-DP for every $\delta$. Attained by Gaussians.
"""

from fractions import Fraction

from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import PAPER
from dpbounds.privacy.mechanisms import ZCDP, Mechanism
from dpbounds.theorems.language import Bound, Numbers, Parameter, Privacy, Unit, log, q, sqrt

budget = 2 * q.C_LS * q.G**2 * q.beta**2 / q.n**2
temperature = q.n / q.G * sqrt(q.rho / (2 * q.C_LS))


def mechanism(at: Numbers) -> Mechanism:
    share = Fraction(at.relation.sensitivity_factor, 2)
    return ZCDP(share**2 * at.up(budget.subs(q.beta, temperature)), relation=at.relation)


THEOREM = PAPER.theorem(
    title="a sample under a log-Sobolev inequality is zCDP",
    bounds="privacy",
    assumptions="Lipschitz, closed convex set, log-Sobolev",
    parts=(
        Bound(budget + 2 * sqrt(budget * log(1 / q.delta)), "epsilon", "at δ, any value", bases="loss length"),
        Bound(budget, "rho", "zCDP budget of one sample", unit=Unit(samples=-2)),
        Parameter(temperature, "inverse_temperature", "the β that spends ρ"),
    ),
    privacy=Privacy(mechanism, "rho n G C_LS"),
    derivation="log_sobolev.md",
)
