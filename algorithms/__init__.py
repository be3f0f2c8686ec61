"""What runs: reference algorithms whose privacy is read off a ledger and whose utility is held against a bound.

>>> import numpy as np
>>> from algorithms import ProjectedGradientDescent, problems
>>> features = np.random.default_rng(0).standard_normal((200, 3))
>>> problem = problems.sigmoid_loss(features, np.where(features[:, 0] > 0, 1, -1))
>>> ProjectedGradientDescent(noise_multiplier=20, steps=5).run(problem, repetitions=4).output.shape
(4, 3)
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from algorithms import problems as problems
    from algorithms.descents.langevin_dynamics import LangevinDynamics as LangevinDynamics
    from algorithms.descents.mirror_descent import MirrorDescent as MirrorDescent
    from algorithms.descents.perturbed_gradient_descent import PerturbedGradientDescent as PerturbedGradientDescent
    from algorithms.descents.projected_gradient_descent import ProjectedGradientDescent as ProjectedGradientDescent
    from algorithms.descents.quoted_baselines import WangYeXu2017 as WangYeXu2017
    from algorithms.descents.quoted_baselines import ZhangEtAl2017 as ZhangEtAl2017
    from algorithms.descents.selected_stochastic_gradient_descent import (
        SelectedStochasticGradientDescent as SelectedStochasticGradientDescent,
    )
    from algorithms.descents.stochastic_gradient_descent import StochasticGradientDescent as StochasticGradientDescent
    from algorithms.estimator import PrivateLinearClassifier as PrivateLinearClassifier
    from algorithms.frank_wolfe.gaussian_frank_wolfe import GaussianFrankWolfe as GaussianFrankWolfe
    from algorithms.frank_wolfe.vertex_frank_wolfe import VertexFrankWolfe as VertexFrankWolfe
    from algorithms.ledger import Ledger as Ledger
    from algorithms.ledger import PrivacyBudget as PrivacyBudget
    from algorithms.ledger import Release as Release
    from algorithms.run import Run as Run
    from algorithms.second_order.constrained_second_order import ConstrainedSecondOrder as ConstrainedSecondOrder
    from algorithms.second_order.gradient_descent import GradientDescent as GradientDescent
    from algorithms.second_order.negative_curvature_descent import NegativeCurvatureDescent as NegativeCurvatureDescent
    from algorithms.second_order.stationary_point_selection import StationaryPointSelection as StationaryPointSelection
    from algorithms.selection.above_threshold import AboveThresholdSelection as AboveThresholdSelection
    from algorithms.selection.net_exponential_mechanism import NetExponentialMechanism as NetExponentialMechanism
    from algorithms.selection.projected_langevin import ProjectedLangevin as ProjectedLangevin
    from algorithms.selection.regularised_exponential_mechanism import (
        RegularisedExponentialMechanism as RegularisedExponentialMechanism,
    )
    from algorithms.spider.population_stochastic_spider import PopulationStochasticSpider as PopulationStochasticSpider
    from algorithms.spider.restarted_spider import RestartedSpider as RestartedSpider
    from algorithms.spider.spider import Spider as Spider
    from algorithms.spider.stochastic_spider import StochasticSpider as StochasticSpider
    from algorithms.warm_starts.population_warm_start import PopulationWarmStart as PopulationWarmStart
    from algorithms.warm_starts.random_projection import RandomProjection as RandomProjection
    from algorithms.warm_starts.warm_started_spider import WarmStartedSpider as WarmStartedSpider

# Where each public name lives: it is imported when first asked for, so that `import algorithms` itself costs nothing.
_HOMES = {
    "ProjectedGradientDescent": "algorithms.descents.projected_gradient_descent",
    "MirrorDescent": "algorithms.descents.mirror_descent",
    "LangevinDynamics": "algorithms.descents.langevin_dynamics",
    "PerturbedGradientDescent": "algorithms.descents.perturbed_gradient_descent",
    "StochasticGradientDescent": "algorithms.descents.stochastic_gradient_descent",
    "SelectedStochasticGradientDescent": "algorithms.descents.selected_stochastic_gradient_descent",
    "ZhangEtAl2017": "algorithms.descents.quoted_baselines",
    "WangYeXu2017": "algorithms.descents.quoted_baselines",
    "GaussianFrankWolfe": "algorithms.frank_wolfe.gaussian_frank_wolfe",
    "VertexFrankWolfe": "algorithms.frank_wolfe.vertex_frank_wolfe",
    "Spider": "algorithms.spider.spider",
    "RestartedSpider": "algorithms.spider.restarted_spider",
    "StochasticSpider": "algorithms.spider.stochastic_spider",
    "PopulationStochasticSpider": "algorithms.spider.population_stochastic_spider",
    "GradientDescent": "algorithms.second_order.gradient_descent",
    "StationaryPointSelection": "algorithms.second_order.stationary_point_selection",
    "ConstrainedSecondOrder": "algorithms.second_order.constrained_second_order",
    "NegativeCurvatureDescent": "algorithms.second_order.negative_curvature_descent",
    "AboveThresholdSelection": "algorithms.selection.above_threshold",
    "NetExponentialMechanism": "algorithms.selection.net_exponential_mechanism",
    "RegularisedExponentialMechanism": "algorithms.selection.regularised_exponential_mechanism",
    "ProjectedLangevin": "algorithms.selection.projected_langevin",
    "WarmStartedSpider": "algorithms.warm_starts.warm_started_spider",
    "PopulationWarmStart": "algorithms.warm_starts.population_warm_start",
    "RandomProjection": "algorithms.warm_starts.random_projection",
    "PrivateLinearClassifier": "algorithms.estimator",
    "Run": "algorithms.run",
    "Ledger": "algorithms.ledger",
    "PrivacyBudget": "algorithms.ledger",
    "Release": "algorithms.ledger",
}

__all__ = [
    "ProjectedGradientDescent",
    "MirrorDescent",
    "LangevinDynamics",
    "PerturbedGradientDescent",
    "StochasticGradientDescent",
    "SelectedStochasticGradientDescent",
    "ZhangEtAl2017",
    "WangYeXu2017",
    "GaussianFrankWolfe",
    "VertexFrankWolfe",
    "Spider",
    "RestartedSpider",
    "StochasticSpider",
    "PopulationStochasticSpider",
    "GradientDescent",
    "StationaryPointSelection",
    "ConstrainedSecondOrder",
    "NegativeCurvatureDescent",
    "AboveThresholdSelection",
    "NetExponentialMechanism",
    "RegularisedExponentialMechanism",
    "ProjectedLangevin",
    "WarmStartedSpider",
    "PopulationWarmStart",
    "RandomProjection",
    "PrivateLinearClassifier",
    "problems",
    "Run",
    "Ledger",
    "PrivacyBudget",
    "Release",
]


def __getattr__(name: str) -> object:
    if name == "problems":
        return importlib.import_module("algorithms.problems")
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'algorithms' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
