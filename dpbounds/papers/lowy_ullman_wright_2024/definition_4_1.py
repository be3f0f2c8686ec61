r"""The exponential mechanism on a net: from a net of the compact set $W$ of diameter $D$ with radius $D
d/(\varepsilon n)$, choose $w$ with probability proportional to $\exp(-\varepsilon n F(w)/(4 G D))$, where $F$ is the
empirical risk.

Its privacy: replacing a record changes $F(w)$ by $(f(w, x') - f(w, x))/n$, a function of $w$ that is
$2G/n$-Lipschitz, so that over $W$ it varies by at most $2GD/n$; a constant cancels in the normalisation. The privacy
loss therefore lies in an interval of length $\frac{\varepsilon n}{4GD} \cdot \frac{2GD}{n} = \varepsilon/2$.
"""

from fractions import Fraction

from dpbounds.papers.lowy_ullman_wright_2024 import PAPER
from dpbounds.privacy.mechanisms import ExponentialMechanism, Mechanism
from dpbounds.theorems.language import Numbers, Parameter, Privacy, q

net_radius = q.D * q.d / (q.epsilon * q.n)


def mechanism(at: Numbers) -> Mechanism:
    # the loss spans ε/2 when a record is replaced, and half of that when it is added or removed (n kept as normaliser)
    share = Fraction(at.relation.sensitivity_factor, 4)
    return ExponentialMechanism(share * at[q.epsilon], relation=at.relation)


THEOREM = PAPER.theorem(
    title="exponential mechanism on a net",
    where="Section 4, the setting and Definition 4.1",
    bounds="privacy",
    status="proved",
    sampling="full batch",
    assumptions="Lipschitz, near-minimiser in a compact set",
    parts=(
        Parameter(q.epsilon * q.n / (4 * q.G * q.D), "inverse_temperature", "factor of the risk in the exponent"),
        Parameter(net_radius, "net_radius", "every point of W is this close to a point of the net"),
        Parameter(
            q.G * q.D * q.d / (q.epsilon * q.n),
            "excess_risk",
            "how far above the infimum over R^d the best point of W may be",
        ),
    ),
    privacy=Privacy(mechanism, "epsilon"),
    notes="""
    - As a set of diameter D is assumed, the temperature is twice what ε-DP needs: 2GD in place of 4GD gives ε-DP and
      half the error (lowy-ullman-wright-2024/lemma-4.2/explicit). For the geometry of Lemma E.3 (radius D) 4GD is
      exactly the number that is needed.
    - Lipschitz losses bound f(w, x) - f(w, x') only up to a constant: as a score, the risk is meant relative to its
      value at a fixed point, which changes no probability.
    - The risk is evaluated at every point of the net, of which there are up to (2εn/d)^d.
    """,
)
