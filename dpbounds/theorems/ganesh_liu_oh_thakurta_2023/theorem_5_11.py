r"""Printed: for $\varepsilon \le 1$ and $\delta \in [2^{-\Omega(n)}, n^{-1-\Omega(1)}]$ every $(\varepsilon,
\delta)$-DP algorithm for 1-Lipschitz losses on the unit ball has an excess population risk of at least
$\max\big\{\Omega\big(\frac{d \ln(1/\delta)}{\varepsilon n}\big), \tilde\Omega(\sqrt{d/n})\big\}$. The first term is
refuted by the paper's own upper bound for small $\delta$; the second holds.
"""

from sympy import Expr, Max, log, sqrt

from dpbounds.expressions.symbols import (
    Unit,
    dataset_size,
    delta,
    diameter,
    dimension,
    epsilon,
    lipschitz,
)
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import LIPSCHITZ, SAMPLED_RECORDS
from dpbounds.theorems.ganesh_liu_oh_thakurta_2023._assumptions_sampling import NORMALISED_LOSS
from dpbounds.theorems.record import (
    Condition,
    Erratum,
    Metric,
    Mode,
    Note,
    Rate,
    Severity,
    Side,
    Status,
    Theorem,
)


def private_term() -> Expr:
    return dimension * log(1 / delta) / (epsilon * dataset_size)


def sampling_term() -> Expr:
    return sqrt(dimension / dataset_size)


def printed() -> Expr:
    return Max(private_term(), sampling_term())


def restored() -> Expr:
    return lipschitz * diameter * printed()


def restored_sampling() -> Expr:
    return lipschitz * diameter * sampling_term()


def stated() -> tuple[Condition, ...]:
    return (Condition(holds=epsilon <= 1, why="stated range"),)


def enough_records() -> tuple[Condition, ...]:
    return (Condition(holds=dataset_size >= dimension, why="a risk is at most GD"),)


HIDDEN = (lipschitz, diameter)
SCALED = ("loss", "length")

THEOREM = Theorem(
    id="ganesh-liu-oh-thakurta-2023/theorem-5.11",
    title="lower bound for private excess population risk",
    statement=__doc__,
    where="Section 5.2, Theorem 5.11",
    metric=Metric.EXCESS_POPULATION_RISK,
    side=Side.LOWER,
    mode=Mode.EXPECTATION,
    status=Status.FALSE,
    relation=Relation.REPLACE_ONE,
    assumptions=(LIPSCHITZ, SAMPLED_RECORDS, NORMALISED_LOSS),
    conditions=stated,
    parts=(
        Rate(
            formula=printed,
            name="printed",
            unit=Unit(loss=1),
            meaning="as printed: not a lower bound for small δ",
            hides=HIDDEN,
            restored=restored,
            logs_hidden=True,
            bases=SCALED,
            increasing_in=(dimension,),
            decreasing_in=(dataset_size, epsilon, delta),
        ),
        Rate(
            formula=sampling_term,
            name="sampling",
            unit=Unit(loss=1),
            side=Side.LOWER,
            status=Status.PROVED,
            relies_on=("ganesh-liu-oh-thakurta-2023/theorem-5.11/explicit",),
            meaning="the second term, which holds for every algorithm",
            conditions=enough_records,
            hides=HIDDEN,
            restored=restored_sampling,
            logs_hidden=True,
            bases=SCALED,
            increasing_in=(dimension,),
            decreasing_in=(dataset_size,),
        ),
    ),
    relies_on=("ganesh-liu-oh-thakurta-2023/theorem-5.9", "ganesh-liu-oh-thakurta-2023/theorem-5.10"),
    superseded_by=("ganesh-liu-oh-thakurta-2023/theorem-5.11/explicit",),
    errata=(
        Erratum(
            printed="Ω(d ln(1/δ)/(εn)) for every δ from 2^{-Ω(n)} on",
            right="d/(εn), as the text before it and Table 1 have it: an ε-DP algorithm is (ε, δ)-DP for every "
            "δ, so no lower bound may grow beyond the pure upper bound of Theorem 5.8 as δ falls",
            severity=Severity.FALSE,
            evidence="test_theorem_5_11.py::test_the_first_term_exceeds_the_upper_bound_of_the_paper",
            survives="the second term; the first with min(d, ln(ε/δ)) for d ln(1/δ) is proven in theorem-5.11/explicit",
        ),
    ),
    notes=(
        Note(
            "Capping the first term by 1 does not save it: at d = ln²(n) and ln(1/δ) = n^{3/4} ln 2 it tends to 0, but "
            "exceeds the upper bound by a factor that grows."
        ),
        Note("The term d/(εn) for all δ <= n^{-1-Ω(1)} is attributed to Ganesh et al. 2022 and was not checked."),
    ),
)
