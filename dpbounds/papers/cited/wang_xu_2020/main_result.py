r"""A private trust-region method finds, with high probability, an $\alpha$-second-order stationary point of the
empirical risk with $\alpha$ of order $(d / (n\varepsilon))^{4/7}$, up to logarithms.
"""

from dpbounds.papers.cited.wang_xu_2020 import PAPER
from dpbounds.theorems.language import Rate, Rational, q

THEOREM = PAPER.theorem(
    title="second-order stationary points by a private trust-region method",
    where="Main result; quoted in Tables 1 and 3 of Ganesh, Liu, Oh & Thakurta 2023",
    bounds="sosp, probability",
    status="claimed",
    assumptions="Lipschitz, smooth, Hessian-Lipschitz",
    parts=Rate(
        (q.d / (q.n * q.epsilon)) ** Rational(4, 7), meaning="the α of the point", logs_hidden=True, hides="G L rho_H B"
    ),
    notes="Its abstract, which was read too, says that fewer samples are needed than before, and gives no rate.",
)
