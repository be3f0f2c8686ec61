r"""Noisy stochastic gradient descent escapes strict saddles: for a bounded, smooth, Hessian-Lipschitz function all of
whose saddle points are strict, and gradient noise with covariance $\sigma^2 I$, steps of length $\eta \le \eta_{\max}
/ \max(1, \ln(1/\zeta))$ reach, after a number of steps of order $\eta^{-2} \ln(1/\zeta)$ and with probability at
least $1 - \zeta$, a point at distance of order $\sqrt{\eta \ln(1/\zeta)}$ from a local minimum. The constants depend
on the function, on $d$ and on $\sigma$.
"""

from sympy import Expr, log, sqrt

from dpbounds.expressions.symbols import (
    dimension,
    failure_probability,
    hessian_lipschitz,
    loss_range,
    noise_stddev,
    smoothness,
    step_size,
)
from dpbounds.theorems.assumptions import BOUNDED_LOSS, HESSIAN_LIPSCHITZ, SMOOTH, STRICT_SADDLES
from dpbounds.theorems.record import Metric, Mode, Note, Rate, Read, Side, Status, Theorem

HIDDEN = (smoothness, hessian_lipschitz, loss_range, noise_stddev, dimension)


def iterations() -> Expr:
    return log(1 / failure_probability) / step_size**2


def closeness() -> Expr:
    return sqrt(step_size * log(1 / failure_probability))


THEOREM = Theorem(
    id="cited/ge-et-al-2015/theorem-6",
    statement=__doc__,
    title="noisy gradient descent reaches a local minimum",
    where="Theorem 6; quoted as Theorem 2 of Tholeti & Kalyani 2020",
    metric=Metric.DISTANCE,
    side=Side.UPPER,
    mode=Mode.PROBABILITY,
    status=Status.CLAIMED,
    read=Read.QUOTED,
    assumptions=(SMOOTH, HESSIAN_LIPSCHITZ, STRICT_SADDLES, BOUNDED_LOSS),
    parts=(
        Rate(
            formula=closeness,
            name="distance",
            meaning="distance of the last iterate from a local minimum",
            hides=HIDDEN,
            increasing_in=(step_size,),
            decreasing_in=(failure_probability,),
        ),
        Rate(
            formula=iterations,
            name="steps",
            meaning="number of steps",
            hides=HIDDEN,
            decreasing_in=(step_size, failure_probability),
        ),
    ),
    notes=(
        Note(
            "The noise of the whole oracle has to have a covariance proportional to the identity; isotropic noise "
            "added to a sampled gradient does not make it so by itself. Lower and upper bounds on the covariance are "
            "enough."
        ),
        Note("Logarithms of the step size may be hidden in the source; the quotation has none."),
    ),
)
