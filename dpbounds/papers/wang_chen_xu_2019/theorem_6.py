r"""If features lie in the unit $\ell_\infty$ ball and parameters in the unit l1 ball, DP-FW-L1 is $(\varepsilon,
\delta)$-DP for the generalised linear model (score sensitivity $O(C_\sigma(B_\sigma + 1)/n)$) and for robust regression
($O(C_\psi/n)$), and with $T = O(n\varepsilon/(\sqrt{\ln(1/\delta)} \ln(dn/\zeta)))$ steps of size $O(\sqrt{2/T})$ its
excess population risk is, with probability $1 - \zeta$, $O\big((\ln(1/\delta))^{1/4}
\sqrt{\ln(nd/\zeta)}/\sqrt{n\varepsilon}\big)$: only logarithmic in $d$.
"""

from dpbounds.papers.wang_chen_xu_2019 import PAPER, influence_constant, link_bound, link_constant, link_slope
from dpbounds.papers.wang_chen_xu_2019.algorithm_3 import mechanism
from dpbounds.theorems.language import PER_SAMPLE, Parameter, Privacy, Rate, Rational, log, q, sqrt

logs = log(1 / q.delta) ** Rational(1, 4) * sqrt(log(q.n * q.d / q.zeta))
rate = logs / sqrt(q.n * q.epsilon)

THEOREM = PAPER.theorem(
    title="population risk of DP-FW-L1",
    where="Section 4, Theorem 6",
    bounds="excess-population-risk, probability",
    status="repaired",
    assumptions="monotone link, i.i.d. records, l1 ball or simplex",
    parts=(
        Rate(
            rate,
            meaning="excess population risk; hides the constants of link or loss, too",
            hides=(q.G_1, q.L_1, q.Delta_F, link_constant, link_slope),
            restored=link_constant / link_slope * sqrt(q.G_1 * sqrt(q.L_1 * q.Delta_F)) * rate,
            bases="loss",
        ),
        Parameter(
            q.n * q.epsilon / (sqrt(log(1 / q.delta)) * log(q.d * q.n / q.zeta)),
            "steps",
            "number of steps",
            up_to_constant=True,
            hides=(q.G_1, q.L_1, q.Delta_F, link_constant, link_slope),
        ),
        Parameter(sqrt(2 / q.T), "step_fraction", "γ_t", up_to_constant=True),
        Parameter(
            4 * link_constant * (link_bound + 1) / q.n,
            "score_sensitivity",
            "generalised linear model; in the paper: O(C_σ(B_σ + 1)/n)",
            unit=PER_SAMPLE,
        ),
        Parameter(
            2 * influence_constant / q.n,
            "robust_score_sensitivity",
            "robust regression; in the paper: O(C_ψ/n)",
            unit=PER_SAMPLE,
        ),
    ),
    privacy=Privacy(mechanism, "epsilon delta T"),
    algorithm="wang-chen-xu-2019/algorithm-3",
    relies_on="wang-chen-xu-2019/assumption-2 wang-xu-2019/lemma-1",
    notes="""
    - With constants, in expectation: theorem-6/explicit.
    - The budget of the choices covers ε up to 48 ln(1/δ), as in wang-xu-2019/theorem-6.
    - Robust regression needs h(s) >= κs on (0, 2], as in theorem-5, whose one-dimensional example serves here, too.
    """,
)
