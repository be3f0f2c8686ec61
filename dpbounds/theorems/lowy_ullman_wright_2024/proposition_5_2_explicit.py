r"""DP-SGD for a $q_c$-quasar-convex risk with $\|w_1 - w^*\| \le D$, $T$ steps of size $D/\sqrt{T(G^2 + d\sigma^2)}$
and output uniform on the iterates: $E F(\hat w) - \inf F \le D \sqrt{G^2 + d \sigma^2}/(q_c \sqrt T)$. On the full
batch with $\sigma^2 = 2 G^2 T/(n^2 \rho)$ it is $\rho$-zCDP under replace-one, and the bound is $\frac{GD}{q_c}
\sqrt{1/T + 2d/(n^2 \rho)}$; from $T \ge n^2 \rho/(2d)$ on at most $2GD\sqrt d/(q_c n \sqrt\rho)$. At the noise and
the $T$ of print it is at most $\sqrt{1001}\, GDA/q_c$, $A = \sqrt{d \ln(1/\delta)}/(\varepsilon n)$.

The proof is in the Markdown file beside the code.
"""

from sympy import Expr, ceiling, log, sqrt

from dpbounds.expressions.symbols import (
    Unit,
    dataset_size,
    delta,
    diameter,
    dimension,
    epsilon,
    lipschitz,
    noise_stddev,
    quasar_convexity,
    rho,
    steps,
)
from dpbounds.privacy.mechanisms import Gaussian, Mechanism
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import LIPSCHITZ, QUASAR_CONVEX
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
    return diameter * sqrt(lipschitz**2 + dimension * noise_stddev**2) / (quasar_convexity * sqrt(steps))


def zcdp_bound() -> Expr:
    inside = 1 / steps + 2 * dimension / (dataset_size**2 * rho)
    return lipschitz * diameter / quasar_convexity * sqrt(inside)


def tuned() -> Expr:
    return 2 * lipschitz * diameter * sqrt(dimension) / (quasar_convexity * dataset_size * sqrt(rho))


def as_prescribed() -> Expr:
    ratio = sqrt(dimension * log(1 / delta)) / (epsilon * dataset_size)
    return sqrt(1001) * lipschitz * diameter * ratio / quasar_convexity


def step_size() -> Expr:
    return diameter / sqrt(steps * (lipschitz**2 + dimension * noise_stddev**2))


def enough_steps() -> Expr:
    return ceiling(dataset_size**2 * rho / (2 * dimension))


def mechanism(at: Numbers) -> Mechanism:
    return Gaussian(at.down(sqrt(2 * steps / rho))) ** at.count(steps)


THEOREM = Theorem(
    id="lowy-ullman-wright-2024/proposition-5.2/explicit",
    title="quasar-convex risks, with constants",
    statement=__doc__,
    where="derived here; compare Proposition 5.2 (D.1) and Algorithm 3",
    metric=Metric.EXCESS_EMPIRICAL_RISK,
    side=Side.UPPER,
    mode=Mode.EXPECTATION,
    status=Status.PROVED_HERE,
    read=Read.HERE,
    relation=Relation.REPLACE_ONE,
    sampling="full batch (for the privacy; the bound holds for any unbiased batch)",
    assumptions=(LIPSCHITZ, QUASAR_CONVEX),
    parts=(
        Bound(
            formula=bound,
            unit=Unit(loss=1),
            meaning="for noise of standard deviation σ, whatever it spends",
            increasing_in=(lipschitz, diameter, dimension, noise_stddev),
            decreasing_in=(quasar_convexity, steps),
        ),
        Bound(
            formula=zcdp_bound,
            name="zcdp",
            unit=Unit(loss=1),
            meaning="for the noise of a ρ-zCDP budget on the full batch",
            bases=("loss", "length"),  # 1/T does not scale with the copies of a record
            increasing_in=(lipschitz, diameter, dimension),
            decreasing_in=(quasar_convexity, steps, dataset_size, rho),
        ),
        Bound(
            formula=tuned,
            name="tuned",
            unit=Unit(loss=1),
            meaning="the same with enough steps",
            increasing_in=(lipschitz, diameter, dimension),
            decreasing_in=(quasar_convexity, dataset_size, rho),
        ),
        Bound(
            formula=as_prescribed,
            name="as_prescribed",
            unit=Unit(loss=1),
            meaning="at the noise that print prescribes and T = ceil(ε²n²/(d ln(1/δ)))",
            increasing_in=(lipschitz, diameter, dimension),
            decreasing_in=(quasar_convexity, dataset_size, epsilon, delta),
        ),
        Parameter(
            formula=step_size,
            name="step_size",
            unit=Unit(-1, 2),
            meaning="step size",
            decreasing_in=(steps, noise_stddev),
        ),
        Parameter(
            formula=enough_steps,
            name="steps",
            meaning="steps after which the tuned bound holds",
            increasing_in=(dataset_size, rho),
            decreasing_in=(dimension,),
        ),
    ),
    privacy=Privacy(claim=Claim.ZCDP, mechanism=mechanism, needs=(rho, steps)),
    algorithm="lowy-ullman-wright-2024/algorithm-3",
    makes_explicit="lowy-ullman-wright-2024/proposition-5.2",
    derivation="proposition_5_2_explicit.md",
    notes=(
        Note(
            "Quasar-convexity is needed wherever the iterates go, that is on R^d; projecting onto the ball of radius D "
            "around the first iterate keeps the proof, and then it is needed on that ball only."
        ),
    ),
)
