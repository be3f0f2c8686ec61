r"""The exponential mechanism on a net, then DP-SPIDER, each with half of a budget of $\rho$-zCDP: with $\varepsilon_E
= 2\sqrt\rho$, $\psi = \frac{2GDd}{\varepsilon_E n}(1 + \ln(1 + \sqrt2\, \varepsilon_E n/d))$ and $a =
\sqrt{2d}/(n\sqrt\rho)$, $E \|\nabla F(\hat w)\| \le \sqrt6\, 2^{1/3} (\sqrt{L \psi G}\, a)^{2/3} + 2Ga + 2\sqrt6\, G
a^2$, of order $d^{2/3}/(n \sqrt\rho)$ up to a logarithm. The set holds a point that is at most $GDd/(\varepsilon_E
n)$ above the infimum.

The proof is in the Markdown file of `theorem-3.2/explicit`: the exponential mechanism is $\varepsilon_E^2/8 =
\rho/2$-zCDP and, measured from the infimum, two radii of the net times $G$ plus the logarithm of its size over the
temperature is $\psi$.
"""

from dpbounds.papers.lowy_ullman_wright_2024 import PAPER, _spider
from dpbounds.privacy.mechanisms import ExponentialMechanism, Mechanism
from dpbounds.theorems.language import LOSS, Bound, Numbers, Parameter, Privacy, log, q, sqrt

selection_epsilon = 2 * sqrt(q.rho)
size = selection_epsilon * q.n / q.d
warm_risk = 2 * q.G * q.D / size * (1 + log(1 + sqrt(2) * size))


def mechanism(at: Numbers) -> Mechanism:
    share = at.relation.sensitivity_factor  # ε_E is for replace-one; an added record moves the risk by half as much
    selection = ExponentialMechanism(at.up(selection_epsilon * share / 2), relation=at.relation)
    return selection @ _spider.mechanism(at, warm_risk, q.rho / 2)


THEOREM = PAPER.theorem(
    title="stationarity for non-convex losses, with constants",
    bounds="gradient-norm, expectation",
    sampling="full batch",
    assumptions="Lipschitz, smooth, bounded risk, unconstrained, near-minimiser in a compact set",
    parts=(
        Bound(_spider.bound(warm_risk, q.rho / 2)),
        Bound(warm_risk, "excess_risk", "ψ: bound on the expected excess risk of the warm start", unit=LOSS),
        Parameter(selection_epsilon, "epsilon", "ε_E of the exponential mechanism, with temperature ε_E n/(2GD)"),
        Parameter(_spider.steps(warm_risk, q.rho / 2), "steps", "steps of DP-SPIDER"),
    ),
    privacy=Privacy(mechanism, "rho n d G L D"),
    algorithm="lowy-ullman-wright-2024/algorithm-2",
    relies_on="lowy-ullman-wright-2024/lemma-4.2/explicit lowy-ullman-wright-2024/theorem-3.2/explicit",
    derivation="theorem_3_2_explicit.md",
    notes="In the assumption on the set, ε stands for ε_E. The net has up to (1 + √2 ε_E n/d)^d points.",
)
