"""All kinds of releases."""

from __future__ import annotations

from dpbounds.privacy.publishing.checker.schemes.allocation import BallsInBins, RandomAllocation
from dpbounds.privacy.publishing.checker.schemes.draws import WithReplacement
from dpbounds.privacy.publishing.checker.schemes.fixed_size import WithoutReplacement
from dpbounds.privacy.publishing.checker.schemes.full_batch import FullBatch
from dpbounds.privacy.publishing.checker.schemes.gaussian import Gaussian
from dpbounds.privacy.publishing.checker.schemes.last_iterates import LastIterate
from dpbounds.privacy.publishing.checker.schemes.matrices import Matrix
from dpbounds.privacy.publishing.checker.schemes.poisson import Poisson
from dpbounds.privacy.publishing.checker.schemes.scheme import Scheme
from dpbounds.privacy.publishing.checker.schemes.shuffled import Shuffled
from dpbounds.privacy.publishing.checker.schemes.truncated import TruncatedPoisson

SCHEMES: dict[str, Scheme] = {
    each.kind: each
    for each in (
        *(Gaussian(), LastIterate(), Matrix(), FullBatch(), Poisson(), WithoutReplacement(), TruncatedPoisson()),
        *(Shuffled(), RandomAllocation(), BallsInBins(), WithReplacement()),
    )
}
