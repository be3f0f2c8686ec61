r"""A random vector $x$ is sub-Gaussian, $\mathrm{SG}(\zeta)$, if $E e^{\langle v, x - Ex\rangle} \le
e^{\|v\|^2\zeta^2/2}$ for every $v$, and norm-sub-Gaussian, $\mathrm{nSG}(\zeta)$, if $\|x - Ex\| \ge t$ has a
probability of at most $2 e^{-t^2/(2\zeta^2)}$ for every $t$. With $u = t/\zeta$ the tail is $2 e^{-u^2/2}$.
"""

from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import PAPER, standardised
from dpbounds.theorems.language import Bound, Rational, exp

THEOREM = PAPER.theorem(
    title="sub-Gaussian and norm-sub-Gaussian vectors",
    where="Section 2, Definition 2.2",
    bounds="upper",
    status="definition",
    parts=Bound(
        2 * exp(-(standardised**2) * Rational(1, 2)),
        "tail",
        "probability of a deviation of u sub-Gaussian parameters or more",
    ),
    notes="For t < 0 the tail bound is meant to be trivial; as printed, 'for all t in R' is harmless.",
)
