"""Records that take part in steps or bins of their own drawing (20)."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any

from dpbounds.privacy.publishing.checker.noises import per_bound
from dpbounds.privacy.publishing.checker.profiles import Steps, gaussian_profile
from dpbounds.privacy.publishing.checker.rules.secret_steps import Aim, allocated


def of_allocated(release: dict[str, Any], order: str, aim: Aim) -> Steps:
    """(20) k groups of steps, one step of each."""
    t, k, one = release["steps"], release["participations"], per_bound(release["mechanism"])
    if k == t:
        return [(gaussian_profile(t * one * (4 if order == "replace" else 1)), 1)]
    groups = Counter({t // k + 1: t % k, t // k: k - t % k})
    return [(allocated([(one, size)], size, order, aim), count) for size, count in groups.items() if count]


def of_bins(release: dict[str, Any], order: str, aim: Aim) -> Steps:
    """(20) Bins that are kept are one choice, bins drawn anew one in each epoch."""
    bins, one = release["bins"], per_bound(release["mechanism"])
    whole = math.floor(release["epochs"])
    last = math.ceil((release["epochs"] - whole) * bins)
    if bins == 1:
        return [(gaussian_profile((whole + last) * one * (4 if order == "replace" else 1)), 1)]
    if not release["redraw"]:
        return [(allocated([((whole + 1) * one, last), (whole * one, bins - last)], bins, order, aim), 1)]
    epochs = [(allocated([(one, bins)], bins, order, aim), whole)] if whole else []
    return epochs + ([(allocated([(one, last), (Fraction(0), bins - last)], bins, order, aim), 1)] if last else [])
