r"""Optimal composition: $T$ releases, each $(\varepsilon_0, \delta_0)$-differentially private (each may depend on what
earlier ones published), are together $\left((T - 2i)\varepsilon_0,\ 1 - (1-\delta_0)^T (1 - \delta_i)\right)$-private
for every $i = 0, \dots, \lfloor T/2 \rfloor$, where
$\delta_i = \sum_{l < i} \binom{T}{l} \left(e^{(T-l)\varepsilon_0} - e^{(T-2i+l)\varepsilon_0}\right) /
(1 + e^{\varepsilon_0})^T$; and some releases with these guarantees attain it. The sum is a difference of two binomial
tails, and recorded as such: $\delta_i = P(X < i) - e^{(T-2i)\varepsilon_0} P(T - X < i)$ for $X$ binomial with
probability $1/(1 + e^{\varepsilon_0})$.
"""

from fractions import Fraction

from sympy import Expr, Piecewise, Symbol, betainc_regularized, exp

from dpbounds.expressions.symbols import Domain, Quantity, Unit, step_epsilon, steps
from dpbounds.theorems.cited.dwork_roth_2014._quantities import STEP_DELTA, step_delta
from dpbounds.theorems.record import Bound, Condition, Metric, Mode, Note, Read, Side, Status, Theorem

flips = Symbol("flips", integer=True, nonnegative=True)
FLIPS = Quantity(
    name="flips",
    symbol=flips,
    domain=Domain(Fraction(0), lower_open=False, whole=True),
    unit=Unit(),
    meaning="which of the ⌊T/2⌋ + 1 points of the curve: i losses of -ε₀ against T - i of +ε₀",
    latex="i",
)


def total_epsilon() -> Expr:
    return (steps - 2 * flips) * step_epsilon


def pure_delta() -> Expr:
    share = 1 / (1 + exp(step_epsilon))
    below = betainc_regularized(steps - flips + 1, flips, 0, 1 - share)
    above = betainc_regularized(steps - flips + 1, flips, 0, share)
    return Piecewise((below - exp(total_epsilon()) * above, flips >= 1), (0, True))


def total_delta() -> Expr:
    return 1 - (1 - step_delta) ** steps * (1 - pure_delta())


def conditions() -> tuple[Condition, ...]:
    return (Condition(holds=2 * flips <= steps, why="i is at most half of T"),)


THEOREM = Theorem(
    id="cited/kairouz-oh-viswanath-2015/theorem-3.3",
    title="optimal composition of equal guarantees",
    statement=__doc__,
    where="Section 3, Theorem 3.3",
    metric=Metric.PRIVACY,
    side=Side.TIGHT,
    mode=Mode.ALWAYS,
    status=Status.PROVED,
    read=Read.QUOTED,
    conditions=conditions,
    parts=(
        Bound(
            formula=total_epsilon,
            name="epsilon",
            unit=Unit(samples=-1),
            meaning="ε of all T releases at the i-th point",
            increasing_in=(steps, step_epsilon),
            decreasing_in=(flips,),
        ),
        Bound(
            formula=pure_delta,
            name="pure-delta",
            meaning="δ_i: what T pure releases leak beyond that ε",
            bases=("loss", "length"),
            increasing_in=(flips,),
        ),
        Bound(
            formula=total_delta,
            name="delta",
            meaning="δ of all T releases at the i-th point",
            bases=("loss", "length"),
            increasing_in=(flips, step_delta),
        ),
    ),
    local=(FLIPS, STEP_DELTA),
    notes=(
        Note(
            "It is optimal for what knows nothing of a release but one (ε₀, δ₀). A Gaussian is known better than that: "
            "its own curve, composed, gives much less."
        ),
        Note("Unequal guarantees: exact values are hard to compute in general; dpbounds.privacy encloses them."),
    ),
)
