r"""Algorithm 1 is $(0, \hat\delta)$-private with $\hat\delta = \frac TN \big[1 - I_{1 - (\Delta/2r_u)^2}(\frac{d+1}2,
\frac12)\big]$ for $\Delta < 2r_u$ ($r_u = 1$ in print): one step on a known record costs the bracket, a random record
costs $1/N$ of that, and $T$ steps cost at most $T$ times as much.
"""

from sympy import Expr, Piecewise, Rational, betainc_regularized

from dpbounds.expressions.symbols import Unit, dataset_size, dimension, radius, sensitivity, steps
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import GRADIENT_DISTANCE
from dpbounds.theorems.record import (
    Bound,
    Claim,
    Condition,
    Erratum,
    Metric,
    Mode,
    Note,
    Privacy,
    Severity,
    Side,
    Status,
    Theorem,
)
from dpbounds.theorems.tholeti_kalyani_2020._ball import run


def bound() -> Expr:
    kept = betainc_regularized((dimension + 1) / 2, Rational(1, 2), 0, 1 - (sensitivity / (2 * radius)) ** 2)
    return steps / dataset_size * Piecewise((1 - kept, sensitivity < 2 * radius), (1, True))


def conditions() -> tuple[Condition, ...]:
    return (Condition(holds=sensitivity < 2 * radius, why="assumed in print; with the bracket 1 it holds beyond it"),)


THEOREM = Theorem(
    id="tholeti-kalyani-2020/theorem-1",
    title="privacy of PrGD",
    statement=__doc__,
    where="Section IV.A, Theorem 1",
    metric=Metric.PRIVACY,
    side=Side.UPPER,
    mode=Mode.ALWAYS,
    status=Status.PROVED,
    relation=Relation.REPLACE_ONE,
    sampling="one uniformly random record per step",
    assumptions=(GRADIENT_DISTANCE,),
    conditions=conditions,
    parts=(
        Bound(
            formula=bound,
            unit=Unit(samples=-1),
            meaning="δ of the whole run, at every ε",
            increasing_in=(steps, sensitivity, dimension),
            decreasing_in=(dataset_size, radius),
        ),
    ),
    privacy=Privacy(
        claim=Claim.TOTAL_VARIATION, mechanism=run, needs=(radius, sensitivity, dimension, dataset_size, steps)
    ),
    algorithm="tholeti-kalyani-2020/algorithm-1",
    errata=(
        Erratum(
            printed="the adaptive strong composition theorem turns (εᵢ, δᵢ) into (Σεᵢ, Σδᵢ)",
            right="that is basic composition; where all εᵢ are 0 the theorem that is cited gives 1 - Π(1 - δᵢ), which "
            "is less, and attained",
            severity=Severity.HARMLESS,
            evidence="test_theorem_1.py::test_the_sum_is_not_what_optimal_composition_gives",
            where="Section IV.A, proof of Theorem 1, third step",
            survives="the theorem, with a δ that is not the smallest: see tholeti-kalyani-2020/theorem-1/explicit",
        ),
    ),
    relies_on=("tholeti-kalyani-2020/equation-6", "cited/kairouz-oh-viswanath-2015/theorem-3.3"),
    notes=(
        Note(
            "Above 1, that is for T > N/δ₁ with the bracket δ₁, the promise is true and says nothing. It is below 1/N, "
            "the δ of publishing one random record, only as long as Tδ₁ < 1."
        ),
        Note(
            "Amplification: two mixtures over N records that differ in one have the rest in common, so their total "
            "variation is exactly 1/N of that of the differing pair. Print cites it from Abadi et al. 2016."
        ),
        Note(
            "Adding or removing a record costs the same or less, with N the size of the larger data set, if Δ bounds "
            "the distance of the gradients of any two records."
        ),
        Note(
            "Noise on the sphere (the Note after the proof): two shifted spheres share no mass for d >= 2, so that a "
            "step on a known record is not private at all, as print says (for d = 1 and distance 2r they share half). "
            "Because the record is random the run is (0, T/N)-private all the same."
        ),
        Note(
            "That the noise is bounded excludes pure ε-privacy. (0, δ) means (ε, δ) at every ε; no ε buys a smaller δ."
        ),
    ),
)
