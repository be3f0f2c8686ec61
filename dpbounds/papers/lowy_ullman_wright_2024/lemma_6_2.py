r"""Quoted from Menart et al. 2023: if the empirical risk is $(\gamma, k)$-KL*, $1 \le k \le 2$, on a centred ball of
size $\Delta_F^{1/k}/(\gamma L) + \Delta_F^{(k-1)/k} \gamma$, where $\Delta_F$ is the gap at the centre, some
$(\varepsilon/2, \delta/2)$-DP algorithm has with probability $1 - \zeta$ an excess empirical risk of order
$\Big[\gamma G \frac{\sqrt{d \ln(1/\delta)}}{\varepsilon n} \sqrt{1 + \Delta_F^{-(2-k)/k} \gamma^2 L}\Big]^k$, up to
logarithms.
"""

from dpbounds.papers.lowy_ullman_wright_2024 import PAPER
from dpbounds.theorems.language import Parameter, Rate, log, q, sqrt

noise_level = sqrt(q.d * log(1 / q.delta)) / (q.epsilon * q.n)
curvature = 1 + q.Delta_F ** (-(2 - q.k) / q.k) * q.gamma**2 * q.L
rate = (q.gamma * q.G * noise_level * sqrt(curvature)) ** q.k
near = q.Delta_F ** (1 / q.k) / (q.gamma * q.L)

THEOREM = PAPER.theorem(
    title="private minimisation of KL losses",
    where="Section 6, Lemma 6.2",
    bounds="excess-empirical-risk, probability",
    status="claimed",
    read="as quoted by another paper",
    assumptions="Lipschitz, smooth, Kurdyka-Łojasiewicz",
    parts=(
        Rate(rate, logs_hidden=True),
        Parameter(
            near + q.Delta_F ** ((q.k - 1) / q.k) * q.gamma,
            "diameter",
            "size of the ball on which the inequality is needed",
        ),
    ),
    relies_on="cited/menart-et-al-2023/theorem-1",
    notes="""
    - The cited paper's theorem and algorithm were not read here; this is the lemma as quoted.
    - The ball is written with radius D and called of diameter D.
    - The bound grows as Δ_F falls (k < 2), because the cited algorithm is tuned to Δ_F.
    """,
)
