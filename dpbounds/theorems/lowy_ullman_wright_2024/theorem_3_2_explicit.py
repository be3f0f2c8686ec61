r"""DP-SPIDER on the full batch from the output $w_0$ of any private algorithm with $E F(w_0) - \inf F \le \psi$,
$\psi$ public: with parameters set from $\psi$ and a budget of $\rho$ for this second half, and $a = \sqrt d/(n
\sqrt\rho)$, $E \|\nabla F(\hat w)\| \le \sqrt6\, 2^{1/3} (\sqrt{L \psi G}\, a)^{2/3} + 2Ga + 2\sqrt6\, G a^2$.

Proof: the argument for `lemma-3.1/explicit` uses of $w_0$ only a bound on $E F(w_0) - \inf F$, and its parameters
depend on that bound alone. The budgets of the two halves add.
"""

from sympy import Expr

from dpbounds.expressions.symbols import (
    Unit,
    dataset_size,
    dimension,
    excess_risk,
    lipschitz,
    rho,
    smoothness,
)
from dpbounds.privacy.mechanisms import Mechanism
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import BOUNDED_RISK, LIPSCHITZ, SMOOTH, UNCONSTRAINED
from dpbounds.theorems.lowy_ullman_wright_2024 import _spider
from dpbounds.theorems.lowy_ullman_wright_2024._assumptions import WARM_START_MEAN
from dpbounds.theorems.record import (
    Bound,
    Claim,
    Metric,
    Mode,
    Note,
    Parameter,
    Privacy,
    Read,
    Side,
    Status,
    Theorem,
)
from dpbounds.theorems.spending import Numbers


def bound() -> Expr:
    return _spider.bound(excess_risk, rho)


def prescribed_bound() -> Expr:
    return _spider.prescribed_bound(excess_risk, rho)


def steps() -> Expr:
    return _spider.steps(excess_risk, rho)


def mechanism(at: Numbers) -> Mechanism:
    return _spider.mechanism(at, excess_risk, rho)


THEOREM = Theorem(
    id="lowy-ullman-wright-2024/theorem-3.2/explicit",
    title="stationarity after a warm start, with constants",
    statement=__doc__,
    where="derived here; compare Theorem 3.2",
    metric=Metric.GRADIENT_NORM,
    side=Side.UPPER,
    mode=Mode.EXPECTATION,
    status=Status.PROVED_HERE,
    read=Read.HERE,
    relation=Relation.REPLACE_ONE,
    sampling="full batch",
    assumptions=(LIPSCHITZ, SMOOTH, BOUNDED_RISK, UNCONSTRAINED, WARM_START_MEAN),
    parts=(
        Bound(
            formula=bound,
            unit=Unit(1, -1),
            increasing_in=(dimension, lipschitz, smoothness, excess_risk),
            decreasing_in=(dataset_size, rho),
        ),
        Bound(
            formula=prescribed_bound,
            name="prescribed",
            unit=Unit(1, -1),
            meaning="the sharper bound at the rounded parameters",
        ),
        Parameter(formula=steps, name="steps", meaning="number of steps", increasing_in=(excess_risk, smoothness)),
    ),
    privacy=Privacy(
        claim=Claim.ZCDP, mechanism=mechanism, needs=(rho, dataset_size, dimension, lipschitz, smoothness, excess_risk)
    ),
    algorithm="lowy-ullman-wright-2024/algorithm-2",
    relies_on=("lowy-ullman-wright-2024/lemma-3.1/explicit",),
    makes_explicit="lowy-ullman-wright-2024/theorem-3.2",
    derivation="theorem_3_2_explicit.md",
    notes=(
        Note("ρ and what is accounted for are those of the second half; the first half comes on top."),
        Note("If F(w₀) - inf F <= ψ holds with probability 1 - ζ only, add ζG."),
    ),
)
