r"""If every estimate is within $\gamma/4$ of the gradient, the drift reaches $\kappa$ at most
$O(B\eta/\kappa + T\gamma^2\eta^2/\kappa)$ times in $T$ steps; with the $T$ of Algorithm 1 this is $O(B\eta/\kappa)$ up
to the fourth power of a logarithm.
"""

from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import PAPER, gradient_accuracy
from dpbounds.theorems.language import Rate, q

rate = q.B / (q.L * q.kappa)

THEOREM = PAPER.theorem(
    title="how often the drift gets large",
    where="Section 3, Lemma 3.7; proof in Appendix B.5",
    bounds="count, always",
    status="proved",
    assumptions="smooth risk, bounded range, unconstrained",
    parts=(
        Rate(rate, meaning="with the T of Algorithm 1", logs_hidden=True),
        Rate(rate + q.T * gradient_accuracy**2 / (q.L**2 * q.kappa), "with-steps", "for any T"),
    ),
    algorithm="ganesh-liu-oh-thakurta-2023/algorithm-1",
    relies_on="ganesh-liu-oh-thakurta-2023/lemma-3.5 ganesh-liu-oh-thakurta-2023/lemma-3.7/explicit",
    notes="""
    - It counts fresh estimates of line 10; those of line 8 (the kicks) are not in it.
    - The text at hand has |K|κ/(6n) for |K|κ/(6η), ‖F‖ for ‖∇F‖, and an index |L| for |K|, in the proof.
    """,
)
