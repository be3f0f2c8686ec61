r"""Quoted from Jin et al. 2019: if $x_1, \dots, x_k$ are, each given the past, of mean 0 and $\mathrm{nSG}(\zeta_i)$,
then for an absolute constant $c$, with probability at least $1 - \omega$, $\|\sum x_i\| \le c\sqrt{\sum_i \zeta_i^2
\ln(2d/\omega)}$. The $\zeta_i$ are fixed in advance.
"""

from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import PAPER, squared_errors, universal_constant
from dpbounds.theorems.language import GRADIENT, Bound, log, q, sqrt

THEOREM = PAPER.theorem(
    title="sums of norm-sub-Gaussian vectors",
    where="Section 2, Lemma 2.4",
    bounds="estimation-error, probability",
    status="claimed",
    parts=Bound(
        universal_constant * sqrt(squared_errors * log(2 * q.d / q.zeta)),
        meaning="norm of the sum; C stands for c, the squared errors for Σζ²",
        unit=GRADIENT,
    ),
    relies_on="cited/jin-et-al-2019/hoeffding",
    notes="""
    - The constant c is absolute and not stated. For bounded or Gaussian vectors,
      ganesh-liu-oh-thakurta-2023/theorem-4.6/explicit has a version with constants and without the dimension.
    - The last sentence reads nSG(√(c log d) Σζ²) in the text at hand: the root should reach over the sum, and log(2d)
      serves d = 1, too. 'For any δ > 0' stands for any ω.
    """,
)
