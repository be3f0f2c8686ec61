r"""DP-SPIDER on the full batch, tuned to a public bound $\Delta_F$ on $E F(w_0) - \inf F$, is $\rho$-zCDP under
replace-one, and with $a = \sqrt d/(n \sqrt\rho)$ its output has $E \|\nabla F(\hat w)\| \le \sqrt6\, 2^{1/3} (\sqrt{L
\Delta_F G}\, a)^{2/3} + 2Ga + 2\sqrt6\, G a^2$. Step size $1/(2L)$; $T = \lceil T^* \rceil$ steps, $T^* = (L
\Delta_F/(4 G^2 a^4))^{1/3}$; an anchor every $1 + \lfloor 1/(2 T a^2) \rfloor$ steps; half of the budget for the
anchors.

The leading constant is 3.0862, and the last term is the first divided by $T^*$. The proof is in the Markdown file
beside the code.
"""

from sympy import Expr, sqrt

from dpbounds.expressions.symbols import (
    Unit,
    dataset_size,
    dimension,
    initial_gap,
    lipschitz,
    rho,
    smoothness,
)
from dpbounds.privacy.mechanisms import Mechanism
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import BOUNDED_RISK, LIPSCHITZ, SMOOTH, UNCONSTRAINED
from dpbounds.theorems.lowy_ullman_wright_2024 import _spider
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
    return _spider.bound(initial_gap, rho)


def prescribed_bound() -> Expr:
    return _spider.prescribed_bound(initial_gap, rho)


def steps() -> Expr:
    return _spider.steps(initial_gap, rho)


def anchor_period() -> Expr:
    return _spider.anchor_period(steps(), rho)


def step_size() -> Expr:
    return 1 / (2 * smoothness)


def noise_stddev() -> Expr:
    return sqrt(_spider.anchor_variance(initial_gap, rho))


def difference_noise_stddev() -> Expr:
    return sqrt(_spider.difference_variance(initial_gap, rho))


def mechanism(at: Numbers) -> Mechanism:
    return _spider.mechanism(at, initial_gap, rho)


THEOREM = Theorem(
    id="lowy-ullman-wright-2024/lemma-3.1/explicit",
    title="stationarity of DP-SPIDER, with constants",
    statement=__doc__,
    where="derived here; compare Lemma 3.1",
    metric=Metric.GRADIENT_NORM,
    side=Side.UPPER,
    mode=Mode.EXPECTATION,
    status=Status.PROVED_HERE,
    read=Read.HERE,
    relation=Relation.REPLACE_ONE,
    sampling="full batch",
    assumptions=(LIPSCHITZ, SMOOTH, BOUNDED_RISK, UNCONSTRAINED),
    parts=(
        Bound(
            formula=bound,
            unit=Unit(1, -1),
            increasing_in=(dimension, lipschitz, smoothness, initial_gap),
            decreasing_in=(dataset_size, rho),
        ),
        Bound(
            formula=prescribed_bound,
            name="prescribed",
            unit=Unit(1, -1),
            meaning="the sharper bound at the rounded parameters; its last steps are estimated in the first part",
        ),
        Parameter(formula=steps, name="steps", meaning="number of steps", increasing_in=(initial_gap, smoothness)),
        Parameter(formula=anchor_period, name="anchor_period", meaning="steps from one anchor to the next"),
        Parameter(formula=step_size, name="step_size", unit=Unit(-1, 2), meaning="step size"),
        Parameter(
            formula=noise_stddev,
            name="noise_stddev",
            unit=Unit(1, -1),
            meaning="σ₁ of an anchor",
        ),
        Parameter(
            formula=difference_noise_stddev,
            name="difference_noise_stddev",
            unit=Unit(1, -2),
            meaning="σ₂ of a difference, per distance of the two iterates (0 where every step is an anchor)",
        ),
    ),
    privacy=Privacy(
        claim=Claim.ZCDP,
        mechanism=mechanism,
        needs=(rho, dataset_size, dimension, lipschitz, smoothness, initial_gap),
    ),
    algorithm="lowy-ullman-wright-2024/algorithm-1",
    relies_on=("lowy-ullman-wright-2024/algorithm-1/explicit",),
    makes_explicit="lowy-ullman-wright-2024/lemma-3.1",
    derivation="lemma_3_1_explicit.md",
    notes=(
        Note(
            "(ε, δ)-DP with ρ = (√(ln(1/δ) + ε) - √ln(1/δ))²; the certified accountant allows less noise. The noise of "
            "a difference may be capped at 2Gσ₂/L at no cost."
        ),
        Note("Printed as a rate only; no condition on n is needed (see the erratum of Lemma 3.1)."),
    ),
)
