r"""DP-GLD is $(\varepsilon, \delta)$-DP: there are constants $c_1, c_2$ such that it is for all $0 < \varepsilon <
c_1 T$ and $0 < \delta < 1$. The constants are not stated, and none serves the whole printed range;
`theorem-1/explicit` has a step size that does.
"""

from dpbounds.papers.wang_chen_xu_2019 import PAPER
from dpbounds.papers.wang_chen_xu_2019.algorithm_1 import mechanism
from dpbounds.theorems.language import SAMPLES, Parameter, Privacy, log, q, sqrt

THEOREM = PAPER.theorem(
    title="privacy of DP-GLD",
    where="Section 4, Theorem 1",
    bounds="privacy, upper",
    status="repaired",
    assumptions="regularised Lipschitz loss",
    parts=Parameter(
        q.c * sqrt(2 * q.T * log(1 / q.delta)) / q.epsilon,
        "noise_multiplier",
        "noise of the sum of gradients per unit of G that Algorithm 1 amounts to, with its c = 1/c₂²",
        unit=SAMPLES,
        up_to_constant=True,
    ),
    privacy=Privacy(mechanism, "epsilon delta T c"),
    algorithm="wang-chen-xu-2019/algorithm-1",
    relies_on="wang-chen-xu-2019/lemma-1 cited/abadi-et-al-2016/theorem-1",
    notes="""
    - Its range of ε is too wide, too; here ε <= a ln(1/δ) with c₂² = (1 + √(1+a))²: see the erratum of
      wang-xu-2019/theorem-1.
    - The range is that of Abadi et al. 2016, Theorem 1, at sampling probability q = 1, where that theorem's analysis
      (small q) does not apply.
    """,
)
