r"""A sketch, not a theorem: DP-SPIDER with gradients estimated along a binary tree, run once over the data from a start
whose excess population risk is $\psi$, would have $E \|\nabla F(\hat w)\|$ of order $(GL\psi/n)^{1/3} + (L\psi \sqrt
d/(\varepsilon n))^{1/2} + G/\sqrt n + G\sqrt d/(\varepsilon n)$. Warm-started by an exponential mechanism on a separate
half of the data, $\psi$ is of order $GD(d/(\varepsilon n) + \sqrt{d/n})$, and the order is the one below.
"""

from sympy import Expr, Rational, sqrt

from dpbounds.expressions.symbols import Unit, dataset_size, diameter, dimension, epsilon, lipschitz, smoothness
from dpbounds.theorems.assumptions import BOUNDED_SET, LIPSCHITZ, SAMPLED_RECORDS, SMOOTH
from dpbounds.theorems.record import Metric, Mode, Note, Rate, Read, Side, Status, Theorem


def start() -> Expr:
    return lipschitz * diameter * (dimension / (epsilon * dataset_size) + sqrt(dimension / dataset_size))


def rate() -> Expr:
    sampling = (lipschitz * smoothness * start() / dataset_size) ** Rational(1, 3)
    privacy = sqrt(smoothness * start() * sqrt(dimension) / (epsilon * dataset_size))
    floor = lipschitz / sqrt(dataset_size) + lipschitz * sqrt(dimension) / (epsilon * dataset_size)
    return sampling + privacy + floor


THEOREM = Theorem(
    id="dpbounds/population-tree-spider",
    title="population stationarity by tree-SPIDER and a warm start, a sketch",
    statement=__doc__,
    where="derived here, as a sketch; compare Arora et al. 2023 and Lowy, Ullman & Wright 2024, Section 7",
    metric=Metric.POPULATION_GRADIENT_NORM,
    side=Side.UPPER,
    mode=Mode.EXPECTATION,
    status=Status.CONJECTURED,
    read=Read.HERE,
    assumptions=(LIPSCHITZ, SMOOTH, SAMPLED_RECORDS, BOUNDED_SET),
    parts=(
        Rate(
            formula=rate,
            unit=Unit(1, -1),
            bases=("loss", "length"),
            logs_hidden=True,
            meaning="norm of the population gradient",
            increasing_in=(dimension, lipschitz, smoothness, diameter),
            decreasing_in=(dataset_size, epsilon),
        ),
    ),
    notes=(
        Note(
            "Not proved: that the tree's estimates have the error that is used here was not written out. Batches are "
            "of the order of G²/α² and G√d/(εα) records, α the order itself. The samples of start and search must be "
            "disjoint."
        ),
    ),
)
