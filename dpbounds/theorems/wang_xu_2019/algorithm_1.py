r"""DP-PGD: for $k = 1, \dots, T$ step to $x_{k+1} = \arg\min_{u \in C} \langle \nabla F(x_k) + e_k, u \rangle + \|u -
x_k\|^2/2\gamma_k + r(u)$ with $e_k \sim N(0, \sigma^2 I_d)$, and return $x_R$, $R$ uniform on $1, \dots, T$. The
noise is that of Theorem 1, or (step 3) is computed from the $\rho$ with $\rho + 2\sqrt{\rho \ln(1/\delta)} =
\varepsilon$.
"""

from sympy import Expr, log, sqrt

from dpbounds.expressions.symbols import (
    Unit,
    dataset_size,
    delta,
    epsilon,
    lipschitz,
    rho,
    smoothness,
    steps,
)
from dpbounds.privacy.mechanisms import Gaussian, Mechanism
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import CLOSED_CONVEX_SET, CONVEX_REGULARISER, LIPSCHITZ, SMOOTH_RISK
from dpbounds.theorems.record import (
    Claim,
    Erratum,
    Metric,
    Note,
    Parameter,
    Privacy,
    Severity,
    Status,
    Theorem,
)
from dpbounds.theorems.spending import Numbers


def budget() -> Expr:
    return (sqrt(log(1 / delta) + epsilon) - sqrt(log(1 / delta))) ** 2


def variance() -> Expr:
    return 2 * lipschitz**2 * steps / (dataset_size**2 * rho)


def printed_variance() -> Expr:
    return 2 * smoothness**2 * steps / (dataset_size**2 * rho**2)


def mechanism(at: Numbers) -> Mechanism:
    return Gaussian(at.down(sqrt(printed_variance().subs(rho, budget())) * dataset_size / lipschitz)) ** at.count(steps)


THEOREM = Theorem(
    id="wang-xu-2019/algorithm-1",
    title="DP-PGD",
    statement=__doc__,
    where="Low Dimension Case, Algorithm 1",
    metric=Metric.PROJECTED_GRADIENT_NORM,
    status=Status.REPAIRED,
    relation=Relation.REPLACE_ONE,
    sampling="full batch",
    assumptions=(SMOOTH_RISK, LIPSCHITZ, CLOSED_CONVEX_SET, CONVEX_REGULARISER),
    parts=(
        Parameter(
            formula=budget,
            name="rho",
            meaning="the zCDP budget of step 3, solved",
            bases=("loss", "length"),
            increasing_in=(epsilon, delta),
        ),
        Parameter(
            formula=variance,
            name="noise_variance",
            unit=Unit(2, -2),
            meaning="repaired: T Gaussian releases of sensitivity 2G/n cost T(2G/n)²/(2σ²) = ρ",
            increasing_in=(steps, lipschitz),
            decreasing_in=(dataset_size, rho),
        ),
    ),
    privacy=Privacy(
        claim=Claim.APPROXIMATE,
        mechanism=mechanism,
        needs=(epsilon, delta, steps, dataset_size, lipschitz, smoothness),
    ),
    errata=(
        Erratum(
            printed="step 3: σ² = 2L²T/(n²ρ²), with L the smoothness",
            right="σ² = 2G²T/(n²ρ), with G the Lipschitz constant: two misprints in one line, of which the text after "
            "Theorem 2 has the power of ρ right. Followed to the letter, the noise vanishes for linear losses, "
            "and is too "
            "small for ρ > 1, that is ε > 1 + 2√ln(1/δ) (6.26 at δ = 1e-3, 7.79 at 1e-5)",
            severity=Severity.TYPO,
            evidence="test_algorithm_1.py::test_the_printed_noise_vanishes_for_linear_losses",
            where="Algorithm 1, step 3",
            survives="everything, with the noise of the text; for L >= G and ρ <= 1 the printed one is merely larger",
            relation=Relation.REPLACE_ONE,
        ),
    ),
    notes=(
        Note(
            "`spent` accounts for the noise as printed in step 3. The constant that suffices is in "
            "wang-xu-2019/theorem-1/explicit; releasing all iterates is what is accounted for."
        ),
        Note(
            "The experiments choose the step size 'as in TFOCS' because it 'does not affect privacy': true for "
            "steps that "
            "do not depend on the data. A step found by backtracking on values of F that are not private needs a "
            "budget of "
            "its own."
        ),
        Note(
            "The proximal step for r = λ‖·‖₁ on a centred l2 ball is soft thresholding followed by radial projection."
        ),
    ),
)
