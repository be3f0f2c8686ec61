r"""The paper's rates beside those known before and lower bounds, all constants other than $n$, $d$, $r$ and
$\varepsilon$ and all logarithms left out, each to be read as $\min(1, \cdot)$: second-order stationary points of the
empirical and of the population risk, and generalised linear models.
"""

from collections.abc import Callable

from sympy import Expr, Min, Rational, sqrt

from dpbounds.expressions.symbols import (
    dataset_size,
    diameter,
    dimension,
    epsilon,
    initial_gap,
    lipschitz,
    rank,
    smoothness,
)
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.record import Metric, Note, Part, Rate, Status, Theorem

HIDDEN = (lipschitz, smoothness, diameter, initial_gap)
_THIRD, _HALF = Rational(1, 3), Rational(1, 2)
_THREE_SEVENTHS = Rational(3, 7)


def private() -> Expr:
    return sqrt(dimension) / (epsilon * dataset_size)


def closeness() -> Expr:
    return Min(1, dimension / (epsilon * dataset_size) + sqrt(dimension / dataset_size))


def empirical() -> Expr:
    return Min(private() * dimension ** Rational(1, 6), private() ** (2 * _THIRD))


def empirical_before() -> Expr:
    return private() ** (2 * _THIRD)


def empirical_before_2022() -> Expr:
    return private() ** _HALF


def population() -> Expr:
    return (closeness() / dataset_size) ** _THIRD + (private() * closeness()) ** _THREE_SEVENTHS


def population_before() -> Expr:
    return dataset_size**-_THIRD + private() ** _THREE_SEVENTHS


def population_gradient_2020() -> Expr:
    return epsilon * sqrt(dimension) + private() ** _HALF


def population_gradient_2023() -> Expr:
    return dataset_size**-_THIRD + private() ** _HALF


def population_lower() -> Expr:
    return 1 / sqrt(dataset_size) + private()


def linear_models() -> Expr:
    scale = epsilon * dataset_size
    return 1 / sqrt(dataset_size) + Min(rank ** (2 * _THIRD) / scale, scale**-_THREE_SEVENTHS)


def linear_models_before() -> Expr:
    scale = epsilon * dataset_size
    return 1 / sqrt(dataset_size) + Min((sqrt(rank) / scale) ** (2 * _THIRD), scale ** -Rational(2, 5))


def _row(formula: Callable[[], Expr], name: str, meaning: str) -> Part:
    return Rate(formula=formula, name=name, meaning=meaning, hides=HIDDEN, logs_hidden=True)


THEOREM = Theorem(
    id="lowy-ullman-wright-2024/figure-1",
    title="the paper's rates beside earlier ones",
    statement=__doc__,
    where="Section 1, Figure 1, with the discussion in Section 1 and Appendix A",
    metric=Metric.NONE,
    status=Status.EMPIRICAL,
    relation=Relation.REPLACE_ONE,
    parts=(
        _row(empirical, "empirical", "this paper, Corollaries 4.3 and 4.4 with the earlier rate"),
        _row(empirical_before, "empirical-before", "Arora et al. 2023, Tran & Cutkosky 2022; SOSP: Liu et al. 2023"),
        _row(empirical_before_2022, "empirical-before-2022", "what was known before"),
        _row(private, "empirical-lower", "lower bound, Arora et al. 2023, for convex losses already"),
        _row(population, "population", "this paper, Corollary 7.1, with min(1, ·) within"),
        _row(population_before, "population-before", "Liu et al. 2023"),
        _row(population_gradient_2020, "population-gradient-2020", "Zhou et al. 2020, gradient only"),
        _row(population_gradient_2023, "population-gradient-2023", "Arora et al. 2023, gradient only"),
        _row(population_lower, "population-lower", "lower bound"),
        _row(linear_models, "linear-models", "this paper, Corollary 8.2"),
        _row(linear_models_before, "linear-models-before", "Arora et al. 2023"),
    ),
    notes=(
        Note(
            "The figure is an image and was not seen: only its caption was read, and the rows are put together "
            "from the "
            "text around it."
        ),
        Note("Appendix A gives the population rate of Arora et al. under the year 2022; it is the paper of 2023."),
        Note("All second-order rows rest on an escape lemma that is false as stated; the gradient-only rows do not."),
    ),
)
