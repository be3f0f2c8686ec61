r"""PrGD: for $t = 1, \dots, T$ draw one of the $N$ records uniformly, draw $n_t$ uniformly from the ball of radius
$r_u$ (1 in print), and step to $w_{t+1} = w_t - \eta(\nabla\ell(w_t; z_i) + n_t)$. All iterates are released. Each
coordinate of the noise has variance $r_u^2/(d+2)$, and $E\|n_t\|^2 = r_u^2 d/(d+2)$. The step size plays no part in
the privacy.
"""

from sympy import Expr

from dpbounds.expressions.symbols import Unit, dataset_size, dimension, radius, sensitivity, steps
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import GRADIENT_DISTANCE, UNCONSTRAINED
from dpbounds.theorems.record import Claim, Metric, Note, Parameter, Privacy, Status, Theorem
from dpbounds.theorems.tholeti_kalyani_2020._ball import run


def variance() -> Expr:
    return radius**2 / (dimension + 2)


def square() -> Expr:
    return dimension * radius**2 / (dimension + 2)


THEOREM = Theorem(
    id="tholeti-kalyani-2020/algorithm-1",
    title="PrGD, perturbed gradient descent",
    statement=__doc__,
    where="Section IV, Algorithm 1",
    metric=Metric.PRIVACY,
    status=Status.PROVED,
    relation=Relation.REPLACE_ONE,
    sampling="one uniformly random record per step",
    assumptions=(GRADIENT_DISTANCE, UNCONSTRAINED),
    parts=(
        Parameter(
            formula=variance,
            name="noise_variance",
            unit=Unit(2, -2),
            meaning="variance of each coordinate of the noise",
            increasing_in=(radius,),
            decreasing_in=(dimension,),
        ),
        Parameter(
            formula=square,
            name="noise_square",
            unit=Unit(2, -2),
            meaning="expected squared length of the noise, below r² in every dimension",
            increasing_in=(radius, dimension),
        ),
    ),
    privacy=Privacy(
        claim=Claim.TOTAL_VARIATION, mechanism=run, needs=(radius, sensitivity, dimension, dataset_size, steps)
    ),
    notes=(
        Note("The input is called w₀, the loop reads w₁: read as the same point."),
        Note(
            "The radius is 1 in the units of the gradients, whatever these are. Section IV.C allows other radii, and "
            "that is what is recorded."
        ),
        Note(
            "Several records per step: by concavity of δ in the distance, b records and noise on their mean cost at "
            "most (b/N) δ(Δ/b), which is at least what one record costs at the same radius; see "
            "dpbounds/ball-noise-at-fixed-delta for what they gain in utility."
        ),
    ),
)
