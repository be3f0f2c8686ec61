r"""Under Assumption 4 there are constants $c_1, c_2$ such that for $0 < \varepsilon < c_1 T$ DP-GD (all iterates are
returned) is $(\varepsilon, \delta)$-DP with $\sigma^2 = c_2 G^2 T \ln(1/\delta)/(n\varepsilon)^2$; and if $n$ is at
least $\tilde\Omega\big(\sqrt{L B d \ln(1/\delta) \ln(1/\xi)}\, G/(\varepsilon\alpha^2)\big)$ (8), then with $T = \tilde
O(L B/\alpha^2)$ steps of $\eta = 1/L$, with probability $1 - \xi$, one of the iterates is an $\alpha$-SOSP of the
empirical risk.
"""

from sympy import Expr, log, sqrt

from dpbounds.expressions.symbols import (
    Unit,
    dataset_size,
    delta,
    dimension,
    epsilon,
    failure_probability,
    lipschitz,
    loss_range,
    noise_constant,
    smoothness,
    stationarity,
)
from dpbounds.expressions.symbols import (
    steps as iterations,
)
from dpbounds.privacy.mechanisms import Gaussian, Mechanism
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import UNCONSTRAINED
from dpbounds.theorems.record import (
    Claim,
    Metric,
    Mode,
    Note,
    Parameter,
    Privacy,
    Rate,
    Side,
    Status,
    Theorem,
)
from dpbounds.theorems.spending import Numbers
from dpbounds.theorems.wang_chen_xu_2019._assumptions import SECOND_ORDER


def _logs() -> Expr:
    return log(1 / delta) * log(1 / failure_probability)


def _scale() -> Expr:
    return sqrt(smoothness * loss_range * dimension * _logs()) * lipschitz / epsilon


def sample_size() -> Expr:
    return _scale() / stationarity**2


def reached() -> Expr:
    return sqrt(_scale() / dataset_size)


def steps() -> Expr:
    return smoothness * loss_range / stationarity**2


def step() -> Expr:
    return 1 / smoothness


def variance() -> Expr:
    return noise_constant * lipschitz**2 * iterations * log(1 / delta) / (dataset_size * epsilon) ** 2


def mechanism(at: Numbers) -> Mechanism:
    return Gaussian(at.down(sqrt(noise_constant * iterations * log(1 / delta)) / epsilon)) ** at.count(iterations)


THEOREM = Theorem(
    id="wang-chen-xu-2019/theorem-7",
    title="DP-GD passes an approximate local minimum",
    statement=__doc__,
    where="Section 5.1, Theorem 7 and equation (8)",
    metric=Metric.SOSP,
    side=Side.UPPER,
    mode=Mode.PROBABILITY,
    status=Status.CLAIMED,
    relation=Relation.REPLACE_ONE,
    sampling="full batch",
    assumptions=(SECOND_ORDER, UNCONSTRAINED),
    parts=(
        Rate(
            formula=reached,
            unit=Unit(1, -1),
            meaning="(8) solved for α: what n records reach",
            logs_hidden=True,
            increasing_in=(smoothness, loss_range, dimension, lipschitz),
            decreasing_in=(dataset_size, epsilon, delta, failure_probability),
        ),
        Rate(
            formula=sample_size,
            name="sample_size",
            unit=Unit(samples=1),
            meaning="(8), as printed: how many records suffice",
            logs_hidden=True,
            increasing_in=(smoothness, loss_range, dimension, lipschitz),
            decreasing_in=(epsilon, stationarity, delta, failure_probability),
        ),
        Parameter(
            formula=steps,
            name="steps",
            meaning="number of steps, up to logarithms",
            up_to_constant=True,
            increasing_in=(smoothness, loss_range),
            decreasing_in=(stationarity,),
        ),
        Parameter(
            formula=step, name="step_size", unit=Unit(-1, 2), meaning="η, as printed", decreasing_in=(smoothness,)
        ),
        Parameter(
            formula=variance,
            name="noise_variance",
            unit=Unit(2, -2),
            meaning="σ²; c stands for c₂",
            up_to_constant=True,
            increasing_in=(lipschitz, iterations, noise_constant),
            decreasing_in=(dataset_size, epsilon, delta),
        ),
    ),
    privacy=Privacy(claim=Claim.APPROXIMATE, mechanism=mechanism, needs=(epsilon, delta, iterations, noise_constant)),
    algorithm="wang-chen-xu-2019/algorithm-4",
    relies_on=("wang-chen-xu-2019/lemma-1", "cited/abadi-et-al-2016/theorem-1"),
    notes=(
        Note(
            "Its range of ε is too wide, too; here c₂ = 6 + 4√2 serves ε <= ln(1/δ): see the erratum of "
            "wang-xu-2019/theorem-1."
        ),
        Note("The proof is in a supplement that was not seen; only the gradient norms have been rederived here."),
        Note(
            "n is bounded from below only, while the noise, which is what leaves a saddle point, vanishes as n grows: "
            "from an exact saddle point with negative curvature γ it takes about ln(r/(ησ))/ln(1 + ηγ) steps to come "
            "away by r, so the logarithms that Õ leaves out of T must contain ln n (or noise that does not depend on n "
            "must be added)."
        ),
        Note("Print has 1 - ζ in one place and ξ in the other, and 'ε-SOSP' for α-SOSP after the theorem."),
    ),
)
