r"""Methods of private gradient descent on Covertype at $\varepsilon = 0.5$ and $2$: the zCDP calibration against
Zhang et al. 2017 and Wang, Ye & Xu 2017.
"""

from dpbounds.papers.wang_xu_2019 import PAPER

THEOREM = PAPER.theorem(
    title="gradient norm of several methods",
    where="Experiments, Figure 4 and its discussion",
    bounds="projected-gradient-norm",
    status="empirical",
    notes="""
    The noise quoted for Zhang et al., 32 ln(1/δ) ln(T/δ)/(n²ε²), has no factor T and would be below the zCDP noise;
    with the factor T the printed order of the curves comes out. Which of the two was used is not said.
    """,
)
