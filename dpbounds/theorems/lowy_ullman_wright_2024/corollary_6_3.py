r"""Warm-starting DP-SPIDER with the algorithm of Lemma 6.2: on $(\gamma, k)$-KL* losses the expected norm of the
empirical gradient is of order $G A + A^{(k+2)/3} (G^{k+1} L \gamma^k)^{1/3} \big(1 + (\gamma \sqrt L)^{k/3} /
\Delta_F^{(2-k)/6}\big)$ up to logarithms, $A = \sqrt{d \ln(1/\delta)} / (\varepsilon n)$. It is of order $G A$, which
is optimal, where $(\gamma \sqrt L)^{k/3} / \Delta_F^{(2-k)/6} \lesssim 1$ and $(L \gamma^k / G^{2-k})^{1/(k-1)}
\lesssim 1/A$.
"""

from sympy import Expr, Rational, log, sqrt

from dpbounds.expressions.symbols import (
    Unit,
    dataset_size,
    delta,
    dimension,
    epsilon,
    initial_gap,
    kl_constant,
    kl_exponent,
    lipschitz,
    smoothness,
)
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import KL, LIPSCHITZ, SMOOTH
from dpbounds.theorems.record import (
    Condition,
    Erratum,
    Metric,
    Mode,
    Note,
    Parameter,
    Rate,
    Severity,
    Side,
    Status,
    Theorem,
)


def noise_level() -> Expr:
    return sqrt(dimension * log(1 / delta)) / (epsilon * dataset_size)


def curvature() -> Expr:
    power = kl_exponent / 3
    return (kl_constant * sqrt(smoothness)) ** power / initial_gap ** ((2 - kl_exponent) / 6)


def rate() -> Expr:
    shape = (lipschitz ** (kl_exponent + 1) * smoothness * kl_constant**kl_exponent) ** Rational(1, 3)
    return lipschitz * noise_level() + noise_level() ** ((kl_exponent + 2) / 3) * shape * (1 + curvature())


def conditioning() -> Expr:
    base = smoothness * kl_constant**kl_exponent / lipschitz ** (2 - kl_exponent)
    return base ** (1 / (kl_exponent - 1))


def beyond_one() -> tuple[Condition, ...]:
    return (Condition(holds=kl_exponent > 1, why="for k = 1 the second condition is Lγ ≲ G"),)


THEOREM = Theorem(
    id="lowy-ullman-wright-2024/corollary-6.3",
    title="gradient norm for KL losses",
    statement=__doc__,
    where="Section 6, Corollary 6.3 and the text after it",
    metric=Metric.GRADIENT_NORM,
    side=Side.UPPER,
    mode=Mode.EXPECTATION,
    status=Status.CLAIMED,
    relation=Relation.REPLACE_ONE,
    assumptions=(LIPSCHITZ, SMOOTH, KL),
    parts=(
        Rate(
            formula=rate,
            unit=Unit(1, -1),
            logs_hidden=True,
            increasing_in=(lipschitz, smoothness, kl_constant, dimension),
            decreasing_in=(dataset_size, epsilon, delta, initial_gap),
        ),
        Parameter(
            formula=curvature,
            name="curvature",
            meaning="must be at most of order 1 for the optimal rate",
            up_to_constant=True,
            increasing_in=(kl_constant, smoothness),
            decreasing_in=(initial_gap,),
        ),
        Parameter(
            formula=conditioning,
            name="conditioning",
            meaning="must be at most of order εn/√(d ln(1/δ)) for the optimal rate",
            conditions=beyond_one,
            up_to_constant=True,
            increasing_in=(kl_constant, smoothness),
        ),
    ),
    relies_on=(
        "lowy-ullman-wright-2024/theorem-3.2",
        "lowy-ullman-wright-2024/lemma-6.2",
        "cited/arora-et-al-2023/theorem-4.2",
    ),
    errata=(
        Erratum(
            printed="for example, the rate is optimal for μ-PL* losses with L/μ ≲ εn/√(d ln(1/δ))",
            right="Lemma 6.2 and Theorem 3.2 need (L/μ)² ≲ εn/√(d ln(1/δ)), and the corollary's own first condition "
            "needs L/μ of order 1; in version 1",
            severity=Severity.GAP,
            evidence="test_corollary_6_3.py::test_the_example_does_not_follow",
            where="Section 6, example after Corollary 6.3",
            survives="the corollary. Whether the example's claim is true is open here: for losses that are PL on "
            "all of "
            "R^d, and then not Lipschitz there, another algorithm reaches it "
            "(dpbounds/polyak-lojasiewicz-restarted-spider), "
            "but those are other losses than the paper's",
        ),
    ),
    notes=(
        Note(
            "The formula was derived again from Theorem 3.2 and Lemma 6.2 (a root of a sum is at most the sum of the "
            "roots); claimed, because Lemma 6.2 was not checked against its source. The proof's 'risk bound in "
            "Corollary 6.3' means Lemma 6.2."
        ),
        Note(
            "The text says that minimising the excess risk alone does not lead to near-optimal stationarity. True for "
            "k < 2; for k = 2 and L/μ of order 1 it does, as |∇F| <= √(2L(F - inf F)) for smooth losses."
        ),
    ),
)
