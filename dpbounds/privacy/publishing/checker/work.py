"""The work that an account takes, counted so that none takes hours or gigabytes."""

from __future__ import annotations

from flint import ctx

from dpbounds.privacy.publishing.checker.limits import MOST_BALLS, MOST_WORK
from dpbounds.privacy.publishing.checker.verdicts import NotCovered


class Effort:
    """The work of an account so far, in functions evaluated on balls of 256 bits."""

    done = 0.0

    def spend(self, evaluations: float, kept: int = 0) -> None:
        """Count work and stored balls in advance; raises an error at amounts that would take hours or gigabytes."""
        self.done += evaluations * (1 + (ctx.prec / 256) ** 2) / 2
        if self.done > MOST_WORK or kept > MOST_BALLS:
            raise NotCovered(TOO_MUCH)


TOO_MUCH = "work of hours or gigabytes is not done here; `dpbounds check` has other means"


effort = Effort()
