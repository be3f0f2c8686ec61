r"""Second-order stationary points of the population risk: for $n d \ge 1/\varepsilon^2$ and with $G$, $L$, $D$,
$\rho_H$ taken as constants, the exponential mechanism followed by the algorithm of Lemma E.1 returns with high
probability a $\kappa$-SOSP, $\kappa = n^{-1/3} Z^{1/3} + \big(\frac{\sqrt d}{\varepsilon n}\big)^{3/7} Z^{3/7}$ up to
logarithms, $Z = \frac{d}{\varepsilon n} + \sqrt{d/n}$. For $Z < 1$ that is better than the rate without a warm start,
which is the same with $Z = 1$; for constant $d$ and $\varepsilon$ it is $1/\sqrt n$.
"""

from dpbounds.papers.lowy_ullman_wright_2024 import PAPER
from dpbounds.theorems.language import Condition, Rate, Rational, q, sqrt

_THIRD, _THREE_SEVENTHS = Rational(1, 3), Rational(3, 7)
closeness = q.d / (q.epsilon * q.n) + sqrt(q.d / q.n)
private = sqrt(q.d) / (q.epsilon * q.n)
first = (q.G**2 * q.L * q.D * closeness / q.n) ** _THIRD
second = q.G ** Rational(4, 7) * (q.L * q.D * private * closeness) ** _THREE_SEVENTHS

THEOREM = PAPER.theorem(
    title="stationary points of the population risk",
    where="Section 7, Corollary 7.1",
    bounds="population-sosp, probability",
    status="disputed",
    assumptions="Lipschitz, smooth, Hessian-Lipschitz, bounded risk, i.i.d. records, unconstrained",
    conditions=Condition(
        q.n * q.d * q.epsilon**2 >= 1, "the terms of Corollary E.4 that are left out are then of lower order"
    ),
    parts=Rate(
        (closeness / q.n) ** _THIRD + (private * closeness) ** _THREE_SEVENTHS,
        meaning="κ; δ is hidden among the logarithms",
        logs_hidden=True,
        hides="G L D rho_H",
        restored=first + second,
        bases="loss length",
    ),
    algorithm="lowy-ullman-wright-2024/algorithm-4",
    relies_on="lowy-ullman-wright-2024/corollary-e.4 ganesh-liu-oh-thakurta-2023/lemma-3.4",
    notes="""
    - With constants restored these are the first two terms of lowy-ullman-wright-2024/corollary-e.4; the other two are
      of lower order only while those constants are of order 1.
    - It follows from the repaired Corollary E.4, not from that corollary as printed.
    - 'Improves the state of the art' refers to Liu et al. 2023. As a bound on the gradient alone, Arora et al. 2023
      (n^(-1/3) + (√d/(εn))^(1/2)) and, for second-order points, Liu & Talwar 2024 are better where Z⁶ > √d/(εn) and the
      second terms dominate.
    - For comparison, the lower bound on an expected gradient is 1/√n + √d/(εn) (Figure 1).
    """,
)
