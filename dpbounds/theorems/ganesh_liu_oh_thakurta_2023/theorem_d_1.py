r"""Quoted from Chen, Chewi, Salim & Wibisono 2022: if the target of the alternating sampler has the log-Sobolev
inequality with constant $C$, the Rényi divergence of order $q \ge 1$ of $x_t$ from it is at most $R_q(\pi_0,
\pi)/(1 + \eta/C)^{2t/q}$, for every step $\eta > 0$, if the inner step is exact.
"""

from sympy import Expr

from dpbounds.expressions.symbols import log_sobolev, steps
from dpbounds.theorems.assumptions import BOUNDED_SET
from dpbounds.theorems.ganesh_liu_oh_thakurta_2023._assumptions_sampling import LOG_SOBOLEV
from dpbounds.theorems.ganesh_liu_oh_thakurta_2023._quantities_sampling import (
    PROXIMAL_STEP,
    RENYI_ORDER,
    START_DIVERGENCE,
    proximal_step,
    renyi_order,
    start_divergence,
)
from dpbounds.theorems.record import Bound, Metric, Mode, Note, Side, Status, Theorem


def divergence() -> Expr:
    return start_divergence / (1 + proximal_step / log_sobolev) ** (2 * steps / renyi_order)


THEOREM = Theorem(
    id="ganesh-liu-oh-thakurta-2023/theorem-d.1",
    title="convergence of the alternating sampler",
    statement=__doc__,
    where="Appendix D.3, Theorem D.1",
    metric=Metric.DISTANCE,
    side=Side.UPPER,
    mode=Mode.ALWAYS,
    status=Status.CLAIMED,
    assumptions=(BOUNDED_SET, LOG_SOBOLEV),
    local=(PROXIMAL_STEP, RENYI_ORDER, START_DIVERGENCE),
    parts=(
        Bound(
            formula=divergence,
            name="divergence",
            meaning="R_q of the law of x_T from the target",
            increasing_in=(start_divergence, log_sobolev, renyi_order),
            decreasing_in=(steps, proximal_step),
        ),
    ),
    algorithm="ganesh-liu-oh-thakurta-2023/algorithm-3",
    notes=(
        Note("Order 1 is the Kullback-Leibler divergence; there the bound is attained by Gaussians (tested)."),
        Note(
            "The proof was not read here; it is stated for densities on all of R^d, of which a bounded set is a limit."
        ),
    ),
)
