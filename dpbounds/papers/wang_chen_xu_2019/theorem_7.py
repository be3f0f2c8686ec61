r"""Under Assumption 4 DP-GD (all iterates are returned) is $(\varepsilon, \delta)$-DP with $\sigma^2 = c_2 G^2 T
\ln(1/\delta)/(n\varepsilon)^2$, where a constant $c_2$ serves $\varepsilon \le a \ln(1/\delta)$; and if $n$ is at least
$\tilde\Omega\big(\sqrt{L B d \ln(1/\delta) \ln(1/\xi)}\, G/(\varepsilon\alpha^2)\big)$ (8), then with $T = \tilde
O(L B/\alpha^2)$ steps of $\eta = 1/L$, with probability $1 - \xi$, one of the iterates is an $\alpha$-SOSP of the
empirical risk.
"""

from dpbounds.papers.wang_chen_xu_2019 import PAPER
from dpbounds.privacy.mechanisms import Gaussian
from dpbounds.theorems.language import SAMPLES, Parameter, Privacy, Rate, Unit, log, q, sqrt

_logs = log(1 / q.delta) * log(1 / q.zeta)
_scale = sqrt(q.L * q.B * q.d * _logs) * q.G / q.epsilon
sample_size = _scale / q.alpha**2
reached = sqrt(_scale / q.n)

THEOREM = PAPER.theorem(
    title="DP-GD passes an approximate local minimum",
    where="Section 5.1, Theorem 7 and equation (8)",
    bounds="sosp, probability",
    status="claimed",
    assumptions="smooth with Lipschitz Hessian, unconstrained",
    parts=(
        Rate(reached, meaning="(8) solved for α: the accuracy that n records allow", logs_hidden=True),
        Rate(sample_size, "sample_size", "(8), as printed: how many records suffice", unit=SAMPLES, logs_hidden=True),
        Parameter(q.L * q.B / q.alpha**2, "steps", "number of steps, up to logarithms", up_to_constant=True),
        Parameter(1 / q.L, "step_size", "η, as printed"),
        Parameter(
            q.c * q.G**2 * q.T * log(1 / q.delta) / (q.n * q.epsilon) ** 2,
            "noise_variance",
            "σ²; c stands for c₂",
            unit=Unit(2, -2),
            up_to_constant=True,
            status="repaired",
        ),
    ),
    privacy=Privacy(
        lambda at: Gaussian(at.down(sqrt(q.c * q.T * log(1 / q.delta)) / q.epsilon)) ** at.count(q.T),
        "epsilon delta T c",
    ),
    algorithm="wang-chen-xu-2019/algorithm-4",
    relies_on="wang-chen-xu-2019/lemma-1 cited/abadi-et-al-2016/theorem-1",
    notes="""
    - The paper has constants for all 0 < ε < c₁T, and none serves that range; c₂ = 6 + 4√2 serves ε <= ln(1/δ): see the
      erratum of wang-xu-2019/theorem-1.
    - The proof is in a supplement that was not seen; only the gradient norms have been rederived here.
    - n is bounded from below only, while the noise, which is what leaves a saddle point, vanishes as n grows: from an
      exact saddle point with negative curvature γ it takes about ln(r/(ησ))/ln(1 + ηγ) steps to come away by r, so the
      logarithms that Õ leaves out of T must contain ln n (or noise that does not depend on n must be added).
    - The paper has 1 - ζ in one place and ξ in the other, and 'ε-SOSP' for α-SOSP after the theorem.
    """,
)
