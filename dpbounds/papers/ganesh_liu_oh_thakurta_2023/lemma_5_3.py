r"""For $\pi \propto e^{-\beta(F_D + \frac\lambda2\|w\|^2)}$ and $\beta G D > d$ the paper bounds the expected
regularised risk minus its minimum by $\frac d\beta \ln\frac{\beta G D}d$. As printed the bound is too small by a
constant: a linear loss on an interval exceeds it at $\beta G D = 1.5$. It holds with $1 + \ln$ in place of $\ln$, and
with the regulariser in the Lipschitz constant.
"""

from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import PAPER
from dpbounds.theorems.language import Bound, Condition, Erratum, log, q

THEOREM = PAPER.theorem(
    title="regularised risk of a Gibbs sample",
    where="Section 5.1, Lemma 5.3",
    bounds="excess-empirical-risk, expectation",
    status="false",
    assumptions="Lipschitz, bounded set",
    conditions=Condition(q.beta * q.G * q.D > q.d, "stated range"),
    parts=Bound(q.d / q.beta * log(q.beta * q.G * q.D / q.d), "printed", "as printed: not a bound"),
    superseded_by="ganesh-liu-oh-thakurta-2023/lemma-5.3/explicit",
    errata=Erratum(
        printed="(d/β) ln(βGD/d) for βGD > d",
        right="(d/β)(1 + ln(β(G + λD)D/d)): the 1 is needed in every dimension, and the regulariser adds λD to G",
        severity="constant",
        evidence="test_lemma_5_3.py::test_thin_cones_exceed_the_printed_bound",
        survives="the order of growth for βGD >= 2d and λD <= G, which is how Theorem 5.6 uses it",
    ),
    notes="""
    - The paper calls it a more general version of Theorem 3.4 of Ganesh et al. 2022, which was not compared.
    - The proof of Theorem 5.6 cites it also where βGD <= d; there the printed risk is of order GD at least.
    """,
)
