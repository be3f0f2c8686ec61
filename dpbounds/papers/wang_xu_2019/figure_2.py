r"""Norm of the projected gradient of DP-PGD for several numbers of steps $T$ at $\varepsilon = 2$. The text says that
$T$ matters less than $\varepsilon$ "since all the upper bounds are independent of $T$".
"""

from dpbounds.papers.wang_xu_2019 import PAPER
from dpbounds.theorems.language import Bound, Erratum, Unit, q

noise = q.d * (q.z * q.G / q.n) ** 2 * q.T

THEOREM = PAPER.theorem(
    title="gradient norm for several numbers of steps",
    where="Experiments, Figure 2 and its discussion",
    bounds="projected-gradient-norm",
    status="empirical",
    relation=None,
    sampling="",
    parts=Bound(
        (8 * q.L * q.Delta_F / q.T + 4 * noise) / 3,
        "mean_square",
        "Theorem 2, explicit, at step size 1/(2L): noise multiplier z√T, z the multiplier of a single step",
        unit=Unit(2, -2),
        bases="loss length",
    ),
    errata=Erratum(
        printed="all the upper bounds are independent of T",
        right="at a fixed step size they are a/T + bT, smallest at the T that Theorem 2 prescribes",
        severity="harmless",
        evidence="test_figure_2.py::test_the_bound_has_a_best_number_of_steps",
        survives="the bounds at the prescribed T",
    ),
    notes="Only the caption and its discussion were read. A step size of order 1/T would make them independent of T.",
)
