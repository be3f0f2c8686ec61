r"""Let $N$ be a norm, $w$ a distance generating function of modulus 1 for it, $\tilde L$ the smoothness of $F$ in
$N$, and $W = E N^*(b)^2$ for $b \sim N(0, I_d)$. For every $T \ge 1$ and $0 < \gamma < 2/\tilde L$ the output of
DP-PMD has $\sqrt{E\, N(P_R)^2} \le \sqrt A$ (noisy mapping) and $\sqrt{E\, N(\bar P_R)^2} \le \sqrt A + \sigma\sqrt
W$ (at the true gradient), with $A = \frac{\Delta_F}{\gamma a T} + \frac{\sigma^2 W}{a}$, $a = 1 - \tilde L\gamma/2$.

For $N = \|\cdot\|_C$ one has $W \le w_C^2 + \|C\|_2^2$, $\tilde L \le L\|C\|_2^2$ and $\|P\|_2 \le \|C\|_2 N(P)$.
With $\sigma^2 = 2G^2T/(n^2\rho)$, $\gamma = 1/(2\tilde L)$ and $T = \lceil\frac nG\sqrt{\rho\tilde
L\Delta_F/W}\rceil$, $A \le \frac{16}3\frac Gn\sqrt{\tilde L\Delta_F W/\rho} + \frac83\frac{W G^2}{n^2\rho}$.
"""

from dpbounds.papers.wang_xu_2019 import PAPER
from dpbounds.privacy.mechanisms import Gaussian
from dpbounds.theorems.language import LOSS, Bound, Condition, Parameter, Privacy, Rational, Unit, q, sqrt

mirror_step = PAPER.quantity("mirror_step", r"\gamma_{m}", "step size of mirror descent", unit=Unit(loss=-1))
dual_second_moment = PAPER.quantity("dual_second_moment", "W_{N}", "E N*(b)² for b ~ N(0, I)", unit=Unit(length=2))
shrink = 1 - q.relative_smoothness * mirror_step / 2
mean_square = q.Delta_F / (mirror_step * shrink * q.T) + q.sigma**2 * dual_second_moment / shrink
at_the_gradient = sqrt(mean_square) + q.sigma * sqrt(dual_second_moment)
first = Rational(16, 3) * q.G * sqrt(q.relative_smoothness * q.Delta_F * dual_second_moment / q.rho) / q.n
short_step = Condition(mirror_step < 2 / q.relative_smoothness, "each step must decrease the risk")

THEOREM = PAPER.theorem(
    title="projected gradient of DP-PMD, with constants",
    bounds="projected-gradient-norm, expectation",
    assumptions="Lipschitz, bounded risk, closed convex set, convex regulariser",
    parts=(
        Bound(
            at_the_gradient,
            meaning="root mean square of N(mapping at the true gradient)",
            unit=LOSS,  # a gradient in the dual norm of a set: gradient times length
            conditions=short_step,
        ),
        Bound(
            sqrt(mean_square),
            "noisy",
            "root mean square of N(mapping at the noisy gradient)",
            unit=LOSS,
            conditions=short_step,
        ),
        Bound(
            sqrt(first + Rational(8, 3) * dual_second_moment * q.G**2 / (q.n**2 * q.rho)),
            "tuned",
            "the noisy mapping with γ = 1/(2L~), the noise for ρ, and the steps below",
            unit=LOSS,
        ),
        Parameter(
            q.n / q.G * sqrt(q.rho * q.relative_smoothness * q.Delta_F / dual_second_moment),
            "steps",
            "round up: best number of steps for a budget ρ",
        ),
    ),
    privacy=Privacy(lambda at: Gaussian(at.down(sqrt(2 * q.T / q.rho))) ** at.count(q.T), "rho T"),
    algorithm="wang-xu-2019/algorithm-3",
    derivation="theorem_5_explicit.md",
)
