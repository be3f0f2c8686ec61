r"""Noisy stochastic gradient descent escapes strict saddles: for a bounded, smooth, Hessian-Lipschitz function all of
whose saddle points are strict, and gradient noise with covariance $\sigma^2 I$, steps of length $\eta \le \eta_{\max}
/ \max(1, \ln(1/\zeta))$ reach, after a number of steps of order $\eta^{-2} \ln(1/\zeta)$ and with probability at
least $1 - \zeta$, a point at distance of order $\sqrt{\eta \ln(1/\zeta)}$ from a local minimum. The constants depend
on the function, on $d$ and on $\sigma$.
"""

from dpbounds.papers.cited.ge_et_al_2015 import PAPER
from dpbounds.theorems.language import Rate, log, q, sqrt

THEOREM = PAPER.theorem(
    title="noisy gradient descent reaches a local minimum",
    where="Theorem 6; quoted as Theorem 2 of Tholeti & Kalyani 2020",
    bounds="distance, probability",
    status="claimed",
    assumptions="smooth, Hessian-Lipschitz, strict saddles, bounded loss",
    parts=(
        Rate(
            sqrt(q.eta * log(1 / q.zeta)),
            "distance",
            "distance of the last iterate from a local minimum",
            hides="L rho_H B sigma d",
        ),
        Rate(log(1 / q.zeta) / q.eta**2, "steps", "number of steps", hides="L rho_H B sigma d"),
    ),
    notes="""
    - The noise of the whole oracle has to have a covariance proportional to the identity; isotropic noise added to a
      sampled gradient does not make it so by itself. Lower and upper bounds on the covariance are enough.
    - Logarithms of the step size may be hidden in the source; the quotation has none.
    """,
)
