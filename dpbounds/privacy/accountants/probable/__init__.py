"""Monte Carlo bounds on ε and δ, with a stated confidence, for pairs without a tight enclosure.

The derivation and its assumptions are in ``probable.md``. These bounds are not certified, and no certified value uses
them.
"""

from dpbounds.privacy.accountants.probable.answers import DEFAULT_SAMPLES, Probable, probable_delta, probable_epsilon
from dpbounds.privacy.accountants.probable.bounds import mean_at_most
from dpbounds.privacy.accountants.probable.mixtures import Apart, Bins, Mixture, Subsets

__all__ = [
    "DEFAULT_SAMPLES",
    "Apart",
    "Bins",
    "Mixture",
    "Probable",
    "Subsets",
    "mean_at_most",
    "probable_delta",
    "probable_epsilon",
]
