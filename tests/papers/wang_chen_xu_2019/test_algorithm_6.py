"""Algorithm 6, a second time from the text."""

from mpmath import sqrt

TWINS = {
    "first_order_test": lambda stationarity: -stationarity / 2,
    "second_order_test": lambda approximation_ratio, hessian_lipschitz, stationarity: (
        -approximation_ratio / 2 * sqrt(hessian_lipschitz) * sqrt(stationarity)
    ),
}
