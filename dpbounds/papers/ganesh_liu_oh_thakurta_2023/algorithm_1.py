r"""Stochastic Spider: follow an estimate $\nabla_t$ of the gradient with steps of length $\eta = 1/M$. As long as the
squared length travelled since the last fresh estimate (the drift) is below $\kappa$, update the estimate by a query of
the second kind, $\nabla_t = \nabla_{t-1} + O_2(x_t, x_{t-1})$; else take a fresh one, $\nabla_t = O_1(x_t)$, and set
the drift to 0. If the last estimate was small and the last kick is $\Gamma$ steps ago, also take a fresh estimate, and
add $N(0, \zeta_1^2 I_d/d)$ to it (a kick). Return all iterates.

For the guarantees, the drift that is compared with $\kappa$ must include the step that was just taken.
"""

from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import (
    PAPER,
    first_oracle_noise,
    gradient_accuracy,
    second_oracle_noise,
    universal_constant,
)
from dpbounds.theorems.language import GRADIENT, Erratum, Parameter, log, q, sqrt

scale = q.B * q.L * q.d / (q.rho_H * q.zeta)
variance = second_oracle_noise**2 * q.kappa + 4 * first_oracle_noise**2
escape_time = q.L * log(scale / gradient_accuracy) / sqrt(q.rho_H * gradient_accuracy)

THEOREM = PAPER.theorem(
    title="Stochastic Spider",
    where="Section 3, Algorithm 1",
    bounds="sosp",
    status="repaired",
    assumptions="Lipschitz, smooth, Hessian-Lipschitz, bounded range, norm-sub-Gaussian oracles, unconstrained",
    parts=(
        Parameter(
            sqrt(4 * universal_constant * variance * log(scale)),
            "gradient_accuracy",
            "γ, with an absolute constant C",
            unit=GRADIENT,
            bases="",
        ),
        Parameter(escape_time, "escape_steps", "Γ", bases=""),
        Parameter(q.B * q.L * log(scale / gradient_accuracy) ** 4 / gradient_accuracy**2, "steps", "T", bases=""),
        Parameter(
            gradient_accuracy * log(scale) ** 3,
            "small-estimate",
            "norm of an estimate up to which a kick is due",
            unit=GRADIENT,
            bases="",
        ),
        Parameter(1 / q.L, "step_size", "η"),
    ),
    errata=(
        Erratum(
            printed="line 9 compares drift_{t-1} with κ",
            right="drift_t: drift_{t-1} lacks the step from x_{t-1} to x_t, so that O₂ is asked right after a step "
            "of any length (up to about G/M), and Lemma 3.3 does not hold",
            severity="typo",
            evidence="test_algorithm_1.py::test_line_9_as_printed_misses_the_last_step",
            where="Algorithm 1, line 9",
            survives="everything, with drift_t; drift₀ = κ in line 4 shows that this was meant",
        ),
        Erratum(
            printed="the kick of line 8 is N(0, ζ₁²I/d)",
            right="Lemma 3.4, which is applied to it, has N(0, γ²I/(d log(d/ω))), whose variance is larger by a "
            "factor of γ²/(ζ₁² log(d/ω)), at least 16C log(BMd/(ρω))/log(d/ω)",
            severity="constant",
            evidence="test_algorithm_1.py::test_the_two_kicks_differ",
            where="Algorithm 1, line 8, and Lemma 3.4",
            survives="all results that do not concern saddle points",
        ),
        Erratum(
            printed="logarithms of BMd/(ρω) and dMB/(ργω)",
            right="a number without units: BM/ρ is a loss times a length, and BM/(ργ) a squared length, so that T "
            "and γ depend on the units in which parameters are measured; for ρ >= BMd/ω, γ is not real",
            severity="harmless",
            evidence="test_algorithm_1.py::test_logarithms_depend_on_units",
            where="Algorithm 1, lines 2, 3 and 6",
            survives="the orders of growth in n, d and φ",
        ),
    ),
    notes="""
    - γ² has the factor 4C and log(BMd/(ρω)) here, 16C and log(Td/ω) in Lemma 3.3. With 4C errors are at most γ/2, not
      γ/4, which is still enough for both sides of Lemma 3.5.
    - The kick of line 8 takes a fresh estimate each time: it costs privacy like line 10, which the count of Lemma 3.7
      leaves out; see ganesh-liu-oh-thakurta-2023/theorem-4.2.
    - Section 1.2 adds the drift up from the step that led to the fresh estimate; the algorithm, and the proof, from the
      one after it.
    - The loop runs while t <= T, and {x_1, ..., x_T} is returned; steps are counted from 0 to T - 1 here.
    """,
)
