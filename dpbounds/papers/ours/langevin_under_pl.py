r"""If the empirical risk on $R^d$, with a public regulariser or without, is $L$-smooth and satisfies the
Polyak-Łojasiewicz inequality $\|\nabla F\|^2 \ge 2\mu(F - \inf F)$, the last iterate of Langevin dynamics $w_k =
w_{k-1} - \eta\nabla F(w_{k-1}) + \sqrt{2\eta/\beta}\, \xi$ with $0 < \eta < 2/L$, $a = 1 - L\eta/2$, has an expected
excess risk of at most $(1 - 2\mu\eta a)^T \Delta_F + \frac{L d}{2\mu\beta a}$.

With $\eta = n^2\rho/(\beta G^2T)$, which keeps $\rho$-zCDP under replace-one if every record's gradient lies within $G$
of one common vector field, and $\beta = \mu n^2\rho/(G^2 \ln n)$, that is at most $\Delta_F n^{-2a} + \frac{L d G^2 \ln
n}{2\mu^2 a\, n^2\rho}$ with $a = 1 - \frac{L \ln n}{2\mu T}$: without metastable wells DP-GLD does attain a power of
$n$.
"""

from dpbounds.papers.ours import PAPER
from dpbounds.privacy.mechanisms import Gaussian
from dpbounds.theorems.language import Bound, Condition, Expr, Parameter, Privacy, log, q, sqrt

rest = 1 - q.L * q.eta / 2
decay = (1 - 2 * q.mu * q.eta * rest) ** q.T
risk = decay * q.Delta_F + q.L * q.d / (2 * q.mu * q.beta * rest)


def tuned() -> Expr:
    rest = 1 - q.L * log(q.n) / (2 * q.mu * q.T)
    noise = q.L * q.d * q.G**2 * log(q.n)
    return q.Delta_F * q.n ** (-2 * rest) + noise / (2 * q.mu**2 * rest * q.n**2 * q.rho)


temperature = q.mu * q.n**2 * q.rho / (q.G**2 * log(q.n))

THEOREM = PAPER.theorem(
    title="Langevin dynamics under the Polyak-Łojasiewicz inequality",
    where="derived here; compare Wang, Chen & Xu 2019, Algorithm 1 and Theorem 3",
    bounds="excess-empirical-risk, expectation",
    status="proved here",
    assumptions="smooth risk, gradients near a common field, Polyak-Łojasiewicz, all of space",
    parts=(
        Bound(
            risk,
            meaning="expected excess empirical risk of the last iterate",
            conditions=Condition(q.eta < 2 / q.L, "a step decreases the risk on average"),
            increasing_in="Delta_F L",
            decreasing_in="T mu",
        ),
        Bound(
            tuned,
            "tuned",
            "the same with the temperature and step size below",
            conditions=(Condition(q.T > q.L * log(q.n) / (2 * q.mu), "a > 0"), Condition(q.n >= 2, "ln n > 0")),
            bases="loss length",
            increasing_in="d G L",
            decreasing_in="T rho mu",
        ),
        Parameter(temperature, "inverse_temperature", "β", bases="loss length"),
        Parameter(q.n**2 * q.rho / (q.beta * q.G**2 * q.T), "step_size", "η for a budget ρ"),
    ),
    privacy=Privacy(lambda at: Gaussian(at.down(sqrt(2 * q.T / q.rho))) ** at.count(q.T), "rho T"),
    algorithm="wang-chen-xu-2019/algorithm-1",
    relies_on="wang-chen-xu-2019/theorem-1/explicit",
    derivation="langevin_under_pl.md",
    notes="""
    - L, μ and Δ_F are those of the whole risk, regulariser included, which cancels where two records are compared. If
      the losses are Lipschitz, G is their constant; on all of R^d such a risk satisfies the inequality only because of
      its regulariser, if at all.
    - The budget holds under replace-one. The contribution of a single record is not bounded, so it does not hold under
      add-or-remove-one unless the losses themselves are Lipschitz.
    """,
)
