r"""The exponential mechanism of Lemma E.3 in front of the algorithm of Lemma E.1: with probability $1 - 2\zeta$ a
$\kappa$-second-order stationary point of the population risk. With $Z = \frac{d}{\varepsilon n} + \sqrt{d/n}$,
$A = \sqrt{d\ln(1/\delta)}/(\varepsilon n)$, $h = \frac{1}{n\varepsilon} + \frac1{\sqrt n}$, up to logarithms $\kappa =
(G^2 L D Z/n)^{1/3} + (G^4 L^3 D^3 Z^3)^{1/7} A^{3/7} + \frac{L}{\sqrt{\rho_H}} h \big[(G^2 L D Z/n)^{1/6} + (G^4 L^3
D^3 Z^3)^{1/14} A^{3/14}\big] + G h$: Theorem E.2 with $\psi = G D Z$. The paper has other powers in three places.
"""

from dpbounds.papers.lowy_ullman_wright_2024 import PAPER
from dpbounds.theorems.language import Erratum, Rate, Rational, log, q, sqrt

noise_level = sqrt(q.d * log(1 / q.delta)) / (q.epsilon * q.n)
closeness = q.d / (q.epsilon * q.n) + sqrt(q.d / q.n)
resolution = 1 / (q.n * q.epsilon) + 1 / sqrt(q.n)
sampling = (q.G**2 * q.L * q.D * closeness / q.n) ** Rational(1, 3)
inner = q.G**4 * q.L**3 * q.D**3 * closeness**3
private = inner ** Rational(1, 7) * noise_level ** Rational(3, 7)
hessian = q.L / sqrt(q.rho_H) * resolution * (sqrt(sampling) + sqrt(private))
rate = sampling + private + hessian + q.G * resolution

THEOREM = PAPER.theorem(
    title="second-order points of the population risk after the exponential mechanism",
    where="Appendix E, Corollary E.4",
    bounds="population-sosp, probability",
    status="disputed",
    assumptions="Lipschitz, smooth, Hessian-Lipschitz, bounded risk, i.i.d. records, unconstrained",
    parts=Rate(rate, meaning="κ, repaired", logs_hidden=True, bases="loss length"),
    algorithm="lowy-ullman-wright-2024/algorithm-4",
    relies_on="lowy-ullman-wright-2024/theorem-e.2 lowy-ullman-wright-2024/lemma-e.3 "
    "ganesh-liu-oh-thakurta-2023/lemma-3.4",
    errata=(
        Erratum(
            printed="first term ((GL)^(1/3)/n^(1/3)) (GD)^(1/3) (d/(εn))^(1/3) (in arXiv version 1)",
            right="(d/(εn) + √(d/n))^(1/3) in the place of (d/(εn))^(1/3)",
            severity="typo",
            evidence="test_corollary_e_4.py::test_the_first_term_lost_a_summand",
            survives="Corollary 7.1, which has the summand",
        ),
        Erratum(
            printed="within the third term GD(d/(εn) + √(d/n)) to the first power (in arXiv version 1)",
            right="to the power 1/6; as printed the term does not scale like a gradient norm",
            severity="typo",
            evidence="test_corollary_e_4.py::test_the_third_term_does_not_scale_as_printed",
            survives="Corollary 7.1, where the third term is of lower order",
        ),
        Erratum(
            printed="within the third term (GL³)^(1/4) (in arXiv version 1)",
            right="(GL³)^(1/14)",
            severity="typo",
            evidence="test_corollary_e_4.py::test_the_third_term_does_not_scale_as_printed",
            survives="Corollary 7.1, where the third term is of lower order",
        ),
    ),
    notes="The record is Theorem E.2 with ψ = GDZ. It rests on an escape lemma that is false as stated.",
)
