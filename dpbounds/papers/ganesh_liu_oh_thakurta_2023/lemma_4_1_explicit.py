r"""One threshold for both tests: let $q_i = \max\{(\|\nabla F(x_i)\| - \alpha)/G, (-\sqrt{\rho\alpha} -
\lambda_{\min}(\nabla^2 F(x_i)))/M\}$ and return the first of $N$ points with $q_i +
\mathrm{Lap}(\frac8{n\varepsilon}) \le \mathrm{Lap}(\frac4{n\varepsilon}) + \frac{12\ln((N+1)/\omega)}{n\varepsilon}$.
This is $\varepsilon$-DP if a record is replaced. If one of the points is an $\alpha$-SOSP, then with probability at
least $1 - \omega$ a point is returned, with a gradient of norm at most $\alpha + 24G\ln((N+1)/\omega)/(n\varepsilon)$
and no eigenvalue of the Hessian below $-\sqrt{\rho \alpha} - 24M\ln((N+1)/\omega)/(n\varepsilon)$.
"""

from fractions import Fraction

from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import PAPER
from dpbounds.privacy.mechanisms import AboveThreshold, Mechanism
from dpbounds.theorems.language import CURVATURE, Bound, Max, Numbers, Parameter, Privacy, log, q, sqrt

slack = 24 * log((q.N + 1) / q.zeta) / (q.n * q.epsilon)
gradient = q.alpha + slack * q.G
curvature = sqrt(q.rho_H * q.alpha) + slack * q.L


def mechanism(at: Numbers) -> Mechanism:
    share = Fraction(2, at.relation.sensitivity_factor)  # q has sensitivity 2/n for a replaced record, else 1/n
    noises = (share * 2 / at[q.epsilon], share * 4 / at[q.epsilon])
    return AboveThreshold(threshold_noise=noises[0], query_noise=noises[1], relation=at.relation)


THEOREM = PAPER.theorem(
    title="selection of a stationary point by one test",
    where="derived here; compare Lemma 4.1 and Algorithm 2",
    bounds="sosp, probability",
    assumptions="Lipschitz, smooth, Hessian-Lipschitz",
    parts=(
        Bound(
            Max(gradient, curvature**2 / q.rho_H),
            meaning="the α of the selected SOSP: both of the bounds below in one number",
        ),
        Bound(gradient, "gradient", "norm of the selected point's gradient; without the Hessian, of a selected FOSP"),
        Bound(
            curvature, "curvature", "how far below 0 the selected point's smallest eigenvalue may be", unit=CURVATURE
        ),
        Parameter(slack / 2, "offset", "number added to the threshold 0 of q"),
    ),
    privacy=Privacy(mechanism, "epsilon"),
    derivation="selection.md",
    notes="For first-order points leave the second entry of q out: the same budget, the same bound.",
)
