r"""The noise that privacy needs is enough to escape saddle points: unmodified DP-SGD reaches an $\alpha$-second-order
stationary point with $\alpha$ of order $d^{1/4} / \sqrt{n\varepsilon}$, up to logarithms, for smooth losses with
Lipschitz Hessians that need not be Lipschitz themselves.
"""

from dpbounds.papers.cited.avdiukhin_et_al_2024 import PAPER
from dpbounds.theorems.language import Rate, Rational, q, sqrt

THEOREM = PAPER.theorem(
    title="second-order stationary points by DP-SGD as it is",
    where="Abstract; the order from a published summary of the text",
    bounds="sosp",
    status="claimed",
    assumptions="smooth, Hessian-Lipschitz",
    parts=Rate(
        q.d ** Rational(1, 4) / sqrt(q.n * q.epsilon),
        meaning="the α of the point",
        logs_hidden=True,
        hides="delta G L rho_H Delta_F",
    ),
    notes="""
    The abstract states no order. The order is taken from a summary by a third party; the theorem was not read. In place
    of a Lipschitz loss it assumes a property of the noise of stochastic gradients.
    """,
)
