r"""Algorithm 1 with noise of any radius $r_u$, and gradients that differ by any $\Delta$, is $(0, \hat\delta)$-private
with $\hat\delta = 1 - (1 - \delta_1/N)^T$, where $\delta_1$ is that of equation (6), and 1 for $\Delta \ge 2r_u$. No
smaller $\delta$ holds for all losses, at any $\varepsilon \ge 0$. In elementary terms
$\hat\delta \le \frac{T\Delta}{N r_u} \sqrt{\frac{d+1}{2\pi}}$.
"""

from sympy import Expr, log, pi, sqrt

from dpbounds.expressions.symbols import Unit, dataset_size, delta, dimension, radius, sensitivity, steps
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import GRADIENT_DISTANCE
from dpbounds.theorems.record import (
    Bound,
    Claim,
    Condition,
    Metric,
    Mode,
    Note,
    Parameter,
    Privacy,
    Read,
    Side,
    Status,
    Theorem,
)
from dpbounds.theorems.tholeti_kalyani_2020._ball import lost, run


def step() -> Expr:
    return lost(sensitivity) / dataset_size


def bound() -> Expr:
    return 1 - (1 - step()) ** steps


def elementary() -> Expr:
    return steps * sensitivity * sqrt((dimension + 1) / (2 * pi)) / (dataset_size * radius)


def most_steps() -> Expr:
    return log(1 - delta) / log(1 - step())


def several() -> tuple[Condition, ...]:
    return (Condition(holds=dataset_size >= 2, why="with one record and disjoint balls nothing is hidden"),)


THEOREM = Theorem(
    id="tholeti-kalyani-2020/theorem-1/explicit",
    title="privacy of PrGD, the smallest δ",
    statement=__doc__,
    where="derived here; compare Theorem 1",
    metric=Metric.PRIVACY,
    side=Side.TIGHT,
    mode=Mode.ALWAYS,
    status=Status.PROVED_HERE,
    read=Read.HERE,
    relation=Relation.REPLACE_ONE,
    sampling="one uniformly random record per step",
    assumptions=(GRADIENT_DISTANCE,),
    parts=(
        Bound(
            formula=bound,
            meaning="δ of the whole run, at every ε",
            bases=("loss", "length"),
            increasing_in=(steps, sensitivity, dimension),
            decreasing_in=(dataset_size, radius),
        ),
        Bound(
            formula=step,
            name="step",
            unit=Unit(samples=-1),
            meaning="δ of one step",
            increasing_in=(sensitivity, dimension),
            decreasing_in=(dataset_size, radius),
        ),
        Bound(
            formula=elementary,
            name="elementary",
            unit=Unit(samples=-1),
            meaning="an upper bound of δ without special functions; at most 13% above the term that is linear in Δ",
            increasing_in=(steps, sensitivity, dimension),
            decreasing_in=(dataset_size, radius),
        ),
        Parameter(
            formula=most_steps,
            name="steps",
            meaning="round down: the most steps that a δ allows",
            bases=("loss", "length"),
            conditions=several,
            increasing_in=(delta, dataset_size, radius),
            decreasing_in=(sensitivity, dimension),
        ),
    ),
    privacy=Privacy(
        claim=Claim.TOTAL_VARIATION, mechanism=run, needs=(radius, sensitivity, dimension, dataset_size, steps)
    ),
    algorithm="tholeti-kalyani-2020/algorithm-1",
    makes_explicit="tholeti-kalyani-2020/theorem-1",
    relies_on=("tholeti-kalyani-2020/equation-6",),
    derivation="theorem_1_explicit.md",
    notes=(
        Note(
            "For noise on the sphere put δ₁ = 1 (a radius at most Δ/2): the run is (0, 1 - (1 - 1/N)^T)-private by "
            "sampling alone."
        ),
        Note("What is proved about the smallest radius for a given δ is computed by BallDescent.radius."),
    ),
)
