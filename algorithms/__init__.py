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
    from algorithms.descents.projected_gradient_descent import ProjectedGradientDescent as ProjectedGradientDescent
    from algorithms.ledger import Ledger as Ledger
    from algorithms.ledger import PrivacyBudget as PrivacyBudget
    from algorithms.ledger import Release as Release
    from algorithms.run import Run as Run

# Where each public name lives: it is imported when first asked for, so that `import algorithms` itself costs nothing.
_HOMES = {
    "ProjectedGradientDescent": "algorithms.descents.projected_gradient_descent",
    "Run": "algorithms.run",
    "Ledger": "algorithms.ledger",
    "PrivacyBudget": "algorithms.ledger",
    "Release": "algorithms.ledger",
}

__all__ = ["ProjectedGradientDescent", "problems", "Run", "Ledger", "PrivacyBudget", "Release"]


def __getattr__(name: str) -> object:
    if name == "problems":
        return importlib.import_module("algorithms.problems")
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'algorithms' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
