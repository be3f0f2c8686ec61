r"""An $\alpha$-second-order stationary point of the population risk without a private selection at the end: noisy SGD
that declares a saddle escaped once the iterate has drifted far enough, with an adaptive SPIDER estimate of the
gradient. The abstract says that earlier error rates overlook the variance of gradients in the escape from saddles,
and that this method rectifies them; it states no exponent.
"""

from dpbounds.papers.cited.tao_et_al_2025 import PAPER

THEOREM = PAPER.theorem(
    id="main-result",
    title="population second-order stationary points by drift",
    statement=__doc__,
    where="Abstract",
    bounds="population-sosp, upper",
    status="claimed",
    assumptions="Lipschitz, smooth, Hessian-Lipschitz, i.i.d. records",
    notes="""
    - No formula is recorded: the abstract has none, and a second-hand summary (n^(-1/3) and the 2/5-th power of
      √d/(nε)) was not compared with the theorem.
    - Whether the criticism also concerns Liu & Talwar 2024, whose order would be smaller, is not said in the abstract.
    """,
)
