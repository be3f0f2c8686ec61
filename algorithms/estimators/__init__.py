"""What stands behind ``dpbounds.algorithms.estimator``: clipped losses of linear scores, and how they are descended."""
