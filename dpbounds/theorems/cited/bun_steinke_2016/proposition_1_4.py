r"""From pure privacy to zCDP: an $\varepsilon$-differentially private mechanism is $\frac{\varepsilon^2}{2}$-zCDP."""

from sympy import Expr

from dpbounds.expressions.symbols import Unit, epsilon
from dpbounds.theorems.record import Bound, Metric, Mode, Note, Read, Side, Status, Theorem


def budget() -> Expr:
    return epsilon**2 / 2


THEOREM = Theorem(
    id="cited/bun-steinke-2016/proposition-1.4",
    title="pure privacy implies zCDP",
    statement=__doc__,
    where="Section 1, Proposition 1.4 (proof: Proposition 3.3)",
    metric=Metric.PRIVACY,
    side=Side.UPPER,
    mode=Mode.ALWAYS,
    status=Status.PROVED,
    read=Read.QUOTED,
    parts=(
        Bound(
            formula=budget,
            name="rho",
            unit=Unit(samples=-2),
            meaning="ρ of an ε-private mechanism",
            increasing_in=(epsilon,),
        ),
    ),
    notes=(
        Note(
            "A mechanism whose losses span at most η, such as the exponential mechanism, is (η²/8)-zCDP: four times "
            "less noise than this proposition asks for."
        ),
    ),
)
