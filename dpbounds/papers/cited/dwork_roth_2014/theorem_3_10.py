r"""The exponential mechanism is private: choosing a candidate with probability proportional to
$\exp(\varepsilon u / 2\Delta_u)$, where no neighbour changes a score $u$ by more than $\Delta_u$, is
$\varepsilon$-differentially private. Its privacy loss has a range of at most $\varepsilon$, a stronger property, by
which it is $\frac{\varepsilon^2}{8}$-zCDP.
"""

from dpbounds.papers.cited.dwork_roth_2014 import PAPER
from dpbounds.privacy.mechanisms import ExponentialMechanism
from dpbounds.theorems.language import Bound, Parameter, Privacy, Unit, q

THEOREM = PAPER.theorem(
    title="privacy of the exponential mechanism",
    where="Section 3.4, Theorem 3.10 (McSherry & Talwar 2007); the zCDP: Cesar & Rogers 2021",
    bounds="privacy, always",
    status="proved",
    relation="replace-one",
    parts=(
        Parameter(
            q.epsilon / (2 * q.Delta_u),
            "score-weight",
            "factor of the score in the exponent",
            unit=Unit(loss=-1, samples=-1),
        ),
        Bound(
            q.epsilon**2 / 8,
            "rho",
            "its budget of zCDP: a quarter of that from ε-DP alone",
            unit=Unit(samples=-2),
        ),
    ),
    privacy=Privacy(lambda at: ExponentialMechanism(at[q.epsilon], relation=at.relation), "epsilon"),
    notes="""
    Under either relation, with the Δ_u that holds for it. Only the change of scores up to a constant has to be bounded:
    a common shift cancels.
    """,
)
