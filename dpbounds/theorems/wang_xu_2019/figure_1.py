r"""Norm of the projected gradient along 200 steps of DP-PGD for $\varepsilon \in \{0.1, 0.5, 2, 5\}$, $\delta =
10^{-3}$: synthetic data (10 000 x 100) and Covertype (200 000 x 54), sigmoid loss plus $\frac\lambda2\|\theta\|_1$,
$\lambda = 0.01$, features scaled so that the loss is 1-Lipschitz.
"""

from sympy import Expr, Symbol, exp

from dpbounds.expressions.symbols import Domain, Quantity, Unit
from dpbounds.theorems.record import (
    Bound,
    Erratum,
    Metric,
    Note,
    Severity,
    Side,
    Status,
    Theorem,
)

margin = Symbol("margin", real=True)
MARGIN = Quantity("margin", margin, Domain(), Unit(), "y <θ, x>, positive where the label is right", "m")


def loss() -> Expr:
    return 1 / (1 + exp(-margin))


THEOREM = Theorem(
    id="wang-xu-2019/figure-1",
    title="gradient norm for several budgets",
    statement=__doc__,
    where="Experiments, Figure 1 and the section Experiment Settings",
    metric=Metric.PROJECTED_GRADIENT_NORM,
    side=Side.TIGHT,
    status=Status.EMPIRICAL,
    local=(MARGIN,),
    parts=(Bound(formula=loss, name="loss", meaning="the sigmoid loss as printed, in the margin m = y<θ, x>"),),
    errata=(
        Erratum(
            printed="loss 1/(1 + exp(-y<θ, x>))",
            right="1/(1 + exp(y<θ, x>)): the printed loss grows with the margin, so that its minimiser misclassifies",
            severity=Severity.TYPO,
            evidence="test_figure_1.py::test_the_printed_loss_rewards_mistakes",
            where="Experiments, the displayed problem",
            survives="every gradient norm that is reported: θ -> -θ maps one problem to the other",
        ),
    ),
    notes=(
        Note("Figures were not available in the text at hand; only captions and their discussion were read."),
        Note("δ = 0.001 is used where the text recommends δ = 1/n: n δ is 10 and 200 here."),
        Note(
            "The labels are said to be drawn, but are then set by a threshold on a probability that contains the label."
        ),
    ),
)
