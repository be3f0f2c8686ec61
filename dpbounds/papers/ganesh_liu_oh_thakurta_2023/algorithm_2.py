r"""AboveThreshold for stationary points: given $N$ points, add $\mathrm{Lap}(\frac{4G}{n\varepsilon}) + \frac{16
G\ln(2N/ \omega)}{n\varepsilon}$ to $\alpha$ once, and $\mathrm{Lap}(\frac{4M}{n\varepsilon}) - \frac{16
M\ln(2N/\omega)}{n \varepsilon}$ to $-\sqrt{\rho\alpha}$ once. Return the first point at which the gradient's norm plus
$\mathrm{Lap}(\frac{8G}{n\varepsilon})$ is at most the first threshold, and the smallest eigenvalue of the Hessian plus
$\mathrm{Lap}(\frac{8M}{n\varepsilon})$ is at least the second.

The proof has to shift both thresholds for one neighbour, so that each test spends a budget of its own: $\varepsilon/2$
each if a record is added or removed ($n$ public), $\varepsilon$ each if one is replaced.
"""

from functools import partial

from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import PAPER
from dpbounds.privacy.mechanisms import Mechanism, PureDP
from dpbounds.theorems.language import CURVATURE, GRADIENT, Numbers, Parameter, Privacy, log, q

unit_noise = 4 / (q.n * q.epsilon)
gradient_threshold = unit_noise * q.G
curvature_threshold = unit_noise * q.L


def mechanism(at: Numbers) -> Mechanism:
    # per test: threshold noise 4/(nε) and query noise 8/(nε) per unit of G or M, for a sensitivity of factor/n:
    # factor (ε/4 + 2 ε/8); the two tests add up, because both thresholds shift in the proof of AboveThreshold
    return PureDP(at.relation.sensitivity_factor * at[q.epsilon], relation=at.relation)


of_gradients = partial(Parameter, unit=GRADIENT)
of_curvatures = partial(Parameter, unit=CURVATURE)

THEOREM = PAPER.theorem(
    title="AboveThreshold for stationary points",
    where="Appendix C, Algorithm 2",
    bounds="sosp",
    status="proved",
    assumptions="Lipschitz, smooth",
    parts=(
        of_gradients(gradient_threshold, "gradient-threshold-noise", "Laplace scale on the gradient's threshold"),
        of_curvatures(curvature_threshold, "curvature-threshold-noise", "Laplace scale on the curvature's threshold"),
        of_gradients(2 * gradient_threshold, "gradient-noise", "Laplace scale on each gradient norm"),
        of_curvatures(2 * curvature_threshold, "curvature-noise", "Laplace scale on each smallest eigenvalue"),
        of_gradients(4 * gradient_threshold * log(2 * q.N / q.zeta), "gradient-offset", "what is added to α"),
        of_curvatures(
            4 * curvature_threshold * log(2 * q.N / q.zeta), "curvature-offset", "number subtracted from -√(ρα)"
        ),
    ),
    privacy=Privacy(mechanism, "epsilon"),
    notes="""
    - The paper states the privacy of Algorithm 2 in Lemma 4.1. The ε given there is right if a record is added or
      removed; if one is replaced, 2ε is spent (see the erratum there).
    - One test of the larger of the two scaled quantities spends half of that, and is more accurate:
      ganesh-liu-oh-thakurta-2023/lemma-4.1/explicit.
    """,
)
