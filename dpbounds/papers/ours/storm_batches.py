r"""DP-STORM on samples that each record joins with probability $q$ in each step, on $\mathbb R^d$: $v_0 = \nabla
F(w_0) + N(0, (rzG/n)^2 I)$, $v_t = (1-k) v_{t-1} + \frac1{qn} \bigl(\sum_{i \in B_t} (\nabla f_i(w_t) - (1-k)
\nabla f_i(w_{t-1})) + N(0, (zC_t)^2 I)\bigr)$ with $C_t = kG + (1-k) L \|w_t - w_{t-1}\|$, $w_{t+1} = w_t - \eta
v_t$ for $t < T$; $R = t < T$ with probability proportional to 1 and $R = T$ to $\frac1{L\eta}$. With $\nu =
\frac{1-q}{qn} + \frac{d z^2}{(qn)^2}$, if $2\nu ((1-k) L\eta)^2 \le (1 - L\eta) k(2-k)$, the mean of
$\|\nabla F(w_R)\|^2$ is at most $\bigl(\frac{2\Delta_F}\eta + G^2 \frac{d (rz/n)^2 + 2 (T-1) k^2\nu}{k(2-k)}\bigr) /
\bigl(T + \frac1{L\eta}\bigr)$.

$z = \sqrt{2 (r^{-2} + T - 1)/\rho}$ is $\rho$-zCDP under replace-one even without amplification by sampling. An
accountant for Poisson sampling proves a much smaller $\varepsilon$, and so allows a far larger $\rho$.
"""

from dpbounds.papers.ours import PAPER
from dpbounds.papers.ours.noisy_descent_batches import large_steps, second_moment
from dpbounds.papers.ours.storm import k
from dpbounds.privacy.mechanisms import Composed, Gaussian, Mechanism, PoissonSampled
from dpbounds.theorems.language import POSITIVE, PURE, Bound, Condition, Numbers, Parameter, Privacy, q, sqrt

ratio = PAPER.quantity("first_ratio", "r", "noise multiplier of the first estimate over later ones", domain=POSITIVE)

first = q.d * (ratio * q.noise_multiplier / q.n) ** 2
errors = (first + 2 * (q.T - 1) * k**2 * second_moment) / (k * (2 - k))
square = (2 * q.Delta_F / q.eta + q.G**2 * errors) / (q.T + 1 / (q.L * q.eta))
conditions = (
    Condition(q.L * q.eta <= 1, "a step lowers the risk"),
    Condition(
        2 * second_moment * ((1 - k) * q.L * q.eta) ** 2 <= (1 - q.L * q.eta) * k * (2 - k),
        "the errors of the differences are paid for by the descent",
    ),
)
releases = ratio**-2 + q.T - 1  # in units of a later one's zCDP
multiplier = sqrt(2 * releases / q.rho)


def mechanism(at: Numbers) -> Mechanism:
    z, count = at.down(multiplier), at.count(q.T) - 1
    later = ((PoissonSampled(Gaussian(z), at[q.sample_rate]), count),) if count else ()
    return Composed(((Gaussian(at[ratio] * z), 1), *later))


THEOREM = PAPER.theorem(
    id="storm/batches",
    title="recursive momentum on Poisson samples, with constants",
    where="derived here; compare Cutkosky & Orabona 2019, Tran & Cutkosky 2022",
    bounds="gradient-norm, expectation",
    sampling="full batch at first, then Poisson",
    status="proved here",
    assumptions="Lipschitz, smooth, bounded risk, unconstrained",
    parts=(
        Bound(
            sqrt(square),
            meaning="root mean square norm of the gradient at w_R",
            conditions=conditions,
            bases="loss length",
        ),
        Bound(
            2 * q.n * (1 + (q.T - 1) * q.sample_rate),
            "gradients",
            "gradients of one record, at most, on average",
            unit=PURE,
            bases="loss length",
        ),
        Parameter(multiplier, "noise_multiplier", "z", bases="loss length"),
        Parameter(1 / (1 + q.L * q.eta * q.T), "last_weight", "P(R = T)", unit=PURE),
    ),
    free=(q.T, q.eta, k, q.sample_rate, ratio),
    privacy=Privacy(
        mechanism,
        (q.rho, q.T, q.sample_rate, ratio),
        guess=2 * releases * large_steps(q.gaussian_mu**2 / (ratio**-2 + (q.T - 1) * q.sample_rate**2)),
    ),
    derivation="storm.md",
    notes="""
    - C_t = kG + (1-k) min(L|w_t - w_{t-1}|, 2G) is less noise, the same privacy.
    - Records that are clipped at the norm C_t, which no record of the class exceeds, leave no bias.
    """,
)
