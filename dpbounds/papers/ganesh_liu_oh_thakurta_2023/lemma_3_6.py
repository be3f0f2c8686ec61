r"""Claimed: with oracles of parameters $\zeta_1, \zeta_2$ and $\gamma = O(\sqrt{(\zeta_2^2\kappa + 4\zeta_1^2) \log(Td
/\omega)})$, with probability at least $1 - \omega$ at least one iterate of Algorithm 1 is an $\alpha$-SOSP, $\alpha =
\gamma\log^3(BMd/(\rho\omega\gamma))$. The proof needs Lemma 3.4, which is false as stated. The weaker claim that some
iterate is an $O(\gamma)$-FOSP does not need it.
"""

from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import (
    PAPER,
    first_oracle_noise,
    gradient_accuracy,
    second_oracle_noise,
)
from dpbounds.papers.ganesh_liu_oh_thakurta_2023.algorithm_1 import scale
from dpbounds.theorems.language import GRADIENT, Parameter, Rate, log, q, sqrt

rate = sqrt(second_oracle_noise**2 * q.kappa + 4 * first_oracle_noise**2)

THEOREM = PAPER.theorem(
    title="second-order stationarity of Stochastic Spider",
    where="Section 3, Lemma 3.6; proof in Appendix B.4",
    bounds="sosp, probability",
    status="disputed",
    assumptions="Lipschitz, smooth, Hessian-Lipschitz, bounded range, M at least sqrt(ρα), norm-sub-Gaussian "
    "oracles, unconstrained",
    parts=(
        Rate(rate, meaning="α without its logarithms", logs_hidden=True),
        Parameter(rate * sqrt(log(q.T * q.d / q.zeta)), "gradient_accuracy", "γ", unit=GRADIENT, up_to_constant=True),
        Rate(
            gradient_accuracy * log(scale / gradient_accuracy) ** 3,
            "with-logs",
            "α in terms of γ; the argument of the logarithm carries units",
            bases="",
        ),
    ),
    algorithm="ganesh-liu-oh-thakurta-2023/algorithm-1",
    relies_on="ganesh-liu-oh-thakurta-2023/lemma-3.3 ganesh-liu-oh-thakurta-2023/lemma-3.4 "
    "ganesh-liu-oh-thakurta-2023/lemma-3.5",
    notes="""
    In the text at hand the root of the last display reaches over log³, which contradicts α = γ log³: taken for a loss
    of transcription, like the different arguments of the first logarithm.
    """,
)
