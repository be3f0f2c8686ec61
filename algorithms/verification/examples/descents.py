"""Examples: descents."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal

from algorithms.descents.langevin_dynamics import LangevinDynamics
from algorithms.descents.mirror_descent import MirrorDescent
from algorithms.descents.perturbed_gradient_descent import PerturbedGradientDescent
from algorithms.descents.projected_gradient_descent import ProjectedGradientDescent
from algorithms.descents.quoted_baselines import WangYeXu2017, ZhangEtAl2017
from algorithms.ledger import PrivacyBudget
from algorithms.verification.examples.base import Algorithm, Example
from algorithms.verification.tasks.descents import WhichMirror, design, mirror, smooth_design


def _projected(budget: PrivacyBudget) -> tuple[Algorithm, Any]:
    problem = design(400, 4)
    return ProjectedGradientDescent.calibrated(
        problem, epsilon=budget.epsilon, delta=budget.delta, relation=budget.relation, steps=20
    ), problem


def _mirrored(shape: WhichMirror, budget: PrivacyBudget) -> tuple[Algorithm, Any]:
    problem = smooth_design(400, 4)
    return MirrorDescent.calibrated(
        problem, mirror(shape, 4), budget.epsilon, budget.delta, relation=budget.relation, steps=20
    ), problem


def _langevin(variant: Literal["repaired", "as-printed"], budget: PrivacyBudget) -> tuple[Algorithm, Any]:
    problem = smooth_design(400, 4)
    return LangevinDynamics.calibrated(
        problem, budget.epsilon, budget.delta, relation=budget.relation, regulariser=2, variant=variant
    ), problem


def _ball(budget: PrivacyBudget) -> tuple[Algorithm, Any]:
    problem = smooth_design(400, 4)
    return PerturbedGradientDescent.calibrated(
        problem, budget.epsilon, budget.delta, steps=3, relation=budget.relation
    ), problem


def _unit_ball(budget: PrivacyBudget) -> tuple[Algorithm, Any]:
    del budget  # print has one radius for every budget
    problem = smooth_design(400, 4)
    return PerturbedGradientDescent.as_printed(problem, steps=3), problem


def _zhang(budget: PrivacyBudget) -> tuple[Algorithm, Any]:
    return ZhangEtAl2017.quoted(budget.epsilon, budget.delta, steps=20), design(400, 4)


def _wang_ye_xu(budget: PrivacyBudget) -> tuple[Algorithm, Any]:
    return WangYeXu2017.quoted(budget.epsilon, budget.delta, steps=20), design(400, 4)


def _honest(kind: type[ZhangEtAl2017] | type[WangYeXu2017], budget: PrivacyBudget) -> tuple[Algorithm, Any]:
    problem = design(400, 4)
    return kind.calibrated(
        problem, epsilon=budget.epsilon, delta=budget.delta, relation=budget.relation, steps=20
    ), problem


_PMD = ("wang-xu-2019/algorithm-3", "wang-xu-2019/theorem-5/explicit")
_GLD = ("wang-chen-xu-2019/algorithm-1", "wang-chen-xu-2019/theorem-1/explicit", "dpbounds/langevin-under-pl")
_PRGD = ("tholeti-kalyani-2020/algorithm-1", "tholeti-kalyani-2020/algorithm-1/explicit")
_ZHANG = ("wang-xu-2019/figure-4", "cited/zhang-et-al-2017/main-result")
_WANG_YE_XU = ("wang-xu-2019/figure-4", "wang-xu-2019/theorem-1", "cited/wang-ye-xu-2017/main-result")

EXAMPLES: tuple[Example, ...] = (
    Example("dp-pgd", ("wang-xu-2019/algorithm-1", "wang-xu-2019/theorem-2/explicit"), _projected),
    Example("dp-pmd-l2", _PMD, partial(_mirrored, "l2")),
    Example("dp-pmd-l1", _PMD, partial(_mirrored, "l1")),
    Example("dp-pmd-simplex", _PMD, partial(_mirrored, "simplex")),
    Example("dp-gld", _GLD, partial(_langevin, "repaired")),
    Example("dp-gld-as-printed", _GLD, partial(_langevin, "as-printed"), printed=True),
    Example("prgd", _PRGD, _ball),
    Example("prgd-as-printed", _PRGD, _unit_ball, printed=True),
    Example("dp-gd-zhang", _ZHANG, partial(_honest, ZhangEtAl2017)),
    Example("dp-gd-zhang-as-quoted", _ZHANG, _zhang, printed=True),
    Example("dp-gd-wang-ye-xu", _WANG_YE_XU, partial(_honest, WangYeXu2017)),
    Example("dp-gd-wang-ye-xu-as-quoted", _WANG_YE_XU, _wang_ye_xu, printed=True),
)
