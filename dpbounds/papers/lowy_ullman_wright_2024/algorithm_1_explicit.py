r"""DP-SPIDER on the full batch with output uniform on $w_0, \dots, w_{T-1}$: if $d \sigma_2^2 \eta^2 (q_a - 1) \le 1 -
L\eta$, then $E \|\nabla F(\hat w)\| \le \sqrt{2 \Delta_F/(\eta T) + d \sigma_1^2}$, where $\Delta_F$ may be any bound
on $E F(w_0) - \inf F$. The proof is in the Markdown file beside the code.
"""

from dpbounds.papers.lowy_ullman_wright_2024 import PAPER
from dpbounds.theorems.language import Bound, Condition, q, sqrt

bound = sqrt(2 * q.Delta_F / (q.eta * q.T) + q.d * q.sigma**2)
carried = q.d * (q.sigma_2 * q.eta) ** 2 * (q.anchor_period - 1)
conditions = (
    Condition(carried <= 1 - q.L * q.eta, "the error carried from one anchor to the next is paid for by the descent"),
)

THEOREM = PAPER.theorem(
    title="DP-SPIDER with any admissible parameters",
    where="derived here; compare Algorithm 1 and Lemma 3.1",
    bounds="gradient-norm, expectation",
    relation="replace-one",
    sampling="full batch",
    assumptions="Lipschitz, smooth, bounded risk, unconstrained",
    conditions=conditions,
    parts=Bound(bound),
    algorithm="lowy-ullman-wright-2024/algorithm-1",
    derivation="algorithm_1_explicit.md",
    notes="The privacy that the noise gives is in lowy-ullman-wright-2024/algorithm-1; both hold for the same run.",
)
