"""Definition A.2, a second time from the text."""

TWINS = {"divergence": lambda rho, renyi_order: renyi_order * rho}
