r"""Let the drift that is compared with $\kappa$ include the last step. With probability at least $1 - \omega$ all
estimates of Algorithm 1 satisfy $\|\nabla_t - \nabla F(x_t)\|^2 \le C(\zeta_2^2\kappa + 4\zeta_1^2)\ln(Td/\omega) =
\gamma^2/16$ for an absolute constant $C$.

For Gaussian oracles `lemma-3.3/explicit` has constants; for fresh samples, `theorem-4.6/explicit`.
"""

from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import (
    PAPER,
    first_oracle_noise,
    second_oracle_noise,
    travelled,
    universal_constant,
)
from dpbounds.theorems.language import Bound, Erratum, Expr, Parameter, Unit, log, q


def square(path: Expr) -> Expr:
    variance = second_oracle_noise**2 * path + 4 * first_oracle_noise**2
    return variance * universal_constant * log(q.T * q.d / q.zeta)


_SQUARE = Unit(2, -2)

THEOREM = PAPER.theorem(
    title="gradient estimates stay accurate",
    where="Section 3, Lemma 3.3; proof in Appendix B.1",
    bounds="estimation-error, probability",
    status="repaired",
    assumptions="norm-sub-Gaussian oracles",
    parts=(
        Bound(square(q.kappa), meaning="squared error of every estimate; C is not stated", unit=_SQUARE),
        Bound(
            square(travelled),
            "equation-1",
            "as printed in (1), with the squared length really travelled: see the errata",
            unit=_SQUARE,
            status="false",
        ),
        Parameter(16 * square(q.kappa), "gamma_square", "γ²", unit=_SQUARE),
    ),
    algorithm="ganesh-liu-oh-thakurta-2023/algorithm-1",
    relies_on="ganesh-liu-oh-thakurta-2023/lemma-2.4 ganesh-liu-oh-thakurta-2023/lemma-3.3/explicit",
    errata=Erratum(
        printed="'Equation (1) follows from Lemma 2.4', with ζ_i = ζ₂‖x_i - x_{i-1}‖",
        right="Lemma 2.4 is for ζ_i fixed in advance; for ζ_i that depend on the past its conclusion, with the sum "
        "that was really met, fails for every constant c",
        severity="gap",
        evidence="test_lemma_3_3.py::test_no_constant_serves_parameters_that_depend_on_the_past",
        where="Appendix B.1, proof of Lemma 3.3",
        survives="the version with κ: it needs only that the sum of squared parameters is at most a fixed number",
    ),
    notes="""
    - Needs the repaired line 9 of Algorithm 1: as printed, one step of any length may enter.
    - 'Zero-mean and nSG(2ζ₁)' for a fresh estimate with kick: two nSG(ζ₁) terms, a factor of 2 in the tail.
    - The text at hand has F(x_{i-1}) for its gradient in the proof.
    """,
)
