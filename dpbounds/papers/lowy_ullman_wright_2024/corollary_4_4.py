r"""The exponential mechanism on a net as warm start for the second-order variant of DP-SPIDER: for every $\zeta > 0$
it is $(\varepsilon, \delta)$-DP and returns, with probability at least $1 - \zeta$, an $\omega$-second-order
stationary point of the empirical risk with $\omega = \gamma + \tilde O\big(\frac{G^{1/3} D^{1/6} L^{7/6}
\sqrt{\ln(1/\delta)}}{\sqrt{\rho_H}\, \varepsilon n} A^{1/2} d^{1/12}\big)$, $\gamma$ from Corollary 4.3 and $A =
\sqrt{d \ln(1/\delta)}/(\varepsilon n)$.
"""

from dpbounds.papers.lowy_ullman_wright_2024 import PAPER
from dpbounds.theorems.language import Condition, Rate, Rational, log, q, sqrt

noise_ratio = sqrt(q.d * log(1 / q.delta)) / (q.epsilon * q.n)
warm = (q.G**2 * q.L * q.D) ** Rational(1, 3)
gamma = q.G * noise_ratio + warm * noise_ratio * q.d ** Rational(1, 6)
constants = q.G ** Rational(1, 3) * q.D ** Rational(1, 6) * q.L ** Rational(7, 6)
shape = sqrt(noise_ratio) * q.d ** Rational(1, 12)
printed_second = constants / (sqrt(q.rho_H) * q.n) * shape
rate = gamma + printed_second * sqrt(log(1 / q.delta)) / q.epsilon
printed = gamma + printed_second
enough = q.epsilon * q.n >= (2 + sqrt(2)) * q.d

THEOREM = PAPER.theorem(
    title="second-order stationarity for non-convex losses",
    where="Section 4, Corollary 4.4",
    bounds="sosp, probability",
    status="disputed",
    assumptions="Lipschitz, smooth, bounded risk, unconstrained, Hessian-Lipschitz, near-minimiser in a compact set",
    conditions=Condition(enough, "equation (2); else the second half alone is better"),
    parts=(
        Rate(rate, meaning="with the factor √ln(1/δ)/ε of the last term put back", logs_hidden=True),
        Rate(printed, "printed", "as printed", logs_hidden=True, bases="loss length"),
    ),
    algorithm="lowy-ullman-wright-2024/algorithm-2",
    relies_on="lowy-ullman-wright-2024/theorem-3.4 lowy-ullman-wright-2024/lemma-4.2 "
    "ganesh-liu-oh-thakurta-2023/lemma-3.4",
    notes="""
    - The factor √ln(1/δ)/ε that Lemma 3.3 lost is missing here, too, and restored.
    - As in Corollary 4.3, logarithms of δ are printed slightly larger than the derivation has them.
    - Disputed as Lemma 3.3 is; the part on the warm start is Corollary 4.3.
    """,
)
