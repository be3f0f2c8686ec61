r"""Under Assumption 1, for any failure probability $\zeta < 1$ there is an $\varepsilon$-DP algorithm (the exponential
mechanism on a net of the ball $\|w\| \le G/\lambda$ that holds every minimiser) whose output has, with probability $1 -
\zeta$, an excess empirical risk of $\tilde O(d/(n\varepsilon))$, at a cost of $O\big((1 + \frac{2 G n
\varepsilon}{\lambda d})^d n\big)$ evaluations. A net of resolution $\alpha$ costs $(1 + \frac{2G}{\lambda\alpha})^d n$
and gives $\tilde O(\max(d/(n\varepsilon), \alpha))$.
"""

from dpbounds.papers.wang_chen_xu_2019 import PAPER
from dpbounds.theorems.language import SAMPLES, Parameter, Rate, q

fine = 2 * q.G * q.n * q.epsilon / (q.regularisation * q.d)

THEOREM = PAPER.theorem(
    title="the exponential mechanism on a net",
    where="Section 4, Theorem 4 and the paragraph after it",
    bounds="excess-empirical-risk, probability",
    status="proved",
    assumptions="regularised Lipschitz loss",
    parts=(
        Rate(
            q.d / (q.n * q.epsilon),
            meaning="excess empirical risk",
            logs_hidden=True,
            hides="G regularisation",
            restored=q.G**2 * q.d / (q.regularisation * q.n * q.epsilon),
        ),
        Parameter(
            (1 + fine) ** q.d * q.n,
            "cost",
            "evaluations of a loss; the net's resolution is d/(nε) in a fixed unit of length",
            up_to_constant=True,
            bases="loss",
            increasing_in="d",
        ),
        Parameter(
            (1 + 2 * q.G / (q.regularisation * q.r_n)) ** q.d * q.n,
            "cost_of_a_net",
            "evaluations of a loss for a net of a given resolution",
            unit=SAMPLES,
            up_to_constant=True,
        ),
    ),
    notes="""
    - With constants: theorem-4/explicit. The hidden logarithm is one of nε/d, and one of 1/ζ.
    - The paper calls d/(nε) near optimal, being the optimum for general convex losses. L may be as large as λ here, so
      that these are among the losses of Assumption 1.
    """,
)
