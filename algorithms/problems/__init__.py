"""Losses with their exact constants, constraint sets and datasets.

Values that are not allowed or not finite raise ``InvalidValue`` with the name of the argument.
"""

from typing import TYPE_CHECKING

from dpbounds.by_need import names_by_need

if TYPE_CHECKING:
    from dpbounds.algorithms.problems import bumps as bumps
    from dpbounds.algorithms.problems.ball_model import BallModel as BallModel
    from dpbounds.algorithms.problems.bumps import Bumps as Bumps
    from dpbounds.algorithms.problems.checking import (
        CounterExample as CounterExample,
        ProblemReport as ProblemReport,
        check_problem as check_problem,
    )
    from dpbounds.algorithms.problems.clipped import Clipped as Clipped
    from dpbounds.algorithms.problems.datasets import (
        Dataset as Dataset,
        breast_cancer as breast_cancer,
        read_csv as read_csv,
    )
    from dpbounds.algorithms.problems.differentiable_losses.problem import (
        Differentiable as Differentiable,
        differentiable as differentiable,
    )
    from dpbounds.algorithms.problems.differentiable_losses.sharding import sharded as sharded
    from dpbounds.algorithms.problems.finite_sum import (
        FiniteSum as FiniteSum,
        HasRecordGradients as HasRecordGradients,
    )
    from dpbounds.algorithms.problems.forest_cover import covertype as covertype
    from dpbounds.algorithms.problems.landscapes import (
        DOUBLE_WELL as DOUBLE_WELL,
        WAVY as WAVY,
        Landscape as Landscape,
        double_well as double_well,
        landscape as landscape,
        power as power,
    )
    from dpbounds.algorithms.problems.least_squares import (
        least_squares as least_squares,
        pl_constant_of as pl_constant_of,
        spread_least_squares as spread_least_squares,
    )
    from dpbounds.algorithms.problems.linear_model import (
        LinearModel as LinearModel,
        biweight_regression as biweight_regression,
        cauchy as cauchy,
        geman_mcclure as geman_mcclure,
        squared_probit_link as squared_probit_link,
        squared_sigmoid_link as squared_sigmoid_link,
    )
    from dpbounds.algorithms.problems.phase_retrieval import phase_retrieval as phase_retrieval
    from dpbounds.algorithms.problems.problem import MarginLoss as MarginLoss, Problem as Problem
    from dpbounds.algorithms.problems.sigmoid import SIGMOID as SIGMOID, sigmoid_loss as sigmoid_loss
    from dpbounds.algorithms.problems.strict_saddles import (
        escape_test as escape_test,
        population_phase_retrieval as population_phase_retrieval,
    )
    from dpbounds.algorithms.problems.surfaces import (
        Surface as Surface,
        SurfaceLandscape as SurfaceLandscape,
        surface_landscape as surface_landscape,
    )
    from dpbounds.algorithms.problems.synthetic import (
        realisable_targets as realisable_targets,
        wang_xu_design as wang_xu_design,
        with_constants as with_constants,
    )
    from dpbounds.algorithms.problems.wells import gibbs_risk as gibbs_risk, narrow_well as narrow_well

__getattr__, __dir__, __all__ = names_by_need(__name__)
