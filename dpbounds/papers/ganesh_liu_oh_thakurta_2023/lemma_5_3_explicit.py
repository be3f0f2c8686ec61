r"""On a closed convex set of diameter $D$ that contains the origin, a sample of $\pi \propto e^{-\beta(F_D +
\frac\lambda2\|w\|^2)}$ has an expected regularised risk of at most $\frac d\beta\big(1 + \ln\frac{\beta(G + \lambda
D)D}d\big)$ above the minimum if $\beta(G + \lambda D)D \ge d$, and of at most $(G + \lambda D)D$ otherwise.
"""

from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import PAPER
from dpbounds.theorems.language import Bound, Piecewise, log, q

span = (q.G + q.regularisation * q.D) * q.D
colder = q.d / q.beta * (1 + log(q.beta * span / q.d))

THEOREM = PAPER.theorem(
    title="regularised risk of a Gibbs sample, with constants",
    bounds="excess-empirical-risk, expectation",
    assumptions="Lipschitz, bounded set, origin in the set",
    parts=Bound(
        Piecewise((span, q.beta * span <= q.d), (colder, True)),
        meaning="expected regularised risk above its minimum",
        increasing_in="G D regularisation d",
        decreasing_in="beta",
    ),
    derivation="gibbs.md",
    notes="Nearly sharp: on a thin cone with a conical loss the factor after d/β tends to 1 + ln(u/d).",
)
