r"""The Langevin diffusion $dW_t = -\nabla \hat F^r(W_t)\,dt + \sqrt{2/\beta}\,dB_t$, which converges in distribution to
the Gibbs measure $\pi(dw) \propto e^{-\beta \hat F^r(w)}\,dw$; for $\beta \to \infty$ that concentrates at the
minimisers.
"""

from dpbounds.papers.wang_chen_xu_2019 import PAPER

THEOREM = PAPER.theorem(
    title="Langevin diffusion",
    where="Section 4, equation (2)",
    status="definition",
    algorithm="wang-chen-xu-2019/algorithm-1",
    notes="""
    How fast it converges depends on the barriers: with a second well of depth h the time is of the order of exp(βh),
    which exceeds the time that the budget allows (see theorem-3).
    """,
)
