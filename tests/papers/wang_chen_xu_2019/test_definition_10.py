"""Definition 10, a second time from the text."""

from mpmath import sqrt

TWINS = {"curvature": lambda hessian_lipschitz, stationarity: sqrt(hessian_lipschitz) * sqrt(stationarity)}
