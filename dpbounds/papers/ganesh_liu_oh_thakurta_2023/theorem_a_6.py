r"""The norm of a sum of independent symmetric $d \times d$ matrices of mean 0 and norm at most $M$ reaches $t$ with
probability at most $2d \exp\big(-\frac{t^2}{2(\sigma^2 + Mt/3)}\big)$, where $\sigma^2$ is the norm of the sum of
their expected squares (quoted from Tropp; the factor 2 is put back).
"""

from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import PAPER, deviation, matrix_norm, matrix_variance
from dpbounds.theorems.language import Bound, Erratum, Rational, exp, q

tail = 2 * q.d * exp(-(deviation**2) / (2 * (matrix_variance + Rational(1, 3) * matrix_norm * deviation)))

THEOREM = PAPER.theorem(
    title="matrix Bernstein inequality",
    where="Appendix A, Theorem A.6",
    bounds="estimation-error, probability",
    status="repaired",
    parts=Bound(tail, "tail", "probability that the operator norm is at least t"),
    errata=Erratum(
        printed="d exp(-t²/(2(σ² + Mt/3))) for the operator norm",
        right="2d in front: d bounds the largest eigenvalue alone, and the norm is the larger of two of them",
        severity="constant",
        evidence="test_theorem_a_6.py::test_one_coin_flip_exceeds_the_printed_bound",
        survives="every use up to a constant: d inside a logarithm becomes 2d",
    ),
    notes="""
    - Tropp's bound on the largest eigenvalue was taken as known; the factor 2 is a union over ±.
    - Units: deviation and M share one, σ² has its square; all three are recorded as pure numbers.
    """,
)
