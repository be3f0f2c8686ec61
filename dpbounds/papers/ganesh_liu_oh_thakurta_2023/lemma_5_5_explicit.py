r"""Samples of the Gibbs distributions of two datasets that differ in one record are within total variation
$\tanh\frac{\beta G D}{2n}$, with or without a public regulariser. So $E[F_P - F_D] \le G D \tanh\frac{\beta G D}{2n}$;
by transport it is also at most $\frac{2G^2 e^{\beta G D}}{n\lambda}$ (the printed order, with its constant).
"""

from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import PAPER
from dpbounds.theorems.language import LOSS, Bound, Expr, exp, q

growth = exp(q.beta * q.G * q.D / q.n)
variation = (growth - 1) / (growth + 1)


def transport() -> Expr:
    growth = exp(q.beta * q.G * q.D)
    return 2 * q.G**2 * growth / (q.n * q.regularisation)


THEOREM = PAPER.theorem(
    title="stability of a Gibbs sample, with constants",
    bounds="generalisation-gap, expectation",
    relation="replace-one",
    assumptions="Lipschitz, bounded set, i.i.d. records",
    parts=(
        Bound(
            q.G * q.D * variation,
            meaning="expected F_P - F_D of one sample",
            unit=LOSS,
            bases="loss length",
            increasing_in="G D",
        ),
        Bound(variation, "total_variation", "of two neighbours' samples: tanh(βGD/(2n))", bases="loss length"),
        Bound(transport, "transport", "the same gap by the printed route", unit=LOSS, bases="loss length"),
    ),
    derivation="gibbs.md",
    notes="""
    - With λ = d/(D²β) the second exceeds the first unless d is of order e^{βGD}.
    - The second needs a convex set and λ > 0; the first neither.
    """,
)
