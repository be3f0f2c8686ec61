r"""DP-SPIDER on the full batch with output uniform on $w_0, \dots, w_{T-1}$: if $d \sigma_2^2 \eta^2 (q_a - 1) \le 1
- L\eta$, then $E \|\nabla F(\hat w)\| \le \sqrt{2 \Delta_F/(\eta T) + d \sigma_1^2}$, where $\Delta_F$ may be any
bound on $E F(w_0) - \inf F$. The proof is in the Markdown file beside the code.
"""

from sympy import Expr, sqrt

from dpbounds.expressions.symbols import (
    Unit,
    anchor_period,
    difference_noise_stddev,
    dimension,
    initial_gap,
    noise_stddev,
    smoothness,
    step_size,
    steps,
)
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import BOUNDED_RISK, LIPSCHITZ, SMOOTH, UNCONSTRAINED
from dpbounds.theorems.record import Bound, Condition, Metric, Mode, Note, Read, Side, Status, Theorem


def bound() -> Expr:
    return sqrt(2 * initial_gap / (step_size * steps) + dimension * noise_stddev**2)


def conditions() -> tuple[Condition, ...]:
    carried = dimension * (difference_noise_stddev * step_size) ** 2 * (anchor_period - 1)
    return (
        Condition(
            holds=carried <= 1 - smoothness * step_size,
            why="the error carried from one anchor to the next is paid for by the descent",
        ),
    )


THEOREM = Theorem(
    id="lowy-ullman-wright-2024/algorithm-1/explicit",
    title="DP-SPIDER with any admissible parameters",
    statement=__doc__,
    where="derived here; compare Algorithm 1 and Lemma 3.1",
    metric=Metric.GRADIENT_NORM,
    side=Side.UPPER,
    mode=Mode.EXPECTATION,
    status=Status.PROVED_HERE,
    read=Read.HERE,
    relation=Relation.REPLACE_ONE,
    sampling="full batch",
    assumptions=(LIPSCHITZ, SMOOTH, BOUNDED_RISK, UNCONSTRAINED),
    conditions=conditions,
    parts=(
        Bound(
            formula=bound,
            unit=Unit(1, -1),
            increasing_in=(initial_gap, dimension, noise_stddev),
            decreasing_in=(steps,),
        ),
    ),
    algorithm="lowy-ullman-wright-2024/algorithm-1",
    makes_explicit="lowy-ullman-wright-2024/algorithm-1",
    derivation="algorithm_1_explicit.md",
    notes=(Note("What the noise costs is lowy-ullman-wright-2024/algorithm-1; both hold for one run."),),
)
