r"""For constant $\varepsilon, \delta$ the privacy term of (5) is below the uniform convergence term, so that privacy
merely turns the sample size $n$ into $n\varepsilon$.
"""

from dpbounds.theorems.record import Metric, Note, Status, Theorem

THEOREM = Theorem(
    id="wang-xu-2019/remark-2",
    title="privacy against uniform convergence",
    statement=__doc__,
    where="Extension to Population Risk, Remark 2",
    metric=Metric.POPULATION_GRADIENT_NORM,
    status=Status.CLAIMED,
    relies_on=("wang-xu-2019/theorem-3",),
    notes=(Note("d^(1/4)/√n against √(d log n / n): true up to constants for every d >= 1."),),
)
