r"""For constant $\varepsilon, \delta$ the privacy term of (5) is below the uniform convergence term, so that privacy
merely turns the sample size $n$ into $n\varepsilon$.
"""

from dpbounds.papers.wang_xu_2019 import PAPER

THEOREM = PAPER.theorem(
    title="privacy against uniform convergence",
    where="Extension to Population Risk, Remark 2",
    bounds="population-gradient-norm",
    status="claimed",
    relies_on="wang-xu-2019/theorem-3",
    notes="d^(1/4)/√n against √(d log n / n): true up to constants for every d >= 1.",
)
