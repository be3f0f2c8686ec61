r"""Under Assumption 1, for any failure probability $\zeta < 1$ there is an $\varepsilon$-DP algorithm (the exponential
mechanism on a net of the ball $\|w\| \le G/\lambda$ that holds every minimiser) whose output has, with probability $1 -
\zeta$, an excess empirical risk of $\tilde O(d/(n\varepsilon))$, at a cost of $O\big((1 + \frac{2 G n
\varepsilon}{\lambda d})^d n\big)$ evaluations. A net of resolution $\alpha$ costs $(1 + \frac{2G}{\lambda\alpha})^d n$
and gives $\tilde O(\max(d/(n\varepsilon), \alpha))$.
"""

from sympy import Expr

from dpbounds.expressions.symbols import (
    Unit,
    dataset_size,
    dimension,
    epsilon,
    lipschitz,
    net_radius,
    regularisation,
)
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.record import Metric, Mode, Note, Parameter, Rate, Side, Status, Theorem
from dpbounds.theorems.wang_chen_xu_2019._assumptions import REGULARISED


def rate() -> Expr:
    return dimension / (dataset_size * epsilon)


def restored() -> Expr:
    return lipschitz**2 * dimension / (regularisation * dataset_size * epsilon)


def cost() -> Expr:
    fine = 2 * lipschitz * dataset_size * epsilon / (regularisation * dimension)
    return (1 + fine) ** dimension * dataset_size


def cost_of_a_net() -> Expr:
    return (1 + 2 * lipschitz / (regularisation * net_radius)) ** dimension * dataset_size


THEOREM = Theorem(
    id="wang-chen-xu-2019/theorem-4",
    title="the exponential mechanism on a net",
    statement=__doc__,
    where="Section 4, Theorem 4 and the paragraph after it",
    metric=Metric.EXCESS_EMPIRICAL_RISK,
    side=Side.UPPER,
    mode=Mode.PROBABILITY,
    status=Status.PROVED,
    relation=Relation.REPLACE_ONE,
    sampling="full batch",
    assumptions=(REGULARISED,),
    parts=(
        Rate(
            formula=rate,
            unit=Unit(loss=1),
            hides=(lipschitz, regularisation),
            restored=restored,
            logs_hidden=True,
            meaning="excess empirical risk",
            increasing_in=(dimension,),
            decreasing_in=(dataset_size, epsilon),
        ),
        Parameter(
            formula=cost,
            name="cost",
            meaning="evaluations of a loss; the net's resolution is d/(nε) in a fixed unit of length",
            up_to_constant=True,
            bases=("loss",),
            increasing_in=(lipschitz, dataset_size, epsilon),
            decreasing_in=(regularisation,),
        ),
        Parameter(
            formula=cost_of_a_net,
            name="cost_of_a_net",
            unit=Unit(samples=1),
            meaning="evaluations of a loss for a net of a given resolution",
            up_to_constant=True,
            increasing_in=(lipschitz, dataset_size),
            decreasing_in=(regularisation, net_radius),
        ),
    ),
    notes=(
        Note("With constants: theorem-4/explicit. The hidden logarithm is one of nε/d, and one of 1/ζ."),
        Note(
            "Print calls d/(nε) near optimal, being the optimum for general convex losses. L may be as large as λ "
            "here, so that these are among the losses of Assumption 1."
        ),
    ),
)
