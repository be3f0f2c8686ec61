"""Accounting of shuffled batches: clones of a record hide it, up to a total variation (``schemes/shuffled.md``).

``counts`` is the distribution of how many clones there are of either kind, as a discrete pair that dominates;
``estimates`` is the same in floating point, to choose with; ``enclosed`` chooses, proves and keeps the least of several
bounds.
"""
