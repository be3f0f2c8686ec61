r"""If the empirical risk on $R^d$, with a public regulariser or without, is $L$-smooth and satisfies the
Polyak-Łojasiewicz inequality $\|\nabla F\|^2 \ge 2\mu(F - \inf F)$, the last iterate of Langevin dynamics $w_k =
w_{k-1} - \eta\nabla F(w_{k-1}) + \sqrt{2\eta/\beta}\, \xi$ with $0 < \eta < 2/L$, $a = 1 - L\eta/2$, has an expected
excess risk of at most $(1 - 2\mu\eta a)^T \Delta_F + \frac{L d}{2\mu\beta a}$.

With $\eta = n^2\rho/(\beta G^2T)$, which keeps $\rho$-zCDP under replace-one if every record's gradient lies within $G$
of one common vector field, and $\beta = \mu n^2\rho/(G^2 \ln n)$, that is at most $\Delta_F n^{-2a} + \frac{L d G^2 \ln
n}{2\mu^2 a\, n^2\rho}$ with $a = 1 - \frac{L \ln n}{2\mu T}$: without metastable wells DP-GLD does attain a power of
$n$.
"""

from sympy import Expr, log, sqrt

from dpbounds.expressions.symbols import (
    Unit,
    dataset_size,
    dimension,
    initial_gap,
    inverse_temperature,
    lipschitz,
    pl_constant,
    rho,
    smoothness,
    step_size,
    steps,
)
from dpbounds.privacy.mechanisms import Gaussian, Mechanism
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import ALL_OF_SPACE, NEAR_A_FIELD, PL, SMOOTH_RISK
from dpbounds.theorems.record import (
    Bound,
    Claim,
    Condition,
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


def risk() -> Expr:
    rest = 1 - smoothness * step_size / 2
    decay = (1 - 2 * pl_constant * step_size * rest) ** steps
    return decay * initial_gap + smoothness * dimension / (2 * pl_constant * inverse_temperature * rest)


def tuned() -> Expr:
    rest = 1 - smoothness * log(dataset_size) / (2 * pl_constant * steps)
    noise = smoothness * dimension * lipschitz**2 * log(dataset_size)
    return initial_gap * dataset_size ** (-2 * rest) + noise / (2 * pl_constant**2 * rest * dataset_size**2 * rho)


def temperature() -> Expr:
    return pl_constant * dataset_size**2 * rho / (lipschitz**2 * log(dataset_size))


def private_step() -> Expr:
    return dataset_size**2 * rho / (inverse_temperature * lipschitz**2 * steps)


def short_steps() -> tuple[Condition, ...]:
    return (Condition(holds=step_size < 2 / smoothness, why="a step decreases the risk on average"),)


def enough_steps() -> tuple[Condition, ...]:
    return (
        Condition(holds=steps > smoothness * log(dataset_size) / (2 * pl_constant), why="a > 0"),
        Condition(holds=dataset_size >= 2, why="ln n > 0"),
    )


def mechanism(at: Numbers) -> Mechanism:
    return Gaussian(at.down(sqrt(2 * steps / rho))) ** at.count(steps)


_LOSS = Unit(loss=1)

THEOREM = Theorem(
    id="dpbounds/langevin-under-pl",
    title="Langevin dynamics under the Polyak-Łojasiewicz inequality",
    statement=__doc__,
    where="derived here; compare Wang, Chen & Xu 2019, Algorithm 1 and Theorem 3",
    metric=Metric.EXCESS_EMPIRICAL_RISK,
    side=Side.UPPER,
    mode=Mode.EXPECTATION,
    status=Status.PROVED_HERE,
    read=Read.HERE,
    relation=Relation.REPLACE_ONE,
    sampling="full batch",
    assumptions=(SMOOTH_RISK, NEAR_A_FIELD, PL, ALL_OF_SPACE),
    parts=(
        Bound(
            formula=risk,
            unit=_LOSS,
            meaning="expected excess empirical risk of the last iterate",
            conditions=short_steps,
            increasing_in=(initial_gap, dimension),
            decreasing_in=(steps, inverse_temperature),
        ),
        Bound(
            formula=tuned,
            name="tuned",
            unit=_LOSS,
            meaning="the same with the temperature and step size below",
            conditions=enough_steps,
            bases=("loss", "length"),
            increasing_in=(initial_gap, dimension, lipschitz),
            decreasing_in=(steps, rho),
        ),
        Parameter(
            formula=temperature,
            name="inverse_temperature",
            unit=Unit(loss=-1),
            meaning="β",
            bases=("loss", "length"),
            increasing_in=(pl_constant, rho),
            decreasing_in=(lipschitz,),
        ),
        Parameter(
            formula=private_step,
            name="step_size",
            unit=Unit(-1, 2),
            meaning="η for a budget ρ",
            increasing_in=(dataset_size, rho),
            decreasing_in=(inverse_temperature, lipschitz, steps),
        ),
    ),
    privacy=Privacy(claim=Claim.ZCDP, mechanism=mechanism, needs=(rho, steps)),
    algorithm="wang-chen-xu-2019/algorithm-1",
    relies_on=("wang-chen-xu-2019/theorem-1/explicit",),
    derivation="langevin_under_pl.md",
    notes=(
        Note(
            "L, μ and Δ_F are those of the whole risk, regulariser included, which cancels where two records are "
            "compared. If the losses are Lipschitz, G is their constant; on all of R^d such a risk satisfies the "
            "inequality only because of its regulariser, if at all."
        ),
        Note(
            "The budget is one for replacing a record. What a single record contributes is not bounded, so nothing is "
            "said about adding or removing one, unless the losses themselves are Lipschitz."
        ),
    ),
)
