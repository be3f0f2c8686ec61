r"""Noisy gradient descent on samples that each record joins with probability $q$ in each step: $w_{t+1} = w_t -
\frac\eta{qn} \bigl(\sum_{i \in B_t} \nabla f_i(w_t) + N(0, (zG)^2 I)\bigr)$, $t < T$, on $\mathbb R^d$, for
$G$-Lipschitz losses whose mean $F$ is $L$-smooth, $0 < \eta < 2/L$. Let $R = t < T$ with probability proportional to
$\eta(1 - L\eta/2)$, and $R = T$ to $\frac1{2L}$. Then $$E \|\nabla F(w_R)\|^2 \le \frac{\Delta_F + T L \eta^2 G^2
\nu/2}{T \eta (1 - L\eta/2) + 1/(2L)}$$ with $\nu = \frac{1-q}{qn} + \frac{d z^2}{(qn)^2}$.

$z = \sqrt{2T/\rho}$ is $\rho$-zCDP under replace-one even without amplification by sampling. An accountant for Poisson
sampling proves a much smaller $\varepsilon$, and so allows a far larger $\rho$.
"""

from sympy import Expr, asinh

from dpbounds.papers.ours import PAPER
from dpbounds.papers.ours.noisy_descent_exact import descends, root, weights
from dpbounds.privacy.mechanisms import Gaussian, PoissonSampled
from dpbounds.theorems.language import PURE, Bound, Parameter, Privacy, q, sqrt

batch = q.sample_rate * q.n
# ν: second moment of an error, in units of G²
second_moment = (1 - q.sample_rate) / batch + q.d * q.noise_multiplier**2 / batch**2


def large_steps(ratio: Expr) -> Expr:
    """Return 1/z² from μ²/(T q²): the loss of many sampled releases is nearly normal, with μ² = 4 T q² sinh(1/z²)."""
    return asinh(ratio / 4)


multiplier = sqrt(2 * q.T / q.rho)

THEOREM = PAPER.theorem(
    title="noisy gradient descent on Poisson samples, with constants",
    where="derived here; compare Abadi et al. 2016, Algorithm 1, and Ghadimi & Lan 2013",
    bounds="gradient-norm, expectation",
    sampling="Poisson",
    status="proved here",
    assumptions="Lipschitz, smooth risk, bounded risk, unconstrained",
    parts=(
        Bound(
            root(q.G**2 * second_moment),
            meaning="root mean square norm of the gradient at w_R",
            conditions=descends,
            bases="loss length",
        ),
        Bound(q.T * batch, "gradients", "gradients of one record, on average", unit=PURE, bases="loss length"),
        Parameter(multiplier, "noise_multiplier", "z", bases="loss length"),
        Parameter(1 / (2 * q.L * weights), "last_weight", "P(R = T)", unit=PURE, conditions=descends),
    ),
    free="T eta sample_rate",
    privacy=Privacy(
        lambda at: PoissonSampled(Gaussian(at.down(multiplier)), at[q.sample_rate]) ** at.count(q.T),
        "rho T sample_rate",
        guess=2 * q.T * large_steps(q.gaussian_mu**2 / (q.T * q.sample_rate**2)),
    ),
    derivation="noisy_descent_batches.md",
    notes="""
    - Records that are clipped at the norm G, which no record of the class exceeds, leave no bias.
    - At q = 1 it is dpbounds/noisy-descent-exact.
    """,
)
