r"""DP-PGD is $(\varepsilon, \delta)$-DP: there are constants $c, c_1$ such that for all $0 < \varepsilon < c_1 T$ and
$0 < \delta < 1$ the variance $\sigma^2 = c\, G^2 T \ln(1/\delta) / (n^2 \varepsilon^2)$ suffices. The constant is not
stated, and no constant serves the whole printed range; `theorem-1/explicit` gives one for
$\varepsilon \le a \ln(1/\delta)$.
"""

from dpbounds.papers.wang_xu_2019 import PAPER
from dpbounds.privacy.mechanisms import Gaussian
from dpbounds.theorems.language import Erratum, Parameter, Privacy, Unit, log, q, sqrt

variance = q.c * q.G**2 * q.T * log(1 / q.delta) / (q.n**2 * q.epsilon**2)

THEOREM = PAPER.theorem(
    title="noise of DP-PGD",
    where="Low Dimension Case, Theorem 1 and equation (3)",
    bounds="privacy, upper",
    status="repaired",
    assumptions="smooth risk, Lipschitz, closed convex set, convex regulariser",
    parts=Parameter(
        variance,
        "noise_variance",
        "σ² on each coordinate of the mean gradient; give noise_constant",
        unit=Unit(2, -2),
        up_to_constant=True,
    ),
    privacy=Privacy(
        lambda at: Gaussian(at.down(sqrt(q.c * q.T * log(1 / q.delta)) / q.epsilon)) ** at.count(q.T),
        "epsilon delta T c",
    ),
    algorithm="wang-xu-2019/algorithm-1",
    relies_on="cited/abadi-et-al-2016/theorem-1",
    errata=Erratum(
        printed="for all 0 < ε < c₁T (and 0 < δ < 1), noise of variance c G²T ln(1/δ)/(n²ε²) suffices",
        right="for ε <= a ln(1/δ), with c = 2(1 + √(1+a))²; for every c some ε below c₁T is not private any more. "
        "The range is inherited from Abadi et al. 2016, Theorem 1, where batches are small and random; here "
        "every step takes all records. Seven theorems of two papers have it; their constants differ",
        severity="privacy",
        evidence="test_theorem_1.py::test_no_constant_serves_the_printed_range",
        where="Theorems 1, 4 and 5; Theorems 1, 5, 7 and 9 of Wang, Chen & Xu 2019",
        survives="ε <= ln(1/δ) with c = 6 + 4√2 (twice or four times that in some of the others), which is all that "
        "is used in practice",
        relation="replace-one",
        also="wang-xu-2019/theorem-4 wang-xu-2019/theorem-5 wang-chen-xu-2019/theorem-1 "
        "wang-chen-xu-2019/theorem-5 wang-chen-xu-2019/theorem-7 wang-chen-xu-2019/theorem-9",
    ),
    notes="""
    The range is that of Abadi et al. 2016, Theorem 1, at sampling probability q = 1, where that theorem's analysis
    (small q) does not apply. The example uses a linear loss, and sees the output x_R only.
    """,
)
