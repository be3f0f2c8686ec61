"""Problems of more than one study."""

from __future__ import annotations

from typing import Any

from dpbounds.algorithms.problems import sigmoid_loss, wang_xu_design
from dpbounds.algorithms.problems.problem import Problem


def design(records: int, dimension: int, **options: Any) -> Problem:
    """Return the sigmoid loss on Wang & Xu's synthetic design: the same records for every cell of the same size."""
    data = wang_xu_design(records, dimension, seed=0, feature_bound=4)
    return sigmoid_loss(data.features, data.labels, feature_bound=4, **options)


def smooth_design(records: int, dimension: int) -> Problem:
    """Return the same without a regulariser."""
    return design(records, dimension, l1=0)
