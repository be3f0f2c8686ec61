r"""The exponential mechanism with $\beta = \frac{\varepsilon n}{2GD}$ on a net of radius $r$ of a set in a ball of
radius $R$ is pure $\varepsilon$-DP under replace-one. With $\ln|P| \le d\ln(1 + \frac{2R}r)$ its expected excess
population risk is at most $Gr + \frac{2GD}{\varepsilon n}\ln|P| + GR\sqrt{2\ln|P|/n}$; without the last term, its
empirical one.
"""

from fractions import Fraction

from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import PAPER
from dpbounds.privacy.mechanisms import ExponentialMechanism, Mechanism
from dpbounds.theorems.language import PURE, Bound, Numbers, Parameter, Privacy, log, q, sqrt

log_size = q.d * log(1 + 2 * q.R / q.r_n)
empirical = q.G * q.r_n + 2 * q.G * q.D / (q.epsilon * q.n) * log_size
population = empirical + q.G * q.R * sqrt(2 * log_size / q.n)
share = q.d / (q.epsilon * q.n)
level = log(1 + 2 * q.epsilon * q.n / q.d)


def mechanism(at: Numbers) -> Mechanism:
    return ExponentialMechanism(Fraction(at.relation.sensitivity_factor, 2) * at[q.epsilon], relation=at.relation)


THEOREM = PAPER.theorem(
    title="the exponential mechanism on a net, with constants",
    bounds="excess-population-risk, expectation",
    assumptions="Lipschitz, bounded set, i.i.d. records",
    parts=(
        Bound(population, meaning="expected excess population risk against the whole set", bases="loss length"),
        Bound(empirical, "empirical", "expected excess empirical risk against the whole set"),
        Bound(
            q.G * q.D * (share * (1 + 2 * level) + sqrt(2 * q.d * level / q.n)),
            "tuned",
            "population risk at the printed radius Dd/(εn), with R = D",
            bases="loss length",
            increasing_in="d",
            decreasing_in="n",
        ),
        Bound(log_size, "log_net_size", "of the logarithm of the number of points", unit=PURE),
        Parameter(q.epsilon * q.n / (2 * q.G * q.D), "inverse_temperature", "β"),
    ),
    privacy=Privacy(mechanism, "epsilon"),
    derivation="discrete_mechanism.md",
    notes="The net must not depend on the data; the set need not be convex.",
)
