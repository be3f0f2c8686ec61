r"""Algorithm 4 with the algorithm of Lemma E.1 as $B$: if $A$ is $(\varepsilon/2, \delta/2)$-DP and its population
excess risk is at most $\psi$ with probability $1 - \zeta$, then with probability $1 - 2\zeta$ the output is an
$\upsilon$-second-order stationary point of the population risk; $\upsilon$ is Lemma E.1's $S$ with $\psi$ in the
place of the initial gap.
"""

from sympy import Expr, Rational, log, sqrt

from dpbounds.expressions.symbols import (
    Unit,
    dataset_size,
    delta,
    dimension,
    epsilon,
    excess_risk,
    hessian_lipschitz,
    lipschitz,
    smoothness,
)
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import (
    BOUNDED_RISK,
    HESSIAN_LIPSCHITZ,
    LIPSCHITZ,
    SAMPLED_RECORDS,
    SMOOTH,
    UNCONSTRAINED,
)
from dpbounds.theorems.record import Erratum, Metric, Mode, Note, Rate, Severity, Side, Status, Theorem


def noise_level() -> Expr:
    return sqrt(dimension * log(1 / delta)) / (epsilon * dataset_size)


def resolution() -> Expr:
    return 1 / (dataset_size * epsilon) + 1 / sqrt(dataset_size)


def rate() -> Expr:
    sampling = (lipschitz * smoothness * excess_risk / dataset_size) ** Rational(1, 3)
    private = (lipschitz * excess_risk**3 * smoothness**3) ** Rational(1, 7) * noise_level() ** Rational(3, 7)
    hessian = smoothness / sqrt(hessian_lipschitz) * resolution() * (sqrt(sampling) + sqrt(private))
    return sampling + private + hessian + lipschitz * resolution()


THEOREM = Theorem(
    id="lowy-ullman-wright-2024/theorem-e.2",
    title="warm start for second-order points of the population risk",
    statement=__doc__,
    where="Appendix E, Theorem E.2 (Section 7 describes it in words)",
    metric=Metric.POPULATION_SOSP,
    side=Side.UPPER,
    mode=Mode.PROBABILITY,
    status=Status.DISPUTED,
    relation=Relation.REPLACE_ONE,
    assumptions=(LIPSCHITZ, SMOOTH, HESSIAN_LIPSCHITZ, BOUNDED_RISK, SAMPLED_RECORDS, UNCONSTRAINED),
    parts=(
        Rate(
            formula=rate,
            unit=Unit(1, -1),
            meaning="υ",
            bases=("loss", "length"),
            logs_hidden=True,
            increasing_in=(lipschitz, smoothness, excess_risk, dimension),
            decreasing_in=(dataset_size, epsilon, delta, hessian_lipschitz),
        ),
    ),
    algorithm="lowy-ullman-wright-2024/algorithm-4",
    relies_on=("lowy-ullman-wright-2024/lemma-e.1", "ganesh-liu-oh-thakurta-2023/lemma-3.4"),
    errata=(
        Erratum(
            printed="Lemma E.1, a statement on i.i.d. records, is applied given w₀ = A(X), with the same X",
            right="given w₀ the records are not independent draws any more: whatever A tells about them, their "
            "law given w₀ "
            "is tilted by it. B needs records that A has not seen; in version 1",
            severity=Severity.GAP,
            evidence="test_theorem_e_2.py::test_given_the_start_the_records_are_tilted",
            where="Appendix E, proof of Theorem E.2",
            survives="the theorem, as far as Lemma E.1 goes, with half of the records for each, which costs constants",
            also=("lowy-ullman-wright-2024/algorithm-4",),
        ),
    ),
    notes=(Note("The end of the proof says 'Theorem 3.4' and means this theorem."),),
)
