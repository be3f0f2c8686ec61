r"""AboveThreshold is private: with Laplace noise of scale $2/\varepsilon$ on the threshold, drawn once, and of scale
$4/\varepsilon$ on the answer to each query of sensitivity 1, reporting which query is the first to exceed the threshold
(and stopping there) is $\varepsilon$-differentially private, however many queries there are and however they depend on
earlier reports. With scales $b_1$ and $b_2$ it is $\left(\frac{1}{b_1} + \frac{2}{b_2}\right)$-private.
"""

from sympy import Expr, Symbol

from dpbounds.expressions.symbols import Quantity, Unit, domain_of, epsilon
from dpbounds.privacy.mechanisms import AboveThreshold, Mechanism
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.record import Bound, Claim, Metric, Mode, Note, Parameter, Privacy, Read, Side, Status, Theorem
from dpbounds.theorems.spending import Numbers

threshold_scale = Symbol("threshold_scale", positive=True)
query_scale = Symbol("query_scale", positive=True)


def _scale(symbol: Symbol, meaning: str, latex: str) -> Quantity:
    return Quantity(
        name=symbol.name,
        symbol=symbol,
        domain=domain_of(symbol),
        unit=Unit(samples=1),
        meaning=meaning,
        latex=latex,
    )


def on_the_threshold() -> Expr:
    return 2 / epsilon


def on_each_query() -> Expr:
    return 4 / epsilon


def total() -> Expr:
    return 1 / threshold_scale + 2 / query_scale


def mechanism(at: Numbers) -> Mechanism:
    first, second = at.down(on_the_threshold()), at.down(on_each_query())
    return AboveThreshold(threshold_noise=first, query_noise=second, relation=at.relation)


THEOREM = Theorem(
    id="cited/dwork-roth-2014/theorem-3.23",
    title="privacy of AboveThreshold",
    statement=__doc__,
    where="Section 3.6, Algorithm 1 and Theorem 3.23; general scales: Lyu, Su & Li 2017",
    metric=Metric.PRIVACY,
    side=Side.UPPER,
    mode=Mode.ALWAYS,
    status=Status.PROVED,
    read=Read.QUOTED,
    relation=Relation.REPLACE_ONE,
    parts=(
        Parameter(
            formula=on_the_threshold,
            name="threshold-scale",
            unit=Unit(samples=1),
            meaning="Laplace scale on the threshold, per unit of the queries' sensitivity",
            decreasing_in=(epsilon,),
        ),
        Parameter(
            formula=on_each_query,
            name="query-scale",
            unit=Unit(samples=1),
            meaning="Laplace scale on each query, per unit of its sensitivity",
            decreasing_in=(epsilon,),
        ),
        Bound(
            formula=total,
            name="epsilon",
            unit=Unit(samples=-1),
            meaning="ε of one run with given scales",
            decreasing_in=(threshold_scale, query_scale),
        ),
    ),
    local=(
        _scale(threshold_scale, "Laplace scale on the threshold, per unit of the queries' sensitivity", "b_{1}"),
        _scale(query_scale, "Laplace scale on each query, per unit of its sensitivity", "b_{2}"),
    ),
    privacy=Privacy(claim=Claim.PURE, mechanism=mechanism, needs=(epsilon,)),
    notes=(
        Note(
            "The threshold's noise serves one report only. A variant that goes on after a report, or that has less "
            "noise on the queries, is not covered."
        ),
    ),
)
