r"""At a budget of $(\varepsilon, \delta)$ noise along the path, with searches that form no Hessian, returns an
$\alpha$-SOSP with $\alpha = \tilde O((\nu\sqrt{G L \Delta_F})^{2/3} + (\nu L\sqrt{\Delta_F} \rho_H^{-1/4})^{4/5} + \nu
G + (\nu L)^2/\rho_H)$, $\nu = \sqrt{d \ln(1/\delta)}/(\varepsilon n)$, with high probability.
"""

from dpbounds.papers.ours import PAPER
from dpbounds.papers.ours.second_order_path_noise import ASSUMED
from dpbounds.theorems.language import Condition, Rate, Rational, log, q, root, sqrt

noise = sqrt(q.d * log(1 / q.delta)) / (q.epsilon * q.n)

THEOREM = PAPER.theorem(
    id="second-order-path-noise/rate",
    title="the order of a private second-order stationary point",
    where="derived here; compare Ganesh, Liu, Oh & Thakurta 2023, Theorem 4.2, and Xu et al. 2026",
    bounds="sosp, probability",
    status="proved here",
    assumptions=ASSUMED,
    conditions=Condition(q.epsilon <= log(1 / q.delta), "ρ is of the order of ε²/ln(1/δ)"),
    parts=Rate(
        (noise * sqrt(q.G * q.L * q.Delta_F)) ** Rational(2, 3)
        + (noise * q.L * sqrt(q.Delta_F) / root(q.rho_H, 4)) ** Rational(4, 5)
        + noise * q.G
        + (noise * q.L) ** 2 / q.rho_H,
        meaning="α",
        logs_hidden=True,
        bases="loss length",
    ),
    relies_on="dpbounds/second-order-path-noise/iterative",
    derivation="second_order_path_noise.md",
    notes="""
    Each term is the α at which one of the four terms of A_g and A_h is n²ρ, up to logarithms: dGLΔ_F/α³ and dG²/α² of
    the path, and dL²Δ_F ρ_H^(-1/2) α^(-5/2) and dL²/(ρ_H α) of K searches, K of the order of Δ_F ρ_H^(1/2) α^(-3/2) +
    1. ρ is at least ε²/(4(ε + ln(1/δ))), and so ε²/(8 ln(1/δ)) here. For large n the first is left.
    """,
)
