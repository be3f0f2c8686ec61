r"""Let the empirical risk $F$ be $\mu$-PL on all of $R^d$, every record's loss $L$-smooth, and every record's gradient
within $G$ of one common vector field, which nobody needs to know. Run full-batch DP-SPIDER in $J$ stages. A stage makes
$T \ge 4L/\mu$ steps of size $1/(2L)$: one noisy gradient, then $T - 1$ noisy gradient differences; it ends in a
uniformly drawn one of its first $T$ iterates, where the next stage begins. With $\sigma_1 = \frac{2G}{n}\sqrt{J/\rho}$,
$\sigma_2 = \frac{2L}{n}\sqrt{(T-1)J/\rho}$ everything is $\rho$-zCDP under replace-one, and if $d (T-1)^2 \le
n^2\rho/(2J)$, $$E F(w_J) - \inf F \le 2^{-J} \Delta_F + \frac{4 d G^2 J}{\mu n^2 \rho}, \qquad E |\nabla F(w_J)| \le
\sqrt{2\mu 2^{-J} \Delta_F + \frac{8 d G^2 J}{n^2\rho}}.$$ After $J \approx \log_2(\mu \Delta_F n^2 \rho/(d G^2))$
stages that is of order $G \sqrt d/(n \sqrt\rho)$, which is optimal up to logarithms (on $|w|^2/2 + \langle z, w\rangle$
it is the estimation of a mean), for $L/\mu$ up to the order of $n\sqrt\rho/\sqrt d$.
"""

from fractions import Fraction

from sympy import Expr, Symbol, ceiling, log, sqrt

from dpbounds.expressions.symbols import (
    Domain,
    Quantity,
    Unit,
    dataset_size,
    dimension,
    initial_gap,
    lipschitz,
    pl_constant,
    rho,
    smoothness,
    steps,
)
from dpbounds.privacy.mechanisms import Composed, Gaussian, Mechanism
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import BOUNDED_RISK, NEAR_A_FIELD, PL, SMOOTH, UNCONSTRAINED
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

stages = Symbol("stages", integer=True, positive=True)
STAGES = Quantity(
    name="stages",
    symbol=stages,
    domain=Domain(Fraction(1), lower_open=False, whole=True),
    unit=Unit(),
    meaning="number of times that DP-SPIDER is restarted",
    latex="J",
)


def statistical() -> Expr:
    return 4 * dimension * lipschitz**2 * stages / (dataset_size**2 * rho)


def gradient() -> Expr:
    return sqrt(2 * pl_constant * initial_gap / 2**stages + 2 * statistical())


def gap() -> Expr:
    return initial_gap / 2**stages + statistical() / pl_constant


def steps_of_a_stage() -> Expr:
    return ceiling(4 * smoothness / pl_constant)


def good_number_of_stages() -> Expr:
    per_stage = dataset_size**2 * rho / (dimension * lipschitz**2)
    return log(pl_constant * initial_gap * per_stage) / log(2)


def gradient_noise() -> Expr:
    return 2 * lipschitz / dataset_size * sqrt(stages / rho)


def difference_noise() -> Expr:
    return 2 * smoothness / dataset_size * sqrt((steps - 1) * stages / rho)


def step() -> Expr:
    return 1 / (2 * smoothness)


def conditions() -> tuple[Condition, ...]:
    return (
        Condition(holds=steps * pl_constant >= 4 * smoothness, why="a stage halves the gap"),
        Condition(
            holds=2 * stages * dimension * (steps - 1) ** 2 <= dataset_size**2 * rho,
            why="the noise of the differences is paid for by the descent",
        ),
    )


def mechanism(at: Numbers) -> Mechanism:
    first = at.down(2 * sqrt(stages / rho))
    differences = at.down(2 * sqrt((steps - 1) * stages / rho))
    stage = Composed(((Gaussian(first), 1), (Gaussian(differences), at.count(steps) - 1)))
    return stage ** at.count(stages)


_GRADIENT = Unit(1, -1)

THEOREM = Theorem(
    id="dpbounds/polyak-lojasiewicz-restarted-spider",
    title="restarted DP-SPIDER under the Polyak-Łojasiewicz inequality",
    statement=__doc__,
    where="derived here; compare Lowy, Ullman & Wright 2024, the example after Corollary 6.3",
    metric=Metric.GRADIENT_NORM,
    side=Side.UPPER,
    mode=Mode.EXPECTATION,
    status=Status.PROVED_HERE,
    read=Read.HERE,
    relation=Relation.REPLACE_ONE,
    sampling="full batch",
    assumptions=(NEAR_A_FIELD, SMOOTH, PL, BOUNDED_RISK, UNCONSTRAINED),
    parts=(
        Bound(
            formula=gradient,
            unit=_GRADIENT,
            meaning="root mean square norm of the empirical gradient after J stages",
            conditions=conditions,
            increasing_in=(lipschitz, dimension, initial_gap),
            decreasing_in=(dataset_size, rho),
        ),
        Bound(
            formula=gap,
            name="excess_risk",
            unit=Unit(loss=1),
            meaning="mean excess empirical risk after J stages",
            conditions=conditions,
            increasing_in=(lipschitz, dimension, initial_gap),
            decreasing_in=(dataset_size, rho, pl_constant),
        ),
        Parameter(
            formula=steps_of_a_stage,
            name="steps",
            meaning="T of one stage",
            increasing_in=(smoothness,),
            decreasing_in=(pl_constant,),
        ),
        Parameter(
            formula=good_number_of_stages,
            name="stages",
            meaning="J at which both terms of the bound are of one order; round up, at least 1",
            increasing_in=(pl_constant, initial_gap, dataset_size, rho),
            decreasing_in=(dimension, lipschitz),
        ),
        Parameter(
            formula=gradient_noise,
            name="noise_stddev",
            unit=_GRADIENT,
            meaning="σ₁ on each coordinate of the first gradient of a stage",
            increasing_in=(stages, lipschitz),
            decreasing_in=(dataset_size, rho),
        ),
        Parameter(
            formula=difference_noise,
            name="difference_noise_stddev",
            unit=Unit(1, -2),
            meaning="σ₂: noise of a difference, per distance of the two iterates",
            increasing_in=(stages, steps, smoothness),
            decreasing_in=(dataset_size, rho),
        ),
        Parameter(formula=step, name="step_size", unit=Unit(-1, 2), meaning="η", decreasing_in=(smoothness,)),
    ),
    local=(STAGES,),
    privacy=Privacy(claim=Claim.ZCDP, mechanism=mechanism, needs=(rho, steps, stages)),
    algorithm="lowy-ullman-wright-2024/algorithm-1",
    derivation="polyak_lojasiewicz_restarted_spider.md",
    notes=(
        Note(
            "The inequality is used at every iterate, which may lie anywhere: PL on a ball alone is not enough, unless "
            "the iterates are known to stay in it."
        ),
        Note(
            "J and T are public: choose them from an upper bound on the initial gap, never from the realised one. "
            "The noise of a difference may be capped at 2Gσ₂/L, which costs no privacy."
        ),
        Note(
            "On all of R^d no risk but a constant is both Lipschitz and PL. Tilted records are an example of what is "
            "assumed here: a common function plus linear terms of norm at most G. Whether the mean is PL is a "
            "statement about the data at hand, and a tilt may undo it where the function is not convex."
        ),
        Note(
            "The budget is one for replacing a record: what a single record contributes is not bounded, so nothing is "
            "said about adding or removing one, unless the losses themselves are Lipschitz."
        ),
    ),
)
