r"""DP-GLD with step $\eta = n^2 \rho/(\beta G^2 T)$, $\sqrt\rho = \sqrt{\ln(1/\delta) + \varepsilon} -
\sqrt{\ln(1/\delta)}$, is $(\varepsilon, \delta)$-DP under replace-one for all $\varepsilon > 0$ and $0 < \delta < 1$,
even if all iterates are released. In the form of print, $\eta = c\, n^2\varepsilon^2/(G^2\beta T \ln(1/\delta))$ with
$c = (1 + \sqrt{1 + \varepsilon/\ln(1/\delta)})^{-2}$: 1/4 for small $\varepsilon$, $3 - 2\sqrt2 = 0.17$ at
$\varepsilon = \ln(1/\delta)$.

Proof: a step is $-\eta(\nabla \hat F^r + e)$ with $e \sim N(0, \frac2{\eta\beta} I)$. A replaced record moves the
mean gradient by at most $2G/n$, and the regulariser depends on none, so a step is $\frac{(2G/n)^2 \eta\beta}{4}$-zCDP
and $T$ of them are $\frac{G^2 \eta \beta T}{n^2} = \rho$. That this $\rho$ gives $(\varepsilon, \delta)$ is
wang-xu-2019/theorem-1/explicit, and $\rho \ln(1/\delta)/\varepsilon^2 = c$ because $\sqrt\rho\,(\sqrt{\ln(1/\delta) +
\varepsilon} + \sqrt{\ln(1/\delta)}) = \varepsilon$. The time of the diffusion is $\eta T = n^2\rho/(\beta G^2)$.
"""

from sympy import Expr, log, sqrt

from dpbounds.expressions.symbols import (
    Unit,
    dataset_size,
    delta,
    epsilon,
    inverse_temperature,
    lipschitz,
    steps,
)
from dpbounds.privacy.mechanisms import Gaussian, Mechanism
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.record import Claim, Metric, Parameter, Privacy, Read, Side, Status, Theorem
from dpbounds.theorems.spending import Numbers
from dpbounds.theorems.wang_chen_xu_2019._assumptions import REGULARISED
from dpbounds.theorems.wang_xu_2019.theorem_1_explicit import budget


def step() -> Expr:
    return dataset_size**2 * budget() / (inverse_temperature * lipschitz**2 * steps)


def constant() -> Expr:
    return 1 / (1 + sqrt(1 + epsilon / log(1 / delta))) ** 2


def diffusion_time() -> Expr:
    return dataset_size**2 * budget() / (inverse_temperature * lipschitz**2)


def mechanism(at: Numbers) -> Mechanism:
    return Gaussian(at.down(sqrt(2 * steps / budget()))) ** at.count(steps)


_BASES = ("loss", "length")

THEOREM = Theorem(
    id="wang-chen-xu-2019/theorem-1/explicit",
    title="privacy of DP-GLD, with its constant",
    statement=__doc__,
    where="derived here; compare Theorem 1 and Algorithm 1",
    metric=Metric.PRIVACY,
    side=Side.UPPER,
    status=Status.PROVED_HERE,
    read=Read.HERE,
    relation=Relation.REPLACE_ONE,
    sampling="full batch",
    assumptions=(REGULARISED,),
    parts=(
        Parameter(
            formula=step,
            name="step_size",
            unit=Unit(-1, 2),
            meaning="η",
            bases=_BASES,
            increasing_in=(dataset_size, epsilon, delta),
            decreasing_in=(inverse_temperature, lipschitz, steps),
        ),
        Parameter(
            formula=constant,
            name="step_constant",
            meaning="c in the printed form of η that suffices at these ε and δ",
            bases=_BASES,
            decreasing_in=(epsilon, delta),
        ),
        Parameter(
            formula=diffusion_time,
            name="diffusion_time",
            unit=Unit(-1, 2),
            meaning="ηT",
            bases=_BASES,
            increasing_in=(dataset_size, epsilon, delta),
            decreasing_in=(inverse_temperature, lipschitz),
        ),
    ),
    privacy=Privacy(claim=Claim.APPROXIMATE, mechanism=mechanism, needs=(epsilon, delta, steps)),
    algorithm="wang-chen-xu-2019/algorithm-1",
    makes_explicit="wang-chen-xu-2019/theorem-1",
)
