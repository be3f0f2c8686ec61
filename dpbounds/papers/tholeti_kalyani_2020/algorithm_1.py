r"""PrGD: for $t = 1, \dots, T$ draw one of the $N$ records uniformly, draw $n_t$ uniformly from the ball of radius
$r_u$ (1 in the paper), and step to $w_{t+1} = w_t - \eta(\nabla\ell(w_t; z_i) + n_t)$. All iterates are released. Each
coordinate of the noise has variance $r_u^2/(d+2)$, and $E\|n_t\|^2 = r_u^2 d/(d+2)$. The step size plays no part in the
privacy.
"""

from dpbounds.papers.tholeti_kalyani_2020 import PAPER
from dpbounds.papers.tholeti_kalyani_2020._ball import run
from dpbounds.theorems.language import Parameter, Privacy, Unit, q

square = q.d * q.r_u**2 / (q.d + 2)

THEOREM = PAPER.theorem(
    title="PrGD, perturbed gradient descent",
    where="Section IV, Algorithm 1",
    bounds="privacy",
    status="proved",
    assumptions="bounded gradient differences, unconstrained",
    parts=(
        Parameter(q.r_u**2 / (q.d + 2), "noise_variance", "variance of each coordinate of the noise", unit=Unit(2, -2)),
        Parameter(
            square,
            "noise_square",
            "expected squared length of the noise, below r² in every dimension",
            unit=Unit(2, -2),
        ),
    ),
    privacy=Privacy(run, "r_u Delta d n T"),
    notes="""
    - The input is called w₀, the loop reads w₁: read as the same point.
    - The radius is 1 in the units of the gradients, whatever these are. Section IV.C allows other radii, as this record
      does.
    - Several records per step: by concavity of δ in the distance, b records and noise on their mean cost at most (b/N)
      δ(Δ/b), which is at least what one record costs at the same radius; see dpbounds/ball-noise-at-fixed-delta for
      their utility.
    """,
)
