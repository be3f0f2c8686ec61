r"""DP-GLD with step $\eta = n^2 \rho/(\beta G^2 T)$, $\sqrt\rho = \sqrt{\ln(1/\delta) + \varepsilon} -
\sqrt{\ln(1/\delta)}$, is $(\varepsilon, \delta)$-DP under replace-one for all $\varepsilon > 0$ and $0 < \delta < 1$,
even if all iterates are released. In the paper's form, $\eta = c\, n^2\varepsilon^2/(G^2\beta T \ln(1/\delta))$ with
$c = (1 + \sqrt{1 + \varepsilon/\ln(1/\delta)})^{-2}$: 1/4 for small $\varepsilon$, $3 - 2\sqrt2 = 0.17$ at
$\varepsilon = \ln(1/\delta)$.

Proof: a step is $-\eta(\nabla \hat F^r + e)$ with $e \sim N(0, \frac2{\eta\beta} I)$. A replaced record moves the
mean gradient by at most $2G/n$, and the regulariser depends on none, so a step is $\frac{(2G/n)^2 \eta\beta}{4}$-zCDP
and $T$ of them are $\frac{G^2 \eta \beta T}{n^2} = \rho$. That this $\rho$ gives $(\varepsilon, \delta)$ is
wang-xu-2019/theorem-1/explicit, and $\rho \ln(1/\delta)/\varepsilon^2 = c$ because $\sqrt\rho\,(\sqrt{\ln(1/\delta) +
\varepsilon} + \sqrt{\ln(1/\delta)}) = \varepsilon$. The time of the diffusion is $\eta T = n^2\rho/(\beta G^2)$.
"""

from dpbounds.papers.wang_chen_xu_2019 import PAPER
from dpbounds.papers.wang_xu_2019.theorem_1_explicit import budget
from dpbounds.privacy.mechanisms import Gaussian
from dpbounds.theorems.language import Parameter, Privacy, Unit, log, q, sqrt

THEOREM = PAPER.theorem(
    title="privacy of DP-GLD, with its constant",
    where="derived here; compare Theorem 1 and Algorithm 1",
    bounds="privacy, upper",
    assumptions="regularised Lipschitz loss",
    parts=(
        Parameter(
            q.n**2 * budget / (q.beta * q.G**2 * q.T), "step_size", "η", bases="loss length", increasing_in="epsilon"
        ),
        Parameter(
            1 / (1 + sqrt(1 + q.epsilon / log(1 / q.delta))) ** 2,
            "step_constant",
            "c in the printed form of η that suffices at these ε and δ",
            bases="loss length",
        ),
        Parameter(
            q.n**2 * budget / (q.beta * q.G**2),
            "diffusion_time",
            "ηT",
            unit=Unit(-1, 2),
            bases="loss length",
            increasing_in="epsilon",
        ),
    ),
    privacy=Privacy(lambda at: Gaussian(at.down(sqrt(2 * q.T / budget))) ** at.count(q.T), "epsilon delta T"),
    algorithm="wang-chen-xu-2019/algorithm-1",
)
