r"""Quoted from Liu et al. 2023 (Ganesh et al. 2023, Theorem 4.2): for $\rho_H$-Lipschitz Hessians there is an
$(\varepsilon/2, \delta/2)$-DP variant of DP-SPIDER whose output is, with probability at least $1 - \zeta$, an
$\tilde O(\alpha)$-second-order stationary point of the empirical risk, with $\alpha = s + G A + \frac{L
\sqrt{\ln(1/\delta)}}{\varepsilon n \sqrt{\rho_H}} \sqrt s$, $s = (\sqrt{\Delta_F G L}\, A)^{2/3}$ and
$A = \sqrt{d \ln(1/\delta)}/(\varepsilon n)$.
"""

from dpbounds.papers.lowy_ullman_wright_2024 import PAPER
from dpbounds.theorems.language import Erratum, Expr, Rate, Rational, log, q, sqrt

noise_ratio = sqrt(q.d * log(1 / q.delta)) / (q.epsilon * q.n)
first_order = (sqrt(q.Delta_F * q.G * q.L) * noise_ratio) ** Rational(2, 3)
selection = q.L * sqrt(log(1 / q.delta)) / (q.epsilon * q.n * sqrt(q.rho_H))
rate = first_order + q.G * noise_ratio + selection * sqrt(first_order)


def printed() -> Expr:
    selection = q.L / (q.n * sqrt(q.rho_H))
    return first_order + q.G * noise_ratio + selection * sqrt(first_order)


THEOREM = PAPER.theorem(
    title="second-order stationarity of DP-SPIDER",
    where="Section 3, Lemma 3.3 and the display before it",
    bounds="sosp, probability",
    status="disputed",
    assumptions="Lipschitz, smooth, bounded risk, unconstrained, Hessian-Lipschitz",
    parts=(
        Rate(rate, meaning="with the factor √ln(1/δ)/ε of the third term put back", logs_hidden=True),
        Rate(
            printed,
            "printed",
            "as printed: the third term does not depend on the privacy budget beyond s",
            logs_hidden=True,
            bases="loss length",
        ),
    ),
    relies_on="ganesh-liu-oh-thakurta-2023/theorem-4.2 ganesh-liu-oh-thakurta-2023/lemma-3.4",
    superseded_by="dpbounds/second-order-path-noise/rate cited/tao-et-al-2025/main-result",
    errata=Erratum(
        printed="third term L/(n√ρ_H) √s (in arXiv version 1)",
        right="L√ln(1/δ)/(εn√ρ_H) √s: in the source 1/n comes with 1/√φ for a budget of φ-zCDP, which is about "
        "2√ln(1/δ)/ε. Without it the term does not scale with ε as the others do when every record is repeated",
        severity="constant",
        evidence="test_lemma_3_3.py::test_the_third_term_lost_the_budget",
        where="the definition of α before Lemma 3.3",
        survives="the order of the sum wherever the third term is dominated; it is at most s/2 + L² ln(1/δ)/(2 ε² "
        "n² ρ_H)",
        also="lowy-ullman-wright-2024/theorem-3.4 lowy-ullman-wright-2024/corollary-4.4",
    ),
    notes="""
    The source's analysis of the escape from saddle points rests on a lemma that is false as stated
    (ganesh-liu-oh-thakurta-2023/lemma-3.4), which Liu & Talwar 2024 and Tao et al. 2025 report as well. Nothing is
    shown here about the algorithm with Gaussian noise: neither its rate nor its failure. Its order in n, d and ε is
    proven of another algorithm (dpbounds/second-order-path-noise/rate), with other powers of L and ρ_H beside it.
    """,
)
