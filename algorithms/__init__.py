"""Reference algorithms, whose privacy is computed from a ledger and whose utility is compared with a bound.

>>> import numpy as np
>>> from dpbounds.algorithms import ProjectedGradientDescent, problems
>>> features = np.random.default_rng(0).standard_normal((200, 3))
>>> problem = problems.sigmoid_loss(features, np.where(features[:, 0] > 0, 1, -1))
>>> ProjectedGradientDescent(noise_multiplier=20, steps=5).run(problem, repetitions=4).output.shape
(4, 3)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpbounds.by_need import names_by_need

if __name__ == "algorithms":  # the repository's root is on the path of a user who works there: one copy of each class
    raise ImportError("these algorithms are imported as dpbounds.algorithms: write `from dpbounds import algorithms`")

if TYPE_CHECKING:
    from dpbounds.algorithms import problems as problems
    from dpbounds.algorithms.descents.batch_descent import BatchDescent as BatchDescent
    from dpbounds.algorithms.descents.langevin_dynamics import LangevinDynamics as LangevinDynamics
    from dpbounds.algorithms.descents.matrix_descent import MatrixDescent as MatrixDescent
    from dpbounds.algorithms.descents.mirror_descent import MirrorDescent as MirrorDescent
    from dpbounds.algorithms.descents.perturbed_gradient_descent import (
        PerturbedGradientDescent as PerturbedGradientDescent,
    )
    from dpbounds.algorithms.descents.private_training import (
        GradientSteps as GradientSteps,
        PrivateTraining as PrivateTraining,
        QuantileClipping as QuantileClipping,
    )
    from dpbounds.algorithms.descents.projected_gradient_descent import (
        ProjectedGradientDescent as ProjectedGradientDescent,
    )
    from dpbounds.algorithms.descents.quoted_baselines import (
        WangYeXu2017 as WangYeXu2017,
        ZhangEtAl2017 as ZhangEtAl2017,
    )
    from dpbounds.algorithms.descents.selected_stochastic_gradient_descent import (
        SelectedStochasticGradientDescent as SelectedStochasticGradientDescent,
    )
    from dpbounds.algorithms.descents.stochastic_gradient_descent import (
        StochasticGradientDescent as StochasticGradientDescent,
    )
    from dpbounds.algorithms.estimator import (
        PrivateLinearClassifier as PrivateLinearClassifier,
        PrivateLinearRegressor as PrivateLinearRegressor,
    )
    from dpbounds.algorithms.frank_wolfe.gaussian_frank_wolfe import GaussianFrankWolfe as GaussianFrankWolfe
    from dpbounds.algorithms.frank_wolfe.vertex_frank_wolfe import VertexFrankWolfe as VertexFrankWolfe
    from dpbounds.algorithms.ledger import Ledger as Ledger, PrivacyBudget as PrivacyBudget, Release as Release
    from dpbounds.algorithms.run import Run as Run
    from dpbounds.algorithms.sampling import Batch as Batch, Poisson as Poisson
    from dpbounds.algorithms.second_order.constrained_second_order import (
        ConstrainedSecondOrder as ConstrainedSecondOrder,
    )
    from dpbounds.algorithms.second_order.gradient_descent import GradientDescent as GradientDescent
    from dpbounds.algorithms.second_order.gradient_path_noise import GradientPathNoise as GradientPathNoise
    from dpbounds.algorithms.second_order.iterative_path_noise import IterativePathNoise as IterativePathNoise
    from dpbounds.algorithms.second_order.negative_curvature_descent import (
        NegativeCurvatureDescent as NegativeCurvatureDescent,
    )
    from dpbounds.algorithms.second_order.path_noise_descent import PathNoiseDescent as PathNoiseDescent
    from dpbounds.algorithms.second_order.stationary_point_selection import (
        StationaryPointSelection as StationaryPointSelection,
    )
    from dpbounds.algorithms.second_order.weighted_descent import WeightedDescent as WeightedDescent
    from dpbounds.algorithms.selection.above_threshold import AboveThresholdSelection as AboveThresholdSelection
    from dpbounds.algorithms.selection.net_exponential_mechanism import (
        NetExponentialMechanism as NetExponentialMechanism,
    )
    from dpbounds.algorithms.selection.projected_langevin import ProjectedLangevin as ProjectedLangevin
    from dpbounds.algorithms.selection.regularised_exponential_mechanism import (
        RegularisedExponentialMechanism as RegularisedExponentialMechanism,
    )
    from dpbounds.algorithms.spider.batch_storm import BatchStorm as BatchStorm
    from dpbounds.algorithms.spider.population_stochastic_spider import (
        PopulationStochasticSpider as PopulationStochasticSpider,
    )
    from dpbounds.algorithms.spider.population_tree_spider import PopulationTreeSpider as PopulationTreeSpider
    from dpbounds.algorithms.spider.restarted_spider import RestartedSpider as RestartedSpider
    from dpbounds.algorithms.spider.spider import Spider as Spider
    from dpbounds.algorithms.spider.stochastic_spider import StochasticSpider as StochasticSpider
    from dpbounds.algorithms.spider.storm import Storm as Storm
    from dpbounds.algorithms.verification.ladders import Explanation as Explanation, explain as explain
    from dpbounds.algorithms.warm_starts.population_warm_start import PopulationWarmStart as PopulationWarmStart
    from dpbounds.algorithms.warm_starts.random_projection import RandomProjection as RandomProjection
    from dpbounds.algorithms.warm_starts.warm_started_gradient_path_noise import (
        WarmStartedGradientPathNoise as WarmStartedGradientPathNoise,
    )
    from dpbounds.algorithms.warm_starts.warm_started_iterative_path_noise import (
        WarmStartedIterativePathNoise as WarmStartedIterativePathNoise,
    )
    from dpbounds.algorithms.warm_starts.warm_started_path_noise import WarmStartedPathNoise as WarmStartedPathNoise
    from dpbounds.algorithms.warm_starts.warm_started_spider import WarmStartedSpider as WarmStartedSpider

__getattr__, __dir__, __all__ = names_by_need(__name__)  # `import dpbounds.algorithms` costs next to nothing
