r"""With step size $1/L$ and noise $\sigma$ per coordinate, an iterate $x_R$ of noisy gradient descent drawn uniformly
from the first $T$ has $\sqrt{E \|\nabla F(x_R)\|^2} \le \sqrt{2 L \Delta_F / T + d \sigma^2}$.

Proof: by smoothness $E F(x_{t+1}) \le F(x_t) - \frac{1}{2L} \|\nabla F(x_t)\|^2 + \frac{d \sigma^2}{2L}$; sum over
the steps, and divide by $T/(2L)$.
"""

from sympy import Expr, sqrt

from dpbounds.expressions.symbols import (
    Unit,
    dataset_size,
    dimension,
    initial_gap,
    lipschitz,
    noise_stddev,
    rho,
    smoothness,
    steps,
)
from dpbounds.privacy.mechanisms import Gaussian, Mechanism
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import BOUNDED_RISK, LIPSCHITZ, SMOOTH_RISK, UNCONSTRAINED
from dpbounds.theorems.numbers import Numbers
from dpbounds.theorems.record import Bound, Claim, Metric, Mode, Parameter, Privacy, Read, Side, Status, Theorem


def bound() -> Expr:
    return sqrt(2 * smoothness * initial_gap / steps + dimension * noise_stddev**2)


def noise() -> Expr:
    return lipschitz / dataset_size * sqrt(2 * steps / rho)


def mechanism(at: Numbers) -> Mechanism:
    # noise per unit of the per-record bound G on the sum of n gradients; the relation supplies the factor 1 or 2
    return Gaussian(at.down(sqrt(2 * steps / rho))) ** at.count(steps)


THEOREM = Theorem(
    id="my-paper-2026/theorem-1",
    title="gradient norm of noisy gradient descent, with constants",
    statement=__doc__,
    where="Section 3, Theorem 1",
    metric=Metric.GRADIENT_NORM,
    side=Side.UPPER,
    mode=Mode.EXPECTATION,
    status=Status.PROVED_HERE,
    read=Read.HERE,
    relation=Relation.REPLACE_ONE,
    sampling="full batch",
    assumptions=(SMOOTH_RISK, LIPSCHITZ, BOUNDED_RISK, UNCONSTRAINED),
    parts=(
        Bound(
            formula=bound,
            unit=Unit(1, -1),  # loss per length: a gradient
            meaning="root mean square of the gradient's norm",
            increasing_in=(initial_gap, noise_stddev, dimension),
            decreasing_in=(steps,),
        ),
        Parameter(formula=noise, name="noise_stddev", unit=Unit(1, -1), meaning="σ for a budget ρ and T steps"),
    ),
    privacy=Privacy(claim=Claim.ZCDP, mechanism=mechanism, needs=(rho, steps)),
)
