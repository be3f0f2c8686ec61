"""What runs: reference algorithms whose privacy is read off a ledger and whose utility is held against a bound.

>>> import numpy as np
>>> from dpbounds.algorithms import ProjectedGradientDescent, problems
>>> features = np.random.default_rng(0).standard_normal((200, 3))
>>> problem = problems.sigmoid_loss(features, np.where(features[:, 0] > 0, 1, -1))
>>> ProjectedGradientDescent(noise_multiplier=20, steps=5).run(problem, repetitions=4).output.shape
(4, 3)
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if __name__ == "algorithms":  # the folder lies on the path of whoever stands in the repository: one copy of each class
    raise ImportError("these algorithms are imported as dpbounds.algorithms: write `from dpbounds import algorithms`")

if TYPE_CHECKING:
    from dpbounds.algorithms import problems as problems
    from dpbounds.algorithms.descents.langevin_dynamics import LangevinDynamics as LangevinDynamics
    from dpbounds.algorithms.descents.mirror_descent import MirrorDescent as MirrorDescent
    from dpbounds.algorithms.descents.perturbed_gradient_descent import (
        PerturbedGradientDescent as PerturbedGradientDescent,
    )
    from dpbounds.algorithms.descents.projected_gradient_descent import (
        ProjectedGradientDescent as ProjectedGradientDescent,
    )
    from dpbounds.algorithms.descents.quoted_baselines import WangYeXu2017 as WangYeXu2017
    from dpbounds.algorithms.descents.quoted_baselines import ZhangEtAl2017 as ZhangEtAl2017
    from dpbounds.algorithms.descents.selected_stochastic_gradient_descent import (
        SelectedStochasticGradientDescent as SelectedStochasticGradientDescent,
    )
    from dpbounds.algorithms.descents.stochastic_gradient_descent import (
        StochasticGradientDescent as StochasticGradientDescent,
    )
    from dpbounds.algorithms.estimator import PrivateLinearClassifier as PrivateLinearClassifier
    from dpbounds.algorithms.frank_wolfe.gaussian_frank_wolfe import GaussianFrankWolfe as GaussianFrankWolfe
    from dpbounds.algorithms.frank_wolfe.vertex_frank_wolfe import VertexFrankWolfe as VertexFrankWolfe
    from dpbounds.algorithms.ledger import Ledger as Ledger
    from dpbounds.algorithms.ledger import PrivacyBudget as PrivacyBudget
    from dpbounds.algorithms.ledger import Release as Release
    from dpbounds.algorithms.run import Run as Run
    from dpbounds.algorithms.second_order.constrained_second_order import (
        ConstrainedSecondOrder as ConstrainedSecondOrder,
    )
    from dpbounds.algorithms.second_order.gradient_descent import GradientDescent as GradientDescent
    from dpbounds.algorithms.second_order.negative_curvature_descent import (
        NegativeCurvatureDescent as NegativeCurvatureDescent,
    )
    from dpbounds.algorithms.second_order.stationary_point_selection import (
        StationaryPointSelection as StationaryPointSelection,
    )
    from dpbounds.algorithms.selection.above_threshold import AboveThresholdSelection as AboveThresholdSelection
    from dpbounds.algorithms.selection.net_exponential_mechanism import (
        NetExponentialMechanism as NetExponentialMechanism,
    )
    from dpbounds.algorithms.selection.projected_langevin import ProjectedLangevin as ProjectedLangevin
    from dpbounds.algorithms.selection.regularised_exponential_mechanism import (
        RegularisedExponentialMechanism as RegularisedExponentialMechanism,
    )
    from dpbounds.algorithms.spider.population_stochastic_spider import (
        PopulationStochasticSpider as PopulationStochasticSpider,
    )
    from dpbounds.algorithms.spider.restarted_spider import RestartedSpider as RestartedSpider
    from dpbounds.algorithms.spider.spider import Spider as Spider
    from dpbounds.algorithms.spider.stochastic_spider import StochasticSpider as StochasticSpider
    from dpbounds.algorithms.warm_starts.population_warm_start import PopulationWarmStart as PopulationWarmStart
    from dpbounds.algorithms.warm_starts.random_projection import RandomProjection as RandomProjection
    from dpbounds.algorithms.warm_starts.warm_started_spider import WarmStartedSpider as WarmStartedSpider

# Where each public name lives: it is imported when first asked for, so that `import dpbounds.algorithms` itself costs
# nothing.
_HOMES = {
    "ProjectedGradientDescent": "descents.projected_gradient_descent",
    "MirrorDescent": "descents.mirror_descent",
    "LangevinDynamics": "descents.langevin_dynamics",
    "PerturbedGradientDescent": "descents.perturbed_gradient_descent",
    "StochasticGradientDescent": "descents.stochastic_gradient_descent",
    "SelectedStochasticGradientDescent": "descents.selected_stochastic_gradient_descent",
    "ZhangEtAl2017": "descents.quoted_baselines",
    "WangYeXu2017": "descents.quoted_baselines",
    "GaussianFrankWolfe": "frank_wolfe.gaussian_frank_wolfe",
    "VertexFrankWolfe": "frank_wolfe.vertex_frank_wolfe",
    "Spider": "spider.spider",
    "RestartedSpider": "spider.restarted_spider",
    "StochasticSpider": "spider.stochastic_spider",
    "PopulationStochasticSpider": "spider.population_stochastic_spider",
    "GradientDescent": "second_order.gradient_descent",
    "StationaryPointSelection": "second_order.stationary_point_selection",
    "ConstrainedSecondOrder": "second_order.constrained_second_order",
    "NegativeCurvatureDescent": "second_order.negative_curvature_descent",
    "AboveThresholdSelection": "selection.above_threshold",
    "NetExponentialMechanism": "selection.net_exponential_mechanism",
    "RegularisedExponentialMechanism": "selection.regularised_exponential_mechanism",
    "ProjectedLangevin": "selection.projected_langevin",
    "WarmStartedSpider": "warm_starts.warm_started_spider",
    "PopulationWarmStart": "warm_starts.population_warm_start",
    "RandomProjection": "warm_starts.random_projection",
    "PrivateLinearClassifier": "estimator",
    "problems": "problems",
    "Run": "run",
    "Ledger": "ledger",
    "PrivacyBudget": "ledger",
    "Release": "ledger",
}
__all__ = list(_HOMES)


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = importlib.import_module(f"{__name__}.{_HOMES[name]}")
    return home if name == "problems" else getattr(home, name)


def __dir__() -> list[str]:
    return sorted(__all__)
