r"""Under Assumption 1 the last iterate of DP-GLD has an expected excess population risk (3) of $O\big(e^{\kappa\beta}
\exp(-\tfrac{n^2\varepsilon^2}{\beta \ln(1/\delta) e^{\kappa\beta}}) + \tfrac{(n\varepsilon)^{5/2}}{\beta^{3/4}
T^{1/4} \ln^{5/4}(1/\delta)} + \tfrac{e^{\kappa\beta}}n + \tfrac{d \ln\beta}\beta\big)$, with $e^{\kappa\beta}$ for
the printed $\exp(O(\beta))$.

It takes an initial density that is bounded, positive and has $\int e^{\|w\|^2} p_0 < \infty$, $\beta \ge
\max(4/\lambda, d)$ and $T$ at least of the order of $(L + \lambda)^2 n^2 \varepsilon^2/(\lambda \beta \ln(1/\delta)
G^2)$. The excess empirical risk (4) is bounded without the third term. As $T \to \infty$ the first two terms are at
most of the order of $e^{\kappa\beta} \ln(1/\delta)/(n\varepsilon)^2$.
"""

from sympy import Expr, Max, Rational, exp, log

from dpbounds.expressions.symbols import (
    dataset_size,
    delta,
    dimension,
    epsilon,
    inverse_temperature,
    lipschitz,
    regularisation,
    smoothness,
    steps,
)
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import SAMPLED_RECORDS
from dpbounds.theorems.record import (
    Condition,
    Metric,
    Mode,
    Note,
    Parameter,
    Rate,
    Side,
    Status,
    Theorem,
)
from dpbounds.theorems.wang_chen_xu_2019._assumptions import REGULARISED
from dpbounds.theorems.wang_chen_xu_2019._quantities import GROWTH_RATE, growth_rate

HIDDEN = (lipschitz, smoothness, regularisation)


def _growth() -> Expr:
    return exp(growth_rate * inverse_temperature)


def _mixing() -> Expr:
    return _growth() * exp(-((dataset_size * epsilon) ** 2) / (inverse_temperature * log(1 / delta) * _growth()))


def _discretisation() -> Expr:
    scale = inverse_temperature ** Rational(3, 4) * steps ** Rational(1, 4) * log(1 / delta) ** Rational(5, 4)
    return (dataset_size * epsilon) ** Rational(5, 2) / scale


def _concentration() -> Expr:
    return dimension * log(inverse_temperature) / inverse_temperature


def population() -> Expr:
    return _mixing() + _discretisation() + _growth() / dataset_size + _concentration()


def empirical() -> Expr:
    return _mixing() + _discretisation() + _concentration()


def population_limit() -> Expr:
    fast = _growth() * log(1 / delta) / (dataset_size * epsilon) ** 2
    return fast + _growth() / dataset_size + _concentration()


def least_steps() -> Expr:
    scale = regularisation * inverse_temperature * log(1 / delta) * lipschitz**2
    return ((smoothness + regularisation) * dataset_size * epsilon) ** 2 / scale


def conditions() -> tuple[Condition, ...]:
    return (
        Condition(
            holds=inverse_temperature >= Max(4 / regularisation, dimension),
            why="assumed; λ = 2m for the dissipativity m",
        ),
    )


def long_enough() -> tuple[Condition, ...]:
    return (Condition(holds=steps >= least_steps(), why="η at most of the order of λ/(L + λ)², up to a constant"),)


THEOREM = Theorem(
    id="wang-chen-xu-2019/theorem-2",
    title="excess risk of the last iterate of DP-GLD",
    statement=__doc__,
    where="Section 4, Theorem 2, equations (3) and (4)",
    metric=Metric.EXCESS_POPULATION_RISK,
    side=Side.UPPER,
    mode=Mode.EXPECTATION,
    status=Status.CLAIMED,
    relation=Relation.REPLACE_ONE,
    sampling="full batch",
    assumptions=(REGULARISED, SAMPLED_RECORDS),
    conditions=conditions,
    local=(GROWTH_RATE,),
    parts=(
        Rate(
            formula=population,
            meaning="excess population risk (3)",
            hides=HIDDEN,
            conditions=long_enough,
        ),
        Rate(
            formula=empirical,
            name="empirical",
            meaning="excess empirical risk (4)",
            hides=HIDDEN,
            conditions=long_enough,
        ),
        Rate(
            formula=population_limit,
            name="many_steps",
            meaning="excess population risk as T grows; for the empirical risk leave out exp(κβ)/n",
            hides=HIDDEN,
            increasing_in=(dimension,),
            decreasing_in=(dataset_size, epsilon, delta),
        ),
        Parameter(
            formula=least_steps,
            name="steps",
            meaning="at least as many, up to a constant",
            up_to_constant=True,
            increasing_in=(smoothness, dataset_size, epsilon, delta),
            decreasing_in=(inverse_temperature, lipschitz),
        ),
    ),
    algorithm="wang-chen-xu-2019/algorithm-1",
    relies_on=("wang-chen-xu-2019/theorem-1", "cited/raginsky-et-al-2017/proposition-8"),
    notes=(
        Note(
            "The proof is in a supplement that was not seen. The exponents are those that Raginsky et al. 2017 give: "
            "their discretisation error β^(1/2) η^(1/4) t at time t = ηT of the order of n²ε²/(β ln(1/δ)) is the "
            "second term, and η <= m/(4(L + λ)²) the condition on T."
        ),
        Note(
            "exp(O(β)) occurs several times and need not be the same number; every term grows with κ, so that one κ, "
            "large enough, serves all."
        ),
        Note("β ln β and β >= d mix units: the loss is measured in a fixed unit here."),
    ),
)
