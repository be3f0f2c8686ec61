r"""Utility of gradient descent with ball noise at a fixed $(0, \delta)$. Each of $T$ steps uses the mean gradient of
$b$ of $N$ records, drawn without replacement, plus noise uniform on the $d$-ball of radius $r_u$; gradients have norm
at most $G$, and $F$ is $L$-smooth. A step costs at most $\frac bN \delta_1$ with the total variation $\delta_1$ of two
balls at distance $2G/b$, so $T = \lfloor N\delta / (b\delta_1) \rfloor$ steps are $(0, \delta)$-private, and at the
best step size a random iterate has $E\|\nabla F\|^2 \le 4 \sqrt{L \Delta_F K / (N\delta)}$, $K = (G^2 + b
\tfrac{d}{d+2} r_u^2)\, \delta_1$.

For single records, $b = 1$, $K \ge G^2$ at every radius, and $K \ge 2\sqrt{d/(d+2)}\, G^2$ at every radius above $G$,
the only radii at which noise gives any protection: this upper bound is smallest without noise. With $b > 8d/\pi$
records, $K < G^2$ at the radius $G\sqrt{(d+2)/(bd)}$.
"""

from fractions import Fraction

from sympy import And, Rational, pi, sqrt

from dpbounds.papers.ours import PAPER
from dpbounds.papers.tholeti_kalyani_2020._ball import lost
from dpbounds.privacy.mechanisms import Mechanism, SampledWithoutReplacement, UniformBall
from dpbounds.theorems.language import PURE, SAMPLES, Bound, Condition, Numbers, Parameter, Privacy, Unit, q

_share = q.d / (q.d + 2)
_lost = lost(2 * q.G / q.b)
batch_factor = (1 + q.b * _share * q.r_u**2 / q.G**2) * _lost
most_steps = q.n * q.delta / (q.b * _lost)
cost = batch_factor * q.G**2
variance = q.G**2 / q.b + _share * q.r_u**2


def mechanism(at: Numbers) -> Mechanism:
    batch = int(at[q.b])
    noise = UniformBall(at.down(q.r_u * q.b / q.G), int(at[q.d]))  # on the sum, per unit of G
    return SampledWithoutReplacement(noise, batch, int(at[q.n])) ** at.count(q.T)


THEOREM = PAPER.theorem(
    title="utility of ball noise at a fixed δ",
    where="derived here; compare Tholeti & Kalyani 2020, Algorithm 1",
    bounds="gradient-norm, expectation",
    status="proved here",
    sampling="batches drawn without replacement in each step",
    assumptions="unconstrained, Lipschitz, smooth risk, bounded risk",
    conditions=Condition(q.b <= q.n, "a batch is drawn without replacement"),
    parts=(
        Bound(
            2 * (q.L * q.Delta_F * cost / (q.n * q.delta)) ** Rational(1, 4),
            meaning="root mean square of the gradient norm at (0, δ) and the best step size",
            unit=Unit(1, -1, Fraction(-1, 4)),
            conditions=Condition(
                And(most_steps >= 1, most_steps * variance >= 4 * q.L * q.Delta_F),
                "δ must allow a step, and so many that the best step size is at most 1/L",
            ),
            increasing_in="d",
        ),
        Bound(
            batch_factor.subs(q.b, 1), "single-factor", "K/G² for b = 1: never below 1", unit=PURE, increasing_in="d"
        ),
        Bound(
            batch_factor,
            "batch-factor",
            "K/G², to which the fourth power of the bound is proportional: below 1 noise helps",
            unit=PURE,
            increasing_in="d",
        ),
        Bound(
            2 * sqrt(_share),
            "least-single-factor",
            "a lower bound of K/G² for b = 1 at radii above G",
            unit=PURE,
            conditions=Condition(q.r_u > q.G, "smaller balls around opposite gradients do not meet"),
        ),
        Bound(4 * sqrt(q.d / (2 * pi * q.b)), "elementary", "an upper bound of K/G² at the radius below", unit=PURE),
        Parameter(q.G * sqrt((q.d + 2) / (q.b * q.d)), "radius", "a radius that helps for b > 8d/π; not the best one"),
        Parameter(
            most_steps,
            "steps",
            "round down: steps that are (0, δ)-private by summing",
            unit=SAMPLES,
            increasing_in="n delta r_u",
            decreasing_in="G d b",
        ),
    ),
    privacy=Privacy(mechanism, "r_u G d n b T"),
    algorithm="tholeti-kalyani-2020/algorithm-1",
    derivation="ball_noise_at_fixed_delta.md",
    notes="""
    - These are statements about one upper bound. They do not concern the smallest gradient norm that a private
      algorithm reaches, nor saddle points, which are the purpose of the noise.
    - Without noise a run at (0, δ) publishes Nδ random gradients exactly. The definition of (0, δ)-privacy allows it,
      although it protects none of these records.
    - Smallest K/G² over the radius: 0.816 (d = 1, b = 2), 0.365 (1, 10), 0.95 (5, 10), 0.315 (5, 100), 0.349 (50,
      1000). The δ of one step at a given radius still grows with b.
    """,
)
