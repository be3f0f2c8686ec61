r"""Algorithm 4 with the algorithm of Lemma E.1 as $B$: if $A$ is $(\varepsilon/2, \delta/2)$-DP and its population
excess risk is at most $\psi$ with probability $1 - \zeta$, then with probability $1 - 2\zeta$ the output is an
$\upsilon$-second-order stationary point of the population risk; $\upsilon$ is Lemma E.1's $S$ with $\psi$ in the
place of the initial gap.
"""

from dpbounds.papers.lowy_ullman_wright_2024 import PAPER
from dpbounds.theorems.language import Erratum, Rate, Rational, log, q, sqrt

noise_level = sqrt(q.d * log(1 / q.delta)) / (q.epsilon * q.n)
resolution = 1 / (q.n * q.epsilon) + 1 / sqrt(q.n)
sampling = (q.G * q.L * q.psi / q.n) ** Rational(1, 3)
private = (q.G * q.psi**3 * q.L**3) ** Rational(1, 7) * noise_level ** Rational(3, 7)
hessian = q.L / sqrt(q.rho_H) * resolution * (sqrt(sampling) + sqrt(private))
rate = sampling + private + hessian + q.G * resolution

THEOREM = PAPER.theorem(
    title="warm start for second-order points of the population risk",
    where="Appendix E, Theorem E.2 (Section 7 describes it in words)",
    bounds="population-sosp, probability",
    status="disputed",
    assumptions="Lipschitz, smooth, Hessian-Lipschitz, bounded risk, i.i.d. records, unconstrained",
    parts=Rate(rate, meaning="υ", logs_hidden=True, bases="loss length"),
    algorithm="lowy-ullman-wright-2024/algorithm-4",
    relies_on="lowy-ullman-wright-2024/lemma-e.1 ganesh-liu-oh-thakurta-2023/lemma-3.4",
    errata=Erratum(
        printed="Lemma E.1, a statement on i.i.d. records, is applied given w₀ = A(X), with the same X (in arXiv "
        "version 1)",
        right="given w₀ the records are not independent draws any more: whatever A reveals about them, their "
        "distribution given w₀ is tilted by it. B needs records that A has not seen",
        severity="gap",
        evidence="test_theorem_e_2.py::test_given_the_start_the_records_are_tilted",
        where="Appendix E, proof of Theorem E.2",
        survives="the theorem, as far as Lemma E.1 goes, with half of the records for each, which costs constants",
    ),
    notes="The end of the proof says 'Theorem 3.4' and means this theorem.",
)
