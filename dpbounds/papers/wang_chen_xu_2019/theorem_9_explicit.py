r"""In a closed convex set of diameter $D$, consider points $w$ with $\langle\nabla \hat F(w), u - w\rangle \ge -a$ for
all $u$ in it, and $(u - w)^T\nabla^2 \hat F(w)(u - w) \ge -b$ for those with
$\langle\nabla \hat F(w), u - w\rangle = 0$ (in the paper $a = \alpha$, $b = \sqrt{\rho_H\alpha}$). Algorithm 6 with
tests at $-a/2$ and $-\Phi b/2$, $\eta = a/(2D^2L)$, $\theta = \Phi b/(2\rho_H D^3)$, $r = \Phi^2b^2/(96\rho_H D^3)$,
half of a budget $\rho$ for gradients and half for Hessians (with half the variance off their diagonal), is $\rho$-zCDP
under replace-one. With probability $1 - \zeta$ it returns such a point within $T = \lfloor \Delta_F
\max(\frac{16D^2L}{a^2}, \frac{64\rho_H^2D^6}{\Phi^3b^3})\rfloor + 1$ steps, if $n$ is at least the larger of $\frac{2 G
D\sqrt T}{\sqrt\rho\, \min(a/8, r)} (\sqrt d + \sqrt{2\ln\frac{2T}\zeta})$ and $\frac{16\sqrt2 L D^2 \sqrt{d
T}}{\sqrt\rho\,\Phi b} (\sqrt d + \sqrt{\ln\frac{4T}\zeta})$.
"""

from sympy import Max, Min, floor, log, sqrt

from dpbounds.papers.wang_chen_xu_2019 import PAPER, curvature_tolerance, gap_tolerance
from dpbounds.privacy.mechanisms import Gaussian
from dpbounds.theorems.language import LOSS, SAMPLES, Bound, Condition, Parameter, Privacy, q

first = 16 * q.D**2 * q.L / gap_tolerance**2
second = 64 * q.rho_H**2 * q.D**6 / (q.Phi * curvature_tolerance) ** 3
steps = floor(q.Delta_F * Max(first, second)) + 1
first_share = gap_tolerance / (2 * q.D**2 * q.L)
second_share = q.Phi * curvature_tolerance / (2 * q.rho_H * q.D**3)
slack = (q.Phi * curvature_tolerance) ** 2 / (96 * q.rho_H * q.D**3)
gradients = 2 * q.G * q.D * sqrt(q.T / q.rho) / Min(gap_tolerance / 8, slack)
hessians = 16 * sqrt(2) * q.L * q.D**2 * sqrt(q.d * q.T / q.rho)
sample_size = Max(
    gradients * (sqrt(q.d) + sqrt(2 * log(2 * q.T / q.zeta))),
    hessians * (sqrt(q.d) + sqrt(log(4 * q.T / q.zeta))) / (q.Phi * curvature_tolerance),
)

THEOREM = PAPER.theorem(
    title="second-order stationary points in a set, with constants",
    where="derived here; compare Theorem 9 and Algorithm 6",
    bounds="sample-size, probability",
    assumptions="smooth with Lipschitz Hessian, bounded set",
    conditions=(Condition(first_share <= 1, "η is a share"), Condition(second_share <= 1, "θ is a share")),
    parts=(
        Bound(
            sample_size,
            meaning="how many records suffice, with T of `steps`, or more",
            unit=SAMPLES,
            conditions=Condition(q.T >= steps, "the risk cannot be lowered so often"),
        ),
        Bound(steps, "steps", "T: within as many steps a point is returned"),
        Parameter(first_share, "first_order_share", "η"),
        Parameter(second_share, "second_order_share", "θ"),
        Parameter(slack, "slack", "r", unit=LOSS),
        Parameter(2 * q.G * sqrt(q.T / q.rho) / q.n, "noise_stddev", "σ₁"),
        Parameter(2 * q.L * sqrt(q.d * q.T / q.rho) / q.n, "hessian_noise_stddev", "σ₂"),
    ),
    privacy=Privacy(lambda at: Gaussian(at.down(2 * sqrt(q.T / q.rho))) ** (2 * at.count(q.T)), "rho T"),
    algorithm="wang-chen-xu-2019/algorithm-6",
    derivation="second_order.md",
)
