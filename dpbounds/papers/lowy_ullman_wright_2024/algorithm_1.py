r"""DP-SPIDER (Arora et al. 2023): gradient descent $w_{t+1} = w_t - \eta \nabla_t$ on noisy estimates that are
carried along. Every $q_a$ steps an anchor $\nabla_t$ is the mean gradient of a batch of $b_1$ plus $N(0, \sigma_1^2
I)$; in between, $\nabla_t = \nabla_{t-1} + \Delta_t$, where $\Delta_t$ is the mean over $b_2$ records of $\nabla
f(w_t, x) - \nabla f(w_{t-1}, x)$ plus Gaussian noise of standard deviation $\min(\sigma_2 \|w_t - w_{t-1}\|,
\hat\sigma_2)$. A uniformly chosen iterate is returned. The noise levels, batch sizes, $T$, $q_a$ and $\eta$ are
inputs.

This record states the privacy of $T$ steps on the full batch. An anchor has sensitivity $2G/n$ under replace-one; a
difference has $\frac2n \min(L \|w_t - w_{t-1}\|, 2G)$. The noise of a difference depends on the released iterates only,
so that given all earlier releases its zCDP budget is at most the constant $2 L^2/(n \sigma_2)^2$ or
$8 G^2/(n \hat\sigma_2)^2$, and ordinary adaptive composition applies. Where $w_t = w_{t-1}$ the difference is 0 for
every dataset, and nothing is released.
"""

from dpbounds.papers.lowy_ullman_wright_2024 import PAPER, noise_cap
from dpbounds.privacy.mechanisms import Composed, Gaussian, Mechanism
from dpbounds.theorems.language import Bound, Max, Min, Numbers, Parameter, Privacy, Unit, ceiling, q

anchors = ceiling(q.T / q.anchor_period)
differences = q.T - ceiling(q.T / q.anchor_period)
anchor = 2 * q.G**2 / (q.n * q.sigma) ** 2
near = 2 * q.L**2 / (q.n * q.sigma_2) ** 2
far = 8 * q.G**2 / (q.n * noise_cap) ** 2


def mechanism(at: Numbers) -> Mechanism:
    # per record an anchor moves by G/n, a difference by min(L|Δw|, 2G)/n: noise per unit of that, at its smallest
    difference = Min(q.n * q.sigma_2 / q.L, q.n * noise_cap / (2 * q.G))
    anchored = at.count(anchors)
    parts: list[tuple[Mechanism, int]] = [(Gaussian(at.down(q.n * q.sigma / q.G)), anchored)]
    if at.count(q.T) > anchored:
        parts.append((Gaussian(at.down(difference)), at.count(q.T) - anchored))
    return Composed(tuple(parts))


THEOREM = PAPER.theorem(
    title="DP-SPIDER",
    where="Section 3, Algorithm 1; the accounting is derived here",
    bounds="privacy",
    status="proved",
    sampling="full batch (b₁ = b₂ = n); the paper leaves open how smaller batches are drawn",
    assumptions="Lipschitz, smooth, unconstrained",
    parts=(
        Bound(
            anchors * anchor + differences * Max(near, far),
            "rho",
            "zCDP budget that T full-batch steps spend under replace-one",
            unit=Unit(samples=-2),
            increasing_in="G L T",
            decreasing_in=(q.n, q.sigma_2, noise_cap),
        ),
        Parameter(anchors, "anchors", "number of full gradient estimates"),
        Parameter(differences, "differences", "number of gradient differences", increasing_in="T"),
    ),
    privacy=Privacy(
        mechanism, (q.epsilon, q.delta, q.sigma, q.sigma_2, noise_cap, q.n, q.G, q.L, q.T, q.anchor_period)
    ),
    notes="""
    - The loop is printed for t = 0, ..., T - 1 and the output uniform on w₁, ..., w_T: at w_T no estimate was made.
      With the output uniform on w₀, ..., w_{T-1} (as in lowy-ullman-wright-2024/algorithm-1/explicit), or with one more
      estimate (as in Arora et al.), the analysis covers the output.
    - With σ̂₂ = 2Gσ₂/L both branches of the noise spend the same, and the cap spends nothing more.
    - Clipping each gradient to norm G first is harmless: the projection does not expand, so that the difference of two
      clipped gradients is still at most min(L|Δw|, 2G). Both gradients of a difference must be taken on the same batch.
    - Under add-or-remove-one with n as a fixed, public normaliser every sensitivity is half as large.
    """,
)
