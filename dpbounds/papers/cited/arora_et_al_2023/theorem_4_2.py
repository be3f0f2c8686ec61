r"""Private SpiderBoost (anchors that release a gradient, and in between noisy differences of gradients, whose noise is
proportional to the distance moved) finds a point at which the empirical gradient has expected norm of order
$\left(\sqrt{\Delta_F L G}\, \frac{\sqrt{d \ln(1/\delta)}}{n\varepsilon}\right)^{2/3} + G\, \frac{\sqrt{d
\ln(1/\delta)}}{n\varepsilon}$.

Proof in outline, with full batches, $\bar a = \sqrt d / (n\sqrt\rho)$ and step length $\eta = 1/(2L)$: errors of the
gradient estimates add up as martingales, so their mean square is at most that of the anchor plus $d \sigma_2^2 \eta^2$
times the squared estimates since the anchor; as long as a phase has at most $1 + n^2\rho/(2dT)$ steps, the descent
absorbs the latter, and $E|\nabla F|^2 \le 4 L \Delta_F / T + d \sigma_1^2$. Anchors are then so few that
$d \sigma_1^2$ is of order $G^2 \bar a^4 T^2$ (or $G^2 \bar a^2$), and $T$ balances the two.
"""

from dpbounds.papers.cited.arora_et_al_2023 import PAPER
from dpbounds.theorems.language import Condition, Max, Rate, Rational, log, q, sqrt

share = sqrt(q.d * log(1 / q.delta)) / (q.n * q.epsilon)
first = (q.G * q.epsilon) ** 2 / (q.Delta_F * q.L * q.d * log(1 / q.delta))
second = sqrt(q.d) * Max(1, sqrt(q.L * q.Delta_F) / q.G) / q.epsilon

THEOREM = PAPER.theorem(
    title="stationary points by private SpiderBoost",
    where="Theorem 4.2 (constants: Theorem B.3); quoted as Lemma 3.1 of Lowy, Ullman & Wright "
    "2024, version 1, without the conditions",
    bounds="gradient-norm, expectation",
    status="proved",
    assumptions="Lipschitz, smooth, unconstrained, bounded risk",
    conditions=(
        Condition(q.epsilon <= 1, "range of the theorem"),
        Condition(q.n >= first, "batches are no larger than the data; not needed with full batches"),
        Condition(q.n >= second, "below it the rate exceeds the trivial G"),
    ),
    parts=Rate(
        (sqrt(q.Delta_F * q.L * q.G) * share) ** Rational(2, 3) + q.G * share, meaning="norm of the empirical gradient"
    ),
    notes="""
    The proof that was redone is the one for full batches, outlined above; the source also has mini-batches, whose
    privacy needs an account of its own. ln(1/δ) is taken to be at least of the order of ε.
    """,
)
