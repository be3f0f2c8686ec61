r"""With step size $1/L$ and noise $\sigma$ per coordinate, an iterate $x_R$ of noisy gradient descent drawn uniformly
from the first $T$ has $\sqrt{E \|\nabla F(x_R)\|^2} \le \sqrt{2 L \Delta_F / T + d \sigma^2}$.

Proof: by smoothness $E F(x_{t+1}) \le F(x_t) - \frac{1}{2L} \|\nabla F(x_t)\|^2 + \frac{d \sigma^2}{2L}$; sum over
the steps, and divide by $T/(2L)$.
"""

from dpbounds.privacy.mechanisms import Gaussian
from dpbounds.theorems.language import Bound, Paper, Parameter, Privacy, q, sqrt

PAPER = Paper("my-paper-2026", sampling="full batch", read="derived here")

THEOREM = PAPER.theorem(
    id="theorem-1",
    title="gradient norm of noisy gradient descent, with constants",
    where="Section 3, Theorem 1",
    bounds="gradient-norm, expectation",
    status="proved here",
    assumptions="smooth risk, Lipschitz, bounded risk, unconstrained",
    parts=(
        Bound(sqrt(2 * q.L * q.Delta_F / q.T + q.d * q.sigma**2), meaning="root mean square of the gradient's norm"),
        Parameter(q.G / q.n * sqrt(2 * q.T / q.rho), "noise_stddev", "σ for a budget ρ and T steps"),
    ),
    # noise per unit of the per-record bound G on the sum of n gradients; the relation supplies the factor 1 or 2
    privacy=Privacy(lambda at: Gaussian(at.down(sqrt(2 * q.T / q.rho))) ** at.count(q.T), needs="rho T"),
)
