r"""Population gradient norm: if gradients are $\tau$-sub-Gaussian, the population Hessian is bounded, Hessians are
Lipschitz and $n = \Omega(d \log d)$, then for $0 < \varepsilon, \delta, \beta \le 1$ there is an
$(\varepsilon, \delta)$-DP algorithm whose output has, with probability $1 - \beta$,
$E_A \|E_z \nabla f(x_R, z)\|_2 = O\big(\sqrt{\tau^2 d \log(\tau/\beta) \log n / n} +
(d \log(1/\delta))^{1/4} / \sqrt{n\varepsilon}\big)$.
"""

from dpbounds.papers.wang_xu_2019 import PAPER
from dpbounds.theorems.language import GRADIENT, Condition, Rate, Rational, log, q, sqrt

sampling = sqrt(q.tau**2 * q.d * log(q.tau / q.zeta) * log(q.n) / q.n)
inside = q.d * log(q.tau / q.zeta) * log(q.n) * sqrt(log(1 / q.delta))

THEOREM = PAPER.theorem(
    title="population gradient of DP-PGD",
    where="Extension to Population Risk, Theorem 3 and equation (5)",
    bounds="population-gradient-norm, probability",
    status="claimed",
    assumptions="smooth risk, Lipschitz, bounded risk, unconstrained, sub-Gaussian gradients, Hessian-Lipschitz, "
    "i.i.d. records",
    conditions=(
        Condition(q.epsilon <= 1, "assumed"),
        Condition(q.tau > q.zeta, "log(τ/β) must be positive; see the errata"),
        Condition(q.n >= q.d * log(q.d), "n = Ω(d log d), up to a constant"),
    ),
    parts=(
        Rate(
            sampling + (q.d * log(1 / q.delta)) ** Rational(1, 4) / sqrt(q.n * q.epsilon),
            meaning="uniform convergence plus privacy",
            unit=GRADIENT,
            hides="G L Delta_F",
            bases="loss length",
        ),
        Rate(
            q.tau * sqrt(inside / (q.n * q.epsilon)),
            "combined",
            "the right-hand side of (5)",
            unit=GRADIENT,
            hides="G L Delta_F",
            bases="loss length",
            increasing_in="tau",
            decreasing_in="delta zeta",
        ),
    ),
    algorithm="wang-xu-2019/algorithm-1",
    relies_on="wang-xu-2019/theorem-2 cited/mei-bai-montanari-2016/theorem-1",
    notes="""
    - The combined term of (5) is the sum's order for τ >= 1 and ln(1/δ) >= 1: at δ = 1 it would be 0.
    - The proof is in a supplement that was not seen; the uniform convergence it builds on (Mei, Bai & Montanari) is for
      a bounded parameter set and has a logarithm that stays positive.
    - log(τ/β) mixes units: τ is a gradient; a bounded radius r makes it log(rτ/β).
    """,
)
