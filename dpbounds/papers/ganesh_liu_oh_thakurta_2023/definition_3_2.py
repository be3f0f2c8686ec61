r"""A gradient oracle of the first kind, with parameter $\zeta_1$, answers a point $x$ with an unbiased estimate of
$\nabla F(x)$ whose error is $\mathrm{nSG}(\zeta_1)$. One of the second kind, with parameter $\zeta_2$, answers two
points with an unbiased estimate of $\nabla F(x) - \nabla F(y)$ whose error is $\mathrm{nSG}(\zeta_2\|x - y\|)$.
"""

from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import PAPER, second_oracle_noise, travelled
from dpbounds.theorems.language import Parameter, Unit

THEOREM = PAPER.theorem(
    title="two kinds of gradient oracles",
    where="Section 3, Definition 3.2",
    status="definition",
    assumptions="Lipschitz, smooth risk",
    parts=Parameter(
        second_oracle_noise**2 * travelled,
        "second-kind",
        "squared parameters of the second kind, added up over steps of given total squared length",
        unit=Unit(2, -2),
    ),
    notes="Used conditionally on everything that came before: given the past, errors have mean 0.",
)
