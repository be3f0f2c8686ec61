r"""DP-SGD for a $q_c$-quasar-convex risk (a minimiser within $D$ of the start), then DP-SPIDER, each on the full
batch with half of a budget of $\rho$-zCDP: with $a = \sqrt{2d}/(n \sqrt\rho)$ and $\psi = 2GDa/q_c$, $E \|\nabla
F(\hat w)\| \le \sqrt6\, 2^{1/3} (\sqrt{L \psi G}\, a)^{2/3} + 2Ga + 2\sqrt6\, G a^2$, of order $\sqrt d/(n
\sqrt\rho)$: the leading term is $\sqrt6\, 2^{2/3} (L G^2 D/q_c)^{1/3} a$.

The proof is in the Markdown file of `theorem-3.2/explicit`.
"""

from dpbounds.papers.lowy_ullman_wright_2024 import PAPER, _spider
from dpbounds.privacy.mechanisms import Gaussian, Mechanism
from dpbounds.theorems.language import LOSS, Bound, Numbers, Parameter, Privacy, ceiling, q, sqrt

warm_risk = 2 * q.G * q.D * _spider.noise_ratio(q.rho / 2) / q.quasar_convexity
descent_steps = ceiling(q.n**2 * q.rho / (4 * q.d))


def mechanism(at: Numbers) -> Mechanism:
    count = at.count(descent_steps)
    return Gaussian(at.down(sqrt(4 * count / q.rho))) ** count @ _spider.mechanism(at, warm_risk, q.rho / 2)


THEOREM = PAPER.theorem(
    title="stationarity for quasar-convex risks, with constants",
    bounds="gradient-norm, expectation",
    sampling="full batch",
    assumptions="Lipschitz, smooth, bounded risk, unconstrained, quasar-convex",
    parts=(
        Bound(_spider.bound(warm_risk, q.rho / 2)),
        Bound(warm_risk, "excess_risk", "ψ: bound on the expected excess risk of the warm start", unit=LOSS),
        Parameter(descent_steps, "descent_steps", "steps of DP-SGD"),
        Parameter(_spider.steps(warm_risk, q.rho / 2), "steps", "steps of DP-SPIDER"),
    ),
    privacy=Privacy(mechanism, "rho n d G L D quasar_convexity"),
    algorithm="lowy-ullman-wright-2024/algorithm-2",
    relies_on="lowy-ullman-wright-2024/proposition-d.1/explicit lowy-ullman-wright-2024/theorem-3.2/explicit",
    derivation="theorem_3_2_explicit.md",
    notes="Quasar-convexity is assumed on all of R^d; 1/q_c enters to the power 1/3.",
)
