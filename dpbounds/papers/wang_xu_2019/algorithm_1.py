r"""DP-PGD: for $k = 1, \dots, T$ step to $x_{k+1} = \arg\min_{u \in C} \langle \nabla F(x_k) + e_k, u \rangle + \|u -
x_k\|^2/2\gamma_k + r(u)$ with $e_k \sim N(0, \sigma^2 I_d)$, and return $x_R$, $R$ uniform on $1, \dots, T$. The
noise is that of Theorem 1, or (step 3) is computed from the $\rho$ with $\rho + 2\sqrt{\rho \ln(1/\delta)} =
\varepsilon$.
"""

from dpbounds.papers.wang_xu_2019 import PAPER
from dpbounds.privacy.mechanisms import Gaussian
from dpbounds.theorems.language import PURE, Erratum, Parameter, Privacy, Unit, log, q, sqrt

budget = (sqrt(log(1 / q.delta) + q.epsilon) - sqrt(log(1 / q.delta))) ** 2
printed_variance = 2 * q.L**2 * q.T / (q.n**2 * q.rho**2)

THEOREM = PAPER.theorem(
    title="DP-PGD",
    where="Low Dimension Case, Algorithm 1",
    bounds="projected-gradient-norm",
    status="repaired",
    assumptions="smooth risk, Lipschitz, closed convex set, convex regulariser",
    parts=(
        Parameter(
            budget, "rho", "the zCDP budget of step 3, solved", unit=PURE, bases="loss length", increasing_in="epsilon"
        ),
        Parameter(
            2 * q.G**2 * q.T / (q.n**2 * q.rho),
            "noise_variance",
            "repaired: T Gaussian releases of sensitivity 2G/n cost T(2G/n)²/(2σ²) = ρ",
            unit=Unit(2, -2),
        ),
    ),
    privacy=Privacy(
        lambda at: Gaussian(at.down(sqrt(printed_variance.subs(q.rho, budget)) * q.n / q.G)) ** at.count(q.T),
        "epsilon delta T n G L",
    ),
    errata=Erratum(
        printed="step 3: σ² = 2L²T/(n²ρ²), with L the smoothness",
        right="σ² = 2G²T/(n²ρ), with G the Lipschitz constant: two misprints in one line, of which the text after "
        "Theorem 2 has the power of ρ right. Followed to the letter, the noise vanishes for linear losses, and "
        "is too small for ρ > 1, that is ε > 1 + 2√ln(1/δ) (6.26 at δ = 1e-3, 7.79 at 1e-5)",
        severity="typo",
        evidence="test_algorithm_1.py::test_the_printed_noise_vanishes_for_linear_losses",
        where="Algorithm 1, step 3",
        survives="everything, with the noise of the text; for L >= G and ρ <= 1 the printed one is merely larger",
        relation="replace-one",
    ),
    notes="""
    - `spent` accounts for the noise as printed in step 3. The constant that suffices is in
      wang-xu-2019/theorem-1/explicit; the accounting covers the release of all iterates.
    - The experiments choose the step size 'as in TFOCS' because it 'does not affect privacy': true for steps that do
      not depend on the data. A step found by backtracking on values of F that are not private needs a budget of its
      own.
    - The proximal step for r = λ‖·‖₁ on a centred l2 ball is soft thresholding followed by radial projection.
    """,
)
