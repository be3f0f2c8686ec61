r"""Algorithm 2, given $N$ points, is $2\varepsilon$-DP if a record is replaced, and $\varepsilon$-DP if one is added or
removed ($n$ public). (i) If it returns a point, then with probability at least $1 - \omega$ its gradient has a norm of
at most $\alpha + 32 G\ln(2N/\omega)/(n\varepsilon)$, and its Hessian no eigenvalue below $-\sqrt{\rho\alpha} - 32
M\ln(2N/ \omega)/(n\varepsilon)$. (ii) If one of the points is an $\alpha$-SOSP, then with probability at least $1 -
\omega$ it returns a point.

Proof of (i): let $s = \frac43\ln(2N/\omega)$. The $N + 1$ Laplace variables of one test all stay within $s$ scales on
the side that matters, except with probability at most $\frac{N+1}2 e^{-s}$; for both tests that is
$(N + 1)e^{-s} \le \omega$. The error is then at most the offset, 16, plus $12 \cdot \frac43 = 16$ units. (ii): four
variables, $2e^{-s} \le \omega$, and $16 \ge 12 \cdot \frac43$.
"""

from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import PAPER
from dpbounds.papers.ganesh_liu_oh_thakurta_2023.algorithm_2 import mechanism
from dpbounds.theorems.language import CURVATURE, Bound, Erratum, Max, Privacy, log, q, sqrt

slack = 32 * log(2 * q.N / q.zeta) / (q.n * q.epsilon)
gradient = q.alpha + slack * q.G
curvature = sqrt(q.rho_H * q.alpha) + slack * q.L

THEOREM = PAPER.theorem(
    title="selection of a stationary point",
    where="Section 4.1, Lemma 4.1",
    bounds="sosp, probability",
    status="repaired",
    assumptions="Lipschitz, smooth, Hessian-Lipschitz",
    parts=(
        Bound(
            Max(gradient, curvature**2 / q.rho_H),
            meaning="the α of the selected SOSP: both of the bounds below in one number",
        ),
        Bound(gradient, "gradient", "norm of the selected point's gradient"),
        Bound(
            curvature, "curvature", "how far below 0 the selected point's smallest eigenvalue may be", unit=CURVATURE
        ),
    ),
    privacy=Privacy(mechanism, "epsilon"),
    algorithm="ganesh-liu-oh-thakurta-2023/algorithm-2",
    errata=Erratum(
        printed="Algorithm 2 is (ε, 0)-DP",
        right="2ε-DP for a replaced record: its two tests are joined by 'and', so that 'not both' lets each of them "
        "leak by itself; the loss exceeds ε from 4 points on, is above 1.47ε with 20 points and 1.74ε with 100 "
        "in a dataset that satisfies every assumption, and tends to 2ε",
        severity="privacy",
        evidence="test_lemma_4_1.py::test_the_privacy_loss_exceeds_epsilon",
        survives="ε-DP for a record that is added or removed with n public (sensitivities G/n and M/n, as the "
        "proofs of Section 4 have them), and for a replaced one with all noise doubled; the accuracy",
        relation="replace-one",
    ),
    notes="""
    - The privacy is that of the selection alone. If the points depend on the same data, their release spends a budget
      of its own.
    - 12 ln((N+1)/ω) would serve in place of 16 ln(2N/ω), and 24 in place of 32, by the same proof.
    """,
)
