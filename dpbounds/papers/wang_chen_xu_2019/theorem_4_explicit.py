r"""Under Assumption 1 take a net of the ball $\|w\|_2 \le G/\lambda$ with at most $(1 + \frac{2G}{\lambda\alpha})^d$
points of it, such that every point of the ball is within $\alpha$ of one. The exponential mechanism with score $-\hat
F^r$, the losses centred at $w = 0$, and sensitivity $2G^2/(\lambda n)$ is $\varepsilon$-DP under replace-one, and with
probability $1 - \zeta$ its output has an excess empirical risk of at most
$2 G \alpha + \frac{4 G^2}{\lambda n \varepsilon} \big(d \ln(1 + \tfrac{2G}{\lambda\alpha}) + \ln \tfrac1\zeta\big)$.
At $\alpha = 2 G d/(\lambda n \varepsilon)$ that is $\frac{4G^2}{\lambda n\varepsilon} \big(d + d \ln(1 +
\tfrac{n\varepsilon}d) + \ln\tfrac1\zeta\big)$.
"""

from fractions import Fraction

from dpbounds.papers.wang_chen_xu_2019 import PAPER
from dpbounds.privacy.mechanisms import ExponentialMechanism, Mechanism
from dpbounds.theorems.language import SAMPLES, Bound, Expr, Numbers, Parameter, Privacy, log, q

_unit_of_noise = 4 * q.G**2 / (q.regularisation * q.n * q.epsilon)
points = q.d * log(1 + 2 * q.G / (q.regularisation * q.r_n))


def tuned() -> Expr:
    points = q.d * log(1 + q.n * q.epsilon / q.d)
    return _unit_of_noise * (q.d + points - log(q.zeta))


def mechanism(at: Numbers) -> Mechanism:
    share = Fraction(at.relation.sensitivity_factor, 2)  # an added or removed record moves scores by half as much
    return ExponentialMechanism(share * at[q.epsilon], relation=at.relation)


THEOREM = PAPER.theorem(
    title="the exponential mechanism on a net, with constants",
    bounds="excess-empirical-risk, probability",
    assumptions="regularised Lipschitz loss",
    parts=(
        Bound(
            2 * q.G * q.r_n + _unit_of_noise * (points - log(q.zeta)),
            meaning="excess empirical risk, for a net of a given resolution",
        ),
        Bound(tuned, "tuned", "excess empirical risk with the resolution below"),
        Parameter(2 * q.G * q.d / (q.regularisation * q.n * q.epsilon), "net_radius", "resolution of the net"),
        Parameter(
            (1 + q.n * q.epsilon / q.d) ** q.d * q.n,
            "cost",
            "evaluations of a loss with that resolution, at most",
            unit=SAMPLES,
            increasing_in="d",
        ),
    ),
    privacy=Privacy(mechanism, "epsilon"),
    derivation="theorem_4_explicit.md",
)
