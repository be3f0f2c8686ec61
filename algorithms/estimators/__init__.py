"""Implementation of ``dpbounds.algorithms.estimator``: clipped losses of linear scores, and descent on them."""
