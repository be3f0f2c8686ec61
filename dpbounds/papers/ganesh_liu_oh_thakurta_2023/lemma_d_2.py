r"""Quoted from Gopi, Lee & Liu 2022: for a mean of $G$-Lipschitz functions (here of $\beta f$, so that $G$ of the paper
is $\beta G$) and a step $\eta = O\big(\frac1{\beta^2 G^2 \ln(1/\delta_{in})}\big)$, $\delta_{in} < \frac12$, the inner
step of the alternating sampler can be done by rejection, within total variation $\delta_{in}$, with $O(1)$ function
values and $O(1)$ samples of $e^{-r(x) - \|x - y\|^2/(2\eta)}$ on the set.
"""

from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import PAPER, inner_failure
from dpbounds.theorems.language import Parameter, Unit, log, q

THEOREM = PAPER.theorem(
    title="rejection sampler of the inner step",
    where="Appendix D.3, Lemma D.2",
    bounds="distance, upper, expectation",
    status="claimed",
    assumptions="Lipschitz, bounded set",
    parts=Parameter(
        1 / ((q.beta * q.G) ** 2 * log(1 / inner_failure)),
        "proximal_step",
        "largest η, up to a constant",
        unit=Unit(length=2),
        up_to_constant=True,
    ),
    algorithm="ganesh-liu-oh-thakurta-2023/algorithm-3",
    notes="""
    - The idea: X and Z are two draws without F. A count a with P(a >= k) = 1/k! and products of k differences f_i(Z) -
      f_i(X) at fresh random i add up to an unbiased estimate R of e^{F(Z) - F(X)}; X is kept with probability R/2. The
      only bias comes from R outside [0, 2], which a small η makes rare.
    - One attempt takes 2e function values on average and succeeds with probability about 1/2: 4e = 10.9 per step.
    - The paper counts O(1) function values; that holds on average, not always.
    - Gaussians restricted to the set must be drawn; their cost is not counted.
    """,
)
