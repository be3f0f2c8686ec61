r"""First-order stationary points have $\nabla f(x) = 0$; second-order ones also have
$\lambda_{\min}(\nabla^2 f(x)) \ge 0$.
"""

from dpbounds.papers.tholeti_kalyani_2020 import PAPER

THEOREM = PAPER.theorem(
    title="stationary points",
    where="Section II, Definition 4",
    status="definition",
    notes="""
    - For second-order points only the condition on the Hessian is printed; the two halves of the sentence are read as
      cumulative here, so that the gradient vanishes, too.
    - Both are exact: no approximate stationary point, and no rate towards one, is defined in the paper.
    """,
)
