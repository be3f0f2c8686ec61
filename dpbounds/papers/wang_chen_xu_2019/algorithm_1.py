r"""DP-GLD, gradient Langevin dynamics: from $w_0$ (fixed, or drawn from a density), for $k = 1, \dots, T$ step to
$w_k = w_{k-1} - \eta \nabla \hat F^r(w_{k-1}) + \sqrt{2\eta/\beta}\, \xi$ with $\xi \sim N(0, I_d)$ and $\eta = c\,
n^2 \varepsilon^2 / (G^2 \beta T \ln(1/\delta))$, $c = 1/c_2^2$ for the $c_2$ of Lemma 1; return $w_T$ (Theorem 2) or
$w_j$ with $j$ uniform (Theorem 3).

The noise is gradient noise of variance $2/(\eta\beta)$, and the budget fixes the time $\eta T$ of the diffusion,
independently of $T$.
"""

from dpbounds.papers.wang_chen_xu_2019 import PAPER
from dpbounds.privacy.mechanisms import Gaussian, Mechanism
from dpbounds.theorems.language import Erratum, Numbers, Parameter, Privacy, Unit, log, q, sqrt


def mechanism(at: Numbers) -> Mechanism:
    return Gaussian(at.down(q.c * sqrt(2 * q.T * log(1 / q.delta)) / q.epsilon)) ** at.count(q.T)


THEOREM = PAPER.theorem(
    title="DP-GLD, private Langevin dynamics",
    where="Section 4, Algorithm 1, equations (1) and (2)",
    bounds="excess-empirical-risk",
    status="proved",
    assumptions="regularised Lipschitz loss",
    parts=(
        Parameter(
            (q.n * q.epsilon / (q.c * q.G)) ** 2 / (q.beta * q.T * log(1 / q.delta)),
            "step_size",
            "η, with c = 1/c₂² and c₂ given as noise_constant",
            up_to_constant=True,
        ),
        Parameter(
            2 * (q.c * q.G / (q.n * q.epsilon)) ** 2 * q.T * log(1 / q.delta),
            "noise_variance",
            "2/(ηβ): variance of the noise as seen by the mean gradient",
            unit=Unit(2, -2),
            up_to_constant=True,
        ),
        Parameter(
            (q.n * q.epsilon / (q.c * q.G)) ** 2 / (q.beta * log(1 / q.delta)),
            "diffusion_time",
            "ηT: how long the Langevin diffusion runs, whatever T is",
            unit=Unit(-1, 2),
            up_to_constant=True,
        ),
    ),
    privacy=Privacy(mechanism, "epsilon delta T c"),
    errata=Erratum(
        printed="c = 1/c₂²",
        right="c = 2/c₂² already gives gradient noise of the standard deviation that Lemma 1 asks for: the printed "
        "step doubles the variance",
        severity="harmless",
        evidence="test_algorithm_1.py::test_the_printed_step_doubles_the_variance",
        where="Algorithm 1, line 2",
        survives="everything: the noise is larger than needed",
    ),
    notes="""
    - Line 4 of the text at hand has the gradient without the superscript r of the regulariser, which may be lost; (1)
      has it, and the Gibbs distribution needs it. It depends on no record, and costs no privacy.
    - `spent` accounts for all iterates together; the step size that suffices is in theorem-1/explicit.
    """,
)
