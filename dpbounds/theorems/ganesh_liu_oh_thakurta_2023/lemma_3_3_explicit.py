r"""With Gaussian oracles, $O_1 = \nabla F(x) + N(0, \sigma_1^2 I_d)$ and $O_2 = \nabla F(x) - \nabla F(y) + N(0,
\sigma_2^2\|x - y\|^2 I_d)$, a drift that includes the last step, and at most $T_1$ fresh estimates, with probability at
least $1 - \omega$ every estimate of the run is within $\sqrt{\sigma_1^2 + \kappa\sigma_2^2}\,(\sqrt d + \sqrt{2\ln(2
T_1/\omega)})$ of the gradient, however many steps there are.
"""

from sympy import Expr, log, sqrt

from dpbounds.expressions.symbols import (
    Unit,
    difference_noise_stddev,
    dimension,
    drift_threshold,
    failure_probability,
    noise_stddev,
)
from dpbounds.theorems.ganesh_liu_oh_thakurta_2023._quantities import FRESH, fresh_estimates
from dpbounds.theorems.record import Bound, Metric, Mode, Note, Read, Side, Status, Theorem


def error() -> Expr:
    spread = sqrt(noise_stddev**2 + drift_threshold * difference_noise_stddev**2)
    return spread * (sqrt(dimension) + sqrt(2 * log(2 * fresh_estimates / failure_probability)))


THEOREM = Theorem(
    id="ganesh-liu-oh-thakurta-2023/lemma-3.3/explicit",
    title="gradient estimates stay accurate, with constants",
    statement=__doc__,
    where="derived here; compare Lemma 3.3",
    metric=Metric.ESTIMATION_ERROR,
    side=Side.UPPER,
    mode=Mode.PROBABILITY,
    status=Status.PROVED_HERE,
    read=Read.HERE,
    sampling="full batch",
    local=(FRESH,),
    parts=(
        Bound(
            formula=error,
            unit=Unit(1, -1),
            meaning="largest error of all estimates of a run",
            increasing_in=(noise_stddev, difference_noise_stddev, drift_threshold, dimension, fresh_estimates),
            decreasing_in=(failure_probability,),
        ),
    ),
    algorithm="ganesh-liu-oh-thakurta-2023/algorithm-1",
    makes_explicit="ganesh-liu-oh-thakurta-2023/lemma-3.3",
    derivation="spider.md",
    notes=(Note("Nothing is assumed of F: only the noise matters. The number of steps T does not enter."),),
)
