r"""DP-SPIDER on the full batch from the output $w_0$ of any private algorithm with $E F(w_0) - \inf F \le \psi$,
$\psi$ public: with parameters set from $\psi$ and a budget of $\rho$ for this second half, and $a = \sqrt d/(n
\sqrt\rho)$, $E \|\nabla F(\hat w)\| \le \sqrt6\, 2^{1/3} (\sqrt{L \psi G}\, a)^{2/3} + 2Ga + 2\sqrt6\, G a^2$.

Proof: the argument for `lemma-3.1/explicit` uses of $w_0$ only a bound on $E F(w_0) - \inf F$, and its parameters
depend on that bound alone. The budgets of the two halves add.
"""

from dpbounds.papers.lowy_ullman_wright_2024 import PAPER, WARM_START_MEAN, _spider
from dpbounds.theorems.language import Bound, Parameter, Privacy, given, q

THEOREM = PAPER.theorem(
    title="stationarity after a warm start, with constants",
    bounds="gradient-norm, expectation",
    sampling="full batch",
    assumptions=(given.LIPSCHITZ, given.SMOOTH, given.BOUNDED_RISK, given.UNCONSTRAINED, WARM_START_MEAN),
    parts=(
        Bound(_spider.bound(q.psi, q.rho)),
        Bound(_spider.prescribed_bound(q.psi, q.rho), "prescribed", "the sharper bound at the rounded parameters"),
        Parameter(_spider.steps(q.psi, q.rho), "steps", "number of steps"),
    ),
    privacy=Privacy(lambda at: _spider.mechanism(at, q.psi, q.rho), "rho n d G L psi"),
    algorithm="lowy-ullman-wright-2024/algorithm-2",
    relies_on="lowy-ullman-wright-2024/lemma-3.1/explicit",
    derivation="theorem_3_2_explicit.md",
    notes="""
    - ρ and the accounting are those of the second half; the budget of the first half is added.
    - If F(w₀) - inf F <= ψ holds with probability 1 - ζ only, add ζG.
    """,
)
