r"""For the generalised linear model (Assumption 2) and for robust regression (Assumption 3) on unit l2 balls there
are constants $c_1, c_2$ such that for $0 < \varepsilon < c_1 T$ DP-FW-L2 is $(\varepsilon, \delta)$-DP with $\sigma^2
= c_2 C_\sigma^2 (B_\sigma + 1)^2 T \ln(1/\delta)/(n\varepsilon)^2$ (robust regression: $c_2 C_\psi^2 T
\ln(1/\delta)/(n\varepsilon)^2$), and with $T = O(n\varepsilon/\sqrt{d \ln(1/\delta)})$ steps of size $\gamma = O((d
\ln(1/\delta))^{1/4}/\sqrt{n\varepsilon})$ its expected excess population risk is $O((d
\ln(1/\delta))^{1/4}/\sqrt{n\varepsilon})$.

The proof needs $L_P(w) - L_P(w^*) \le \mu \langle \nabla L_P(w), w - w^*\rangle$. Assumption 2 implies it. Assumption 3
does not, because $h'(0) > 0$ does not bound $h(s) = E\,\psi'(s + \xi)$ away from 0. It holds if $h(s) \ge \kappa s$ on
$(0, 2]$.
"""

from dpbounds.papers.wang_chen_xu_2019 import PAPER, influence_constant, link_bound, link_constant, link_slope
from dpbounds.privacy.mechanisms import Gaussian, Mechanism
from dpbounds.theorems.language import Condition, Erratum, Numbers, Parameter, Privacy, Rate, Rational, log, q, sqrt

rate = (q.d * log(1 / q.delta)) ** Rational(1, 4) / sqrt(q.n * q.epsilon)
scale = q.c * q.T * log(1 / q.delta) / (q.n * q.epsilon) ** 2


def mechanism(at: Numbers) -> Mechanism:
    # a record's gradient is at most 2 C_σ (B_σ + 1)
    return Gaussian(at.down(sqrt(q.c * q.T * log(1 / q.delta)) / (2 * q.epsilon))) ** at.count(q.T)


THEOREM = PAPER.theorem(
    title="population risk of DP-FW-L2",
    where="Section 4, Theorem 5",
    bounds="excess-population-risk, expectation",
    status="repaired",
    assumptions="monotone link, i.i.d. records",
    conditions=Condition(rate <= 1, "a Frank-Wolfe step is a convex combination; not printed"),
    parts=(
        Rate(
            rate,
            meaning="excess population risk; hides the constants of link or loss, too",
            hides=(q.G, q.L, q.Delta_F, link_constant, link_slope),
            restored=link_constant / link_slope * sqrt(q.G * sqrt(q.L * q.Delta_F)) * rate,
            bases="loss samples",
        ),
        Parameter(
            q.n * q.epsilon / sqrt(q.d * log(1 / q.delta)),
            "steps",
            "number of steps",
            up_to_constant=True,
            hides=(q.G, q.L, q.Delta_F, link_constant, link_slope),
        ),
        Parameter(
            rate,
            "step_fraction",
            "γ_t, the same for all t: 1/√T",
            up_to_constant=True,
            hides=(q.G, q.L, q.Delta_F, link_constant, link_slope),
        ),
        Parameter(
            scale * (link_constant * (link_bound + 1)) ** 2,
            "noise_variance",
            "σ² for the generalised linear model; c stands for c₂",
            up_to_constant=True,
            bases="samples",
        ),
        Parameter(
            q.c * influence_constant**2 * q.T * log(1 / q.delta) / (q.n * q.epsilon) ** 2,
            "robust_noise_variance",
            "σ² for robust regression; c stands for c₂",
            up_to_constant=True,
            bases="samples",
        ),
    ),
    privacy=Privacy(mechanism, "epsilon delta T c"),
    algorithm="wang-chen-xu-2019/algorithm-2",
    relies_on="wang-chen-xu-2019/lemma-1 wang-chen-xu-2019/assumption-2",
    errata=Erratum(
        printed="robust regression under Assumption 3 (with h'(0) > c_ψ) has the same excess population risk",
        right="needs h(s) > 0, say h(s) >= κs, on all of (0, 2]: for a loss that satisfies Assumption 3 w* need not "
        "even minimise the population risk, and DP-FW-L2 started there stays there",
        severity="false",
        evidence="test_theorem_5.py::test_a_slope_at_zero_is_not_enough",
        where="second paragraph of Theorem 5; the inequality before Algorithm 2",
        survives="the generalised linear model; robust regression with h(s) >= κs, among it the biweight loss with "
        "c >= 1 + Y",
        also="wang-chen-xu-2019/theorem-6",
    ),
    notes="""
    - Its range of ε is too wide, too; here c₂ = 4(6 + 4√2) serves ε <= ln(1/δ): see the erratum of
      wang-xu-2019/theorem-1.
    - The O hides the constants of the link, of which the bound has C_σ/c_σ as a factor, and the sampling error of order
      1/√n, which is smaller for ε <= √(d ln(1/δ)). With constants: theorem-5/explicit.
    - The conditions are taken from Foster et al. 2018 (as the paper says), which was not compared here.
    """,
)
