r"""DP-SGD for a $q_c$-quasar-convex risk with $\|w_1 - w^*\| \le D$, $T$ steps of size $D/\sqrt{T(G^2 + d\sigma^2)}$
and output uniform on the iterates: $E F(\hat w) - \inf F \le D \sqrt{G^2 + d \sigma^2}/(q_c \sqrt T)$. With the
printed $\sigma^2 = 1000\, G^2 T \ln(1/\delta)/(\varepsilon^2 n^2)$ and $T = \lceil \varepsilon^2 n^2/(d
\ln(1/\delta)) \rceil$ it is at most $\sqrt{1001}\, GDA/q_c$, $A = \sqrt{d \ln(1/\delta)}/(\varepsilon n)$. With the
noise of a $\rho$-zCDP budget on the full batch, $\sigma^2 = 2 G^2 T/(n^2 \rho)$, and $T \ge n^2 \rho/(2d)$ it is at
most $2GD\sqrt d/(q_c n \sqrt\rho)$.

The proof is in the Markdown file beside the code.
"""

from dpbounds.papers.lowy_ullman_wright_2024 import PAPER
from dpbounds.privacy.mechanisms import Gaussian, Mechanism
from dpbounds.theorems.language import Bound, Numbers, Parameter, Privacy, ceiling, log, q, sqrt

bound = q.D * sqrt(q.G**2 + q.d * q.sigma**2) / (q.quasar_convexity * sqrt(q.T))
ratio = sqrt(q.d * log(1 / q.delta)) / (q.epsilon * q.n)
step_size = q.D / sqrt(q.T * (q.G**2 + q.d * q.sigma**2))
prescribed_steps = ceiling((q.epsilon * q.n) ** 2 / (q.d * log(1 / q.delta)))
enough_steps = ceiling(q.n**2 * q.rho / (2 * q.d))


def mechanism(at: Numbers) -> Mechanism:
    # σ n/G on the full batch, for the printed number of steps
    count = at.count(prescribed_steps)
    return Gaussian(at.down(sqrt(1000 * count * log(1 / q.delta)) / q.epsilon)) ** count


THEOREM = PAPER.theorem(
    title="quasar-convex risks, constants at the printed parameters",
    where="derived here; compare Proposition D.1 (5.2) and Algorithm 3",
    bounds="excess-empirical-risk, expectation",
    sampling="full batch for what is spent; the bound holds for every unbiased batch",
    assumptions="Lipschitz, quasar-convex, unconstrained",
    parts=(
        Bound(
            sqrt(1001) * q.G * q.D * ratio / q.quasar_convexity,
            meaning="at the noise and the number of steps that the paper prescribes",
        ),
        Bound(bound, "any-noise", "for noise of any standard deviation σ"),
        Bound(
            2 * q.G * q.D * sqrt(q.d) / (q.quasar_convexity * q.n * sqrt(q.rho)),
            "tuned",
            "for the noise of a ρ-zCDP budget on the full batch, with enough steps",
        ),
        Parameter(step_size, "step_size", "step size"),
        Parameter(prescribed_steps, "steps", "printed number of steps, rounded up"),
        Parameter(enough_steps, "enough_steps", "steps after which the tuned bound holds"),
    ),
    privacy=Privacy(mechanism, "epsilon delta n d"),
    algorithm="lowy-ullman-wright-2024/algorithm-3",
    derivation="proposition_d_1_explicit.md",
    notes="""
    - 1000 is a constant that suffices, not the least one: on the full batch (1, 1e-6)-DP needs about 5.2, and the
      printed noise spends ε = 0.06. What batches spend is in lowy-ullman-wright-2024/algorithm-3.
    - Quasar-convexity is needed wherever the iterates go, that is on R^d; projecting onto the ball of radius D around
      the first iterate keeps the proof, and then it is needed on that ball only.
    """,
)
