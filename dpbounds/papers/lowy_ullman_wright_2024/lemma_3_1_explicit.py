r"""DP-SPIDER on the full batch, tuned to a public bound $\Delta_F$ on $E F(w_0) - \inf F$, is $\rho$-zCDP under
replace-one, and with $a = \sqrt d/(n \sqrt\rho)$ its output has $E \|\nabla F(\hat w)\| \le \sqrt6\, 2^{1/3} (\sqrt{L
\Delta_F G}\, a)^{2/3} + 2Ga + 2\sqrt6\, G a^2$. Step size $1/(2L)$; $T = \lceil T^* \rceil$ steps, $T^* = (L
\Delta_F/(4 G^2 a^4))^{1/3}$; an anchor every $1 + \lfloor 1/(2 T a^2) \rfloor$ steps; half of the budget for the
anchors.

The leading constant is 3.0862, and the last term is the first divided by $T^*$. The proof is in the Markdown file
beside the code.
"""

from dpbounds.papers.lowy_ullman_wright_2024 import PAPER, _spider
from dpbounds.theorems.language import Bound, Parameter, Privacy, q, sqrt

steps = _spider.steps(q.Delta_F, q.rho)

THEOREM = PAPER.theorem(
    title="stationarity of DP-SPIDER, with constants",
    bounds="gradient-norm, expectation",
    sampling="full batch",
    assumptions="Lipschitz, smooth, bounded risk, unconstrained",
    parts=(
        Bound(_spider.bound(q.Delta_F, q.rho)),
        Bound(
            _spider.prescribed_bound(q.Delta_F, q.rho),
            "prescribed",
            "the sharper bound at the rounded parameters; its last steps are estimated in the first part",
        ),
        Parameter(steps, "steps", "number of steps"),
        Parameter(_spider.anchor_period(steps, q.rho), "anchor_period", "steps from one anchor to the next"),
        Parameter(1 / (2 * q.L), "step_size", "step size"),
        Parameter(sqrt(_spider.anchor_variance(q.Delta_F, q.rho)), "noise_stddev", "σ₁ of an anchor"),
        Parameter(
            sqrt(_spider.difference_variance(q.Delta_F, q.rho)),
            "difference_noise_stddev",
            "σ₂ of a difference, per distance of the two iterates (0 where every step is an anchor)",
        ),
    ),
    privacy=Privacy(lambda at: _spider.mechanism(at, q.Delta_F, q.rho), "rho n d G L Delta_F"),
    algorithm="lowy-ullman-wright-2024/algorithm-1",
    relies_on="lowy-ullman-wright-2024/algorithm-1/explicit",
    derivation="lemma_3_1_explicit.md",
    notes="""
    - (ε, δ)-DP with ρ = (√(ln(1/δ) + ε) - √ln(1/δ))²; the certified accountant allows less noise. The noise of a
      difference may be capped at 2Gσ₂/L at no cost.
    - The paper has a rate only. No condition on n is needed (see the erratum of Lemma 3.1).
    """,
)
