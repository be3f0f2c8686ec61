r"""A private LASSO: least squares over an $l_1$ ball with features bounded coordinate by coordinate has a private
estimator (Frank-Wolfe steps to noisily chosen vertices) whose excess empirical risk is of order $n^{-2/3}$ up to
logarithms, with no power of the dimension; no private algorithm does much better in high dimensions, $d \gtrsim
n^{2/3}$ (in low ones the exponential mechanism on a net does).
"""

from dpbounds.papers.cited.talwar_thakurta_zhang_2015 import PAPER
from dpbounds.theorems.language import Condition, Rate, Rational, q

rate = q.n ** Rational(-2, 3)

THEOREM = PAPER.theorem(
    title="nearly optimal private LASSO",
    where="Abstract",
    bounds="excess-empirical-risk, tight",
    status="claimed",
    assumptions="Lipschitz in l1, convex, l1 ball or simplex",
    parts=(
        Rate(
            rate,
            meaning="excess empirical risk; the abstract leaves out all but n",
            side="upper",
            logs_hidden=True,
            hides="epsilon delta d G_1 C_1",
        ),
        Rate(
            rate,
            "lower",
            "excess empirical risk, at least",
            side="lower",
            logs_hidden=True,
            hides="epsilon delta d G_1 C_1",
            conditions=Condition(q.d >= q.n ** Rational(2, 3), "up to logarithms; constant ε"),
        ),
    ),
    notes="""
    The loss is convex there. Wang & Xu 2019 carry the algorithm over to losses that are not, and then bound the
    Frank-Wolfe gap, at the slower n^(-1/2).
    """,
)
