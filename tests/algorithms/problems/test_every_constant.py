"""Every constant of every model is a supremum, held against a search over single records, the longest among them.

Noise and sensitivities are made from these numbers. Records of norm B other than 1, targets of both signs: a constant
with a wrong power of B, or without the target, is too small (privacy) or too large (noise for nothing).
"""

from fractions import Fraction

import numpy as np
import pytest

from dpbounds.algorithms import problems
from dpbounds.errors import InvalidValue

BOUNDS = [Fraction(1, 3), Fraction(5, 2)]
TARGET = Fraction(3, 2)
RADIUS = 2
FAR = 40  # in units of a prediction, where a model lives in all of R^p


def made(name, bound, sign, norm=None):
    features = np.array([[float(bound if norm is None else norm), 0.0]])
    target, label = np.array([sign * float(TARGET)]), np.array([float(sign or 1)])
    regression = {"feature_bound": bound, "target_bound": TARGET}
    return {
        "sigmoid": lambda: problems.sigmoid_loss(features, label, l1=0, feature_bound=bound),
        "squared sigmoid": lambda: problems.squared_sigmoid_link(features, label, bound),
        "squared probit": lambda: problems.squared_probit_link(features, label, bound),
        "Geman-McClure": lambda: problems.geman_mcclure(features, target, **regression),
        "Cauchy": lambda: problems.cauchy(features, target, **regression, radius=RADIUS),
        "biweight": lambda: problems.biweight_regression(features, target, cutoff=2, **regression),
        "phase retrieval": lambda: problems.phase_retrieval(
            features, np.abs(target) * (sign > 0), radius=RADIUS, **regression, start=[RADIUS, 0]
        ),
        "least squares": lambda: problems.least_squares(
            features, target, radius=RADIUS, **regression, start=[RADIUS, 0]
        ),
    }[name]()


NAMES = [
    "sigmoid",
    "squared sigmoid",
    "squared probit",
    "Geman-McClure",
    "Cauchy",
    "biweight",
    "phase retrieval",
    "least squares",
]


def searched(name, bound):
    """The largest slope, curvature, third derivative and value, and F(x₁), on the line through the record."""
    model = made(name, bound, 1)
    reach = FAR / float(bound) if model.radius is None else float(model.radius)
    line = np.linspace(-reach, reach, 10001)
    X = np.column_stack([line, np.zeros_like(line)])
    found = {"lipschitz": 0.0, "smoothness": 0.0, "hessian_lipschitz": 0.0, "loss_range": 0.0, "initial_gap": 0.0}
    for sign, norm in ((1, bound), (-1, bound), (0, bound), (1, 0)):
        one = made(name, bound, sign, norm)
        curvature = one.hessian(X)[:, 0, 0]
        third = np.diff(curvature) / np.diff(line)
        value = one.objective(X)
        for constant, numbers in (
            ("lipschitz", np.abs(one.gradient(X)[:, 0])),
            ("smoothness", np.abs(curvature)),
            ("hessian_lipschitz", np.abs(third)),
            ("loss_range", value),  # there are records whose loss is 0 somewhere
            ("initial_gap", one.objective(one.initial_point[None])),
        ):
            found[constant] = max(found[constant], float(numbers.max()))
    return model, found


@pytest.mark.rotating(4)
@pytest.mark.parametrize("bound", BOUNDS, ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_constants_are_suprema(name, bound):
    model, found = searched(name, bound)
    for constant, largest in found.items():
        stated = float(getattr(model, constant))
        # third derivatives are differences: rounding of curvatures over a small step
        assert largest <= stated * (1 + (1e-6 if constant == "hessian_lipschitz" else 1e-12)), constant
        assert largest >= 0.98 * stated, constant


@pytest.mark.parametrize("name", ["Cauchy", "phase retrieval", "least squares"])
def test_outside_of_the_ball_nothing_is_evaluated(name):
    model = made(name, Fraction(1), 1)
    for ask in (model.objective, model.gradient, model.hessian, model.objective_at):
        with pytest.raises(InvalidValue, match="outside the ball"):
            ask(np.array([[RADIUS * 1.001, 0.0]]))
