r"""Where every estimate is within $\gamma/4$ of the gradient, the drift reaches $\kappa$ at most $O(B\eta/\kappa +
T\gamma^2\eta^2/\kappa)$ times in $T$ steps; with the $T$ of Algorithm 1 this is $O(B\eta/\kappa)$ up to the fourth
power of a logarithm.
"""

from sympy import Expr

from dpbounds.expressions.symbols import drift_threshold, loss_range, smoothness, steps
from dpbounds.theorems.assumptions import SMOOTH_RISK, UNCONSTRAINED
from dpbounds.theorems.ganesh_liu_oh_thakurta_2023._assumptions import BOUNDED_RANGE
from dpbounds.theorems.ganesh_liu_oh_thakurta_2023._quantities import ACCURACY, gradient_accuracy
from dpbounds.theorems.record import Metric, Mode, Note, Rate, Side, Status, Theorem


def rate() -> Expr:
    return loss_range / (smoothness * drift_threshold)


def with_steps() -> Expr:
    return rate() + steps * gradient_accuracy**2 / (smoothness**2 * drift_threshold)


THEOREM = Theorem(
    id="ganesh-liu-oh-thakurta-2023/lemma-3.7",
    title="how often the drift gets large",
    statement=__doc__,
    where="Section 3, Lemma 3.7; proof in Appendix B.5",
    metric=Metric.COUNT,
    side=Side.UPPER,
    mode=Mode.ALWAYS,
    status=Status.PROVED,
    assumptions=(SMOOTH_RISK, BOUNDED_RANGE, UNCONSTRAINED),
    local=(ACCURACY,),
    parts=(
        Rate(
            formula=rate,
            meaning="with the T of Algorithm 1",
            logs_hidden=True,
            increasing_in=(loss_range,),
            decreasing_in=(smoothness, drift_threshold),
        ),
        Rate(
            formula=with_steps,
            name="with-steps",
            meaning="for any T",
            increasing_in=(loss_range, steps, gradient_accuracy),
            decreasing_in=(smoothness, drift_threshold),
        ),
    ),
    algorithm="ganesh-liu-oh-thakurta-2023/algorithm-1",
    relies_on=("ganesh-liu-oh-thakurta-2023/lemma-3.5", "ganesh-liu-oh-thakurta-2023/lemma-3.7/explicit"),
    notes=(
        Note("It counts fresh estimates of line 10; those of line 8 (the kicks) are not in it."),
        Note("The text at hand has |K|κ/(6n) for |K|κ/(6η), ‖F‖ for ‖∇F‖, and an index |L| for |K|, in the proof."),
    ),
)
