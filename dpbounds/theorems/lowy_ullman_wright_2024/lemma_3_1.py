r"""With suitable parameters DP-SPIDER (Algorithm 1), started at $w_0$, is $(\varepsilon/2, \delta/2)$-DP and its
output has $E \|\nabla F(\hat w)\| \lesssim (\sqrt{\Delta_F G L}\, A)^{2/3} + G A$, where $A = \sqrt{d
\ln(1/\delta)}/(\varepsilon n)$ and $\Delta_F = F(w_0) - \inf F$. Quoted from Arora et al. 2023.
"""

from sympy import Expr, Rational, exp, log, sqrt

from dpbounds.expressions.symbols import (
    Unit,
    dataset_size,
    delta,
    dimension,
    epsilon,
    initial_gap,
    lipschitz,
    smoothness,
)
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import BOUNDED_RISK, LIPSCHITZ, SMOOTH, UNCONSTRAINED
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


def noise_ratio() -> Expr:
    return sqrt(dimension * log(1 / delta)) / (epsilon * dataset_size)


def rate() -> Expr:
    return (sqrt(initial_gap * lipschitz * smoothness) * noise_ratio()) ** Rational(2, 3) + lipschitz * noise_ratio()


def conditions() -> tuple[Condition, ...]:
    return (
        Condition(holds=epsilon <= 1, why="assumed in Arora et al. 2023; up to a constant, ε <= ln(1/δ) is enough"),
        Condition(holds=delta <= exp(-1), why="so that ln(1/δ) >= 1; at δ near 1 the printed rate is 0"),
    )


THEOREM = Theorem(
    id="lowy-ullman-wright-2024/lemma-3.1",
    title="stationarity of DP-SPIDER",
    statement=__doc__,
    where="Section 3, Lemma 3.1 and equation (1)",
    metric=Metric.GRADIENT_NORM,
    side=Side.UPPER,
    mode=Mode.EXPECTATION,
    status=Status.PROVED,
    relation=Relation.REPLACE_ONE,
    sampling="batches (full batch in lowy-ullman-wright-2024/lemma-3.1/explicit)",
    assumptions=(LIPSCHITZ, SMOOTH, BOUNDED_RISK, UNCONSTRAINED),
    conditions=conditions,
    parts=(
        Rate(
            formula=rate,
            unit=Unit(1, -1),
            increasing_in=(dimension, lipschitz, smoothness, initial_gap),
            decreasing_in=(dataset_size, epsilon, delta),
        ),
    ),
    algorithm="lowy-ullman-wright-2024/algorithm-1",
    relies_on=("cited/arora-et-al-2023/theorem-4.2",),
    errata=(
        Erratum(
            printed="no condition on n",
            right="the source asks for n >= (Gε)²/(Δ_F L d ln(1/δ)) (so that its batch size b₂ is at most n) and for "
            "n >= √d max(1, √(LΔ_F)/G)/ε (so that the bound says something). In a warm start Δ_F becomes ψ, which may "
            "be so small that the first one fails",
            severity=Severity.HARMLESS,
            evidence="test_lemma_3_1.py::test_the_omitted_condition_keeps_the_batch_within_the_data",
            survives="the rate, for every n: with full batches neither condition is needed "
            "(lowy-ullman-wright-2024/lemma-3.1/explicit)",
        ),
    ),
    notes=(
        Note(
            "The parameters need an upper bound on Δ_F that is public. In a warm start it is ψ, never the gap that was "
            "realised."
        ),
        Note(
            "With T steps of size 1/(2L) and an anchor every 1/(TA²) steps, the two terms √(Δ_F L/T) and G T A² "
            "are equal at the best T, where they are the first term of the rate; the second is the noise of one "
            "anchor. With its constants, and "
            "proven there, it is lowy-ullman-wright-2024/lemma-3.1/explicit."
        ),
    ),
)
