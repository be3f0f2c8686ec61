"""Losses with their exact constants, constraint sets and data sets.

What is not allowed, or not finite, is refused by ``InvalidValue`` under the name of the argument.
"""

from dpbounds.algorithms.problems import bumps
from dpbounds.algorithms.problems.ball_model import BallModel
from dpbounds.algorithms.problems.bumps import Bumps
from dpbounds.algorithms.problems.datasets import Dataset, breast_cancer, read_csv
from dpbounds.algorithms.problems.finite_sum import FiniteSum
from dpbounds.algorithms.problems.forest_cover import covertype
from dpbounds.algorithms.problems.landscapes import DOUBLE_WELL, WAVY, Landscape, double_well, landscape, power
from dpbounds.algorithms.problems.least_squares import least_squares, pl_constant_of, spread_least_squares
from dpbounds.algorithms.problems.linear_model import (
    LinearModel,
    biweight_regression,
    cauchy,
    geman_mcclure,
    squared_probit_link,
    squared_sigmoid_link,
)
from dpbounds.algorithms.problems.phase_retrieval import phase_retrieval
from dpbounds.algorithms.problems.problem import MarginLoss, Problem
from dpbounds.algorithms.problems.sigmoid import SIGMOID, sigmoid_loss
from dpbounds.algorithms.problems.strict_saddles import escape_test, population_phase_retrieval
from dpbounds.algorithms.problems.surfaces import Surface, SurfaceLandscape, surface_landscape
from dpbounds.algorithms.problems.synthetic import realisable_targets, wang_xu_design
from dpbounds.algorithms.problems.wells import gibbs_risk, narrow_well

__all__ = [
    "sigmoid_loss",
    "squared_sigmoid_link",
    "squared_probit_link",
    "biweight_regression",
    "geman_mcclure",
    "cauchy",
    "phase_retrieval",
    "least_squares",
    "spread_least_squares",
    "pl_constant_of",
    "landscape",
    "power",
    "WAVY",
    "DOUBLE_WELL",
    "double_well",
    "surface_landscape",
    "escape_test",
    "population_phase_retrieval",
    "narrow_well",
    "gibbs_risk",
    "bumps",
    "breast_cancer",
    "covertype",
    "wang_xu_design",
    "realisable_targets",
    "read_csv",
    "FiniteSum",
    "Problem",
    "LinearModel",
    "BallModel",
    "Landscape",
    "Surface",
    "SurfaceLandscape",
    "Bumps",
    "MarginLoss",
    "Dataset",
    "SIGMOID",
]
