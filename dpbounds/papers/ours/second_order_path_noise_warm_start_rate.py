r"""At a budget of $(\varepsilon, \delta)$ the exponential mechanism on a net of a compact set of diameter $D$, then
noise along the path with searches that form no Hessian, returns with high probability an $\alpha$-SOSP with $\alpha =
\tilde O((G^2LD\sqrt d)^{1/3} \nu + (L^2GD)^{2/5} \rho_H^{-1/5} d^{1/5} \nu^{6/5} + L^2 \nu^2/\rho_H + G\nu)$, $\nu =
\sqrt{d \ln(1/\delta)}/(\varepsilon n)$.
"""

from dpbounds.papers.ours import PAPER, second_order_path_noise_warm_start_iterative as explicit
from dpbounds.papers.ours.second_order_path_noise_rate import noise
from dpbounds.theorems.language import Condition, Rate, Rational, log, q, sqrt

path = (q.G**2 * q.L * q.D * sqrt(q.d)) ** Rational(1, 3) * noise + q.G * noise
order = (
    path
    + (q.L**2 * q.G * q.D) ** Rational(2, 5) * (q.d / q.rho_H) ** Rational(1, 5) * noise ** Rational(6, 5)
    + q.L**2 * noise**2 / q.rho_H
)

THEOREM = PAPER.theorem(
    id="second-order-path-noise/warm-start/rate",
    title="the order of a private second-order stationary point, from a good point",
    where="derived here; compare Lowy, Ullman & Wright 2024, Corollary 4.4",
    bounds="sosp, probability",
    status="proved here",
    assumptions=explicit.THEOREM.assumptions,
    conditions=Condition(q.epsilon <= log(1 / q.delta), "ρ is of the order of ε²/ln(1/δ)"),
    parts=Rate(order, meaning="α", logs_hidden=True, bases="loss length"),
    relies_on="dpbounds/second-order-path-noise/warm-start/iterative",
    derivation="second_order_path_noise.md",
    notes="""
    - With ψ of the order of GDd/(n√ρ) for Δ_F, each term is the α at which one of the four terms of A_g and A_h is n²ρ,
      up to logarithms: GLψd/α³, dL²ψ ρ_H^(-1/2) α^(-5/2), dL²/(ρ_H α) and dG²/α². The first is left where n√ρ is large:
      d^(2/3)/(n√ρ). The searches decide only up to n√ρ = d^(2/3), at constants 1.
    - Beyond α = L²/ρ_H no curvature is too low, and no search is needed.
    - In the assumption on the set, ε stands for ε_E.
    """,
)
