"""Plans over a few statements of the library, which take a fraction of the time of a plan over all of it."""

from unittest import mock

import dpbounds.rates.plan
from dpbounds.theorems.registry import theorem


def plan_of(names, metric, **numbers):
    """The plan, if the library had these statements only."""
    chosen = tuple(theorem(name) for name in names.split())
    with mock.patch.object(dpbounds.rates.plan, "candidates", return_value=chosen):
        return dpbounds.rates.plan.plan(metric, **numbers)
