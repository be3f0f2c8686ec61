r"""DP-PGD is $(\varepsilon, \delta)$-DP: there are constants $c, c_1$ such that for all $0 < \varepsilon < c_1 T$ and
$0 < \delta < 1$ the variance $\sigma^2 = c\, G^2 T \ln(1/\delta) / (n^2 \varepsilon^2)$ suffices. The constant is not
stated, and no constant serves the whole printed range; `theorem-1/explicit` gives one for
$\varepsilon \le a \ln(1/\delta)$.
"""

from sympy import Expr, log, sqrt

from dpbounds.expressions.symbols import Unit, dataset_size, delta, epsilon, lipschitz, noise_constant, steps
from dpbounds.privacy.mechanisms import Gaussian, Mechanism
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import CLOSED_CONVEX_SET, CONVEX_REGULARISER, LIPSCHITZ, SMOOTH_RISK
from dpbounds.theorems.record import (
    Claim,
    Erratum,
    Metric,
    Note,
    Parameter,
    Privacy,
    Severity,
    Side,
    Status,
    Theorem,
)
from dpbounds.theorems.spending import Numbers


def variance() -> Expr:
    return noise_constant * lipschitz**2 * steps * log(1 / delta) / (dataset_size**2 * epsilon**2)


def mechanism(at: Numbers) -> Mechanism:
    return Gaussian(at.down(sqrt(noise_constant * steps * log(1 / delta)) / epsilon)) ** at.count(steps)


THEOREM = Theorem(
    id="wang-xu-2019/theorem-1",
    title="noise of DP-PGD",
    statement=__doc__,
    where="Low Dimension Case, Theorem 1 and equation (3)",
    metric=Metric.PRIVACY,
    side=Side.UPPER,
    status=Status.REPAIRED,
    relation=Relation.REPLACE_ONE,
    sampling="full batch",
    assumptions=(SMOOTH_RISK, LIPSCHITZ, CLOSED_CONVEX_SET, CONVEX_REGULARISER),
    parts=(
        Parameter(
            formula=variance,
            name="noise_variance",
            unit=Unit(2, -2),
            meaning="σ² on each coordinate of the mean gradient; give noise_constant",
            up_to_constant=True,
            increasing_in=(steps, lipschitz, noise_constant),
            decreasing_in=(dataset_size, epsilon, delta),
        ),
    ),
    privacy=Privacy(claim=Claim.APPROXIMATE, mechanism=mechanism, needs=(epsilon, delta, steps, noise_constant)),
    algorithm="wang-xu-2019/algorithm-1",
    errata=(
        Erratum(
            printed="for all 0 < ε < c₁T (and 0 < δ < 1), noise of variance c G²T ln(1/δ)/(n²ε²) suffices",
            right="for ε <= a ln(1/δ), with c = 2(1 + √(1+a))²; for every c some ε below c₁T is not private any more. "
            "The range is inherited from Abadi et al. 2016, Theorem 1, where batches are small and random; here every "
            "step takes all records. Seven theorems of two papers have it; their constants differ",
            severity=Severity.PRIVACY,
            evidence="test_theorem_1.py::test_no_constant_serves_the_printed_range",
            where="Theorems 1, 4 and 5; Theorems 1, 5, 7 and 9 of Wang, Chen & Xu 2019",
            survives="ε <= ln(1/δ) with c = 6 + 4√2 (twice or four times that in some of the others), which is "
            "all that "
            "is used in practice",
            relation=Relation.REPLACE_ONE,
            also=(
                "wang-xu-2019/theorem-4",
                "wang-xu-2019/theorem-5",
                "wang-chen-xu-2019/theorem-1",
                "wang-chen-xu-2019/theorem-5",
                "wang-chen-xu-2019/theorem-7",
                "wang-chen-xu-2019/theorem-9",
            ),
        ),
    ),
    relies_on=("cited/abadi-et-al-2016/theorem-1",),
    notes=(
        Note(
            "The range is that of Abadi et al. 2016, Theorem 1, at sampling probability q = 1, where that theorem's "
            "analysis (small q) does not apply. The example uses a linear loss, and sees the output x_R only."
        ),
    ),
)
