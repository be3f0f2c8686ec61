r"""The exponential mechanism on $N$ points of a compact set $W$ of diameter $D$, a net of radius $r_n$, with
probability proportional to $\exp(-\lambda F)$, $\lambda = \varepsilon n/(2GD)$, is $\varepsilon$-DP under replace-one,
and $E F(w_0) - \min_W F \le G r_n + 2GD \ln N/(\varepsilon n)$; with probability at least $1 - \zeta$ the bound holds
without the expectation, and with $\ln N + \ln(1/\zeta)$ in place of $\ln N$. There is a net with
$N \le (1 + \sqrt2\, D/r_n)^d$; with $r_n = Dd/(\varepsilon n)$ the expectation is at most $\frac{GDd}{\varepsilon n}
(1 + 2 \ln(1 + \sqrt2\, \varepsilon n/d))$.

The temperature is half of that of Definition 4.1, and so is the error. The proof is in the Markdown file beside the
code.
"""

from fractions import Fraction

from dpbounds.papers.lowy_ullman_wright_2024 import PAPER
from dpbounds.privacy.mechanisms import ExponentialMechanism, Mechanism
from dpbounds.theorems.language import Bound, Numbers, Parameter, Privacy, log, q, sqrt

inverse_temperature = q.epsilon * q.n / (2 * q.G * q.D)
bound = q.G * q.r_n + log(q.N) / inverse_temperature
tail = q.G * q.r_n + (log(q.N) + log(1 / q.zeta)) / inverse_temperature
size = q.epsilon * q.n / q.d


def mechanism(at: Numbers) -> Mechanism:
    share = Fraction(at.relation.sensitivity_factor, 2)  # a record added moves the risk by half as much as one replaced
    return ExponentialMechanism(share * at[q.epsilon], relation=at.relation)


THEOREM = PAPER.theorem(
    title="excess risk of the exponential mechanism, sharper",
    where="derived here; compare Definition 4.1 and Lemma 4.2",
    bounds="excess-empirical-risk, expectation",
    sampling="full batch",
    assumptions="Lipschitz, compact set",
    parts=(
        Bound(bound, meaning="in expectation, above the minimum over W, for a net of N points and radius r"),
        Bound(tail, "tail", "the same, missed with probability at most ζ"),
        Bound(
            q.G * q.D / size * (1 + 2 * log(1 + sqrt(2) * size)),
            "tuned",
            "in expectation, above the minimum over W, for the smallest net of radius Dd/(εn)",
            increasing_in="d",
            decreasing_in="n epsilon",
        ),
        Parameter(inverse_temperature, "inverse_temperature", "factor of the risk in the exponent"),
        Parameter((1 + sqrt(2) * q.D / q.r_n) ** q.d, "candidates", "points that a net of radius r needs at most"),
    ),
    privacy=Privacy(mechanism, "epsilon"),
    algorithm="lowy-ullman-wright-2024/definition-4.1",
    derivation="lemma_4_2_explicit.md",
    notes="""
    For the excess over the infimum over R^d, add the excess of the best point of W: GDd/(εn) in the setting of the
    paper.
    """,
)
