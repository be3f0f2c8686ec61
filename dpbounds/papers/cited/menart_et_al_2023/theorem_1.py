r"""Under the Kurdyka-Łojasiewicz condition $F - \inf F \le \gamma^k |\nabla F|^k$, $1 \le k \le 2$, on a ball that is
large enough, a private variance-reduced gradient descent has excess empirical risk of order $\left(\frac{\gamma G
\sqrt{d \ln(1/\delta)}}{n\varepsilon} \sqrt{1 + \Delta_F^{-(2-k)/k} \gamma^2 L}\right)^k$ up to logarithms:
$(\sqrt d / n\sqrt\rho)^k$ in terms of $\rho$-zCDP. That is nearly optimal. Without knowledge of $k$, noisy gradient
descent reaches $(\sqrt d / n\sqrt\rho)^{2k/(4-k)}$, which is the same for $k = 2$.
"""

from dpbounds.papers.cited.menart_et_al_2023 import PAPER
from dpbounds.theorems.language import Rate, log, q, sqrt

share = q.gamma * q.G * sqrt(q.d * log(1 / q.delta)) / (q.n * q.epsilon)
condition = q.Delta_F ** (-(2 - q.k) / q.k) * q.gamma**2 * q.L

THEOREM = PAPER.theorem(
    title="excess risk under the Kurdyka-Łojasiewicz condition",
    where="Theorem 1, as quoted in Lemma 6.2 of Lowy, Ullman & Wright 2024, version 1; the other parts: abstract",
    bounds="excess-empirical-risk, probability",
    status="claimed",
    assumptions="Lipschitz, smooth, Kurdyka-Łojasiewicz",
    parts=(
        Rate(
            (share * sqrt(1 + condition)) ** q.k, meaning="excess empirical risk, constants as quoted", logs_hidden=True
        ),
        Rate(
            (sqrt(q.d) / (q.n * sqrt(q.rho))) ** q.k,
            "concentrated",
            "excess empirical risk under ρ-zCDP (abstract)",
            logs_hidden=True,
            hides="G L gamma Delta_F",
        ),
        Rate(
            (sqrt(q.d) / (q.n * sqrt(q.rho))) ** (2 * q.k / (4 - q.k)),
            "adaptive",
            "the same without knowing k and γ (abstract)",
            logs_hidden=True,
            hides="G L gamma Delta_F",
        ),
    ),
    notes="""
    - For k >= 2 the abstract has the same order for Lipschitz, weakly convex losses by a private proximal point method;
      without the condition its noisy gradient descent finds gradients of norm between a = √d/(n√ρ) and √a.
    - Theorem and algorithm were not read: the assumptions on the ball are known only as quoted.
    """,
)
