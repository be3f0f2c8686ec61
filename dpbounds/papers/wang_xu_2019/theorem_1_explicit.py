r"""$T$ Gaussian releases of the mean gradient with variance $\sigma^2 = 2 G^2 T / (n^2 \rho)$, $\sqrt\rho =
\sqrt{\ln(1/\delta) + \varepsilon} - \sqrt{\ln(1/\delta)}$, are $(\varepsilon, \delta)$-DP under replace-one for all
$\varepsilon > 0$ and $0 < \delta < 1$. In the form of the paper, $\sigma^2 = c\, G^2 T \ln(1/\delta) / (n^2
\varepsilon^2)$ with $c = 2 (1 + \sqrt{1 + \varepsilon/\ln(1/\delta)})^2$: 8 for small $\varepsilon$, $6 + 4\sqrt2 =
11.66$ up to $\varepsilon = \ln(1/\delta)$.

Proof: a replaced record moves the mean gradient by at most $2G/n$, so $T$ releases are $\rho$-zCDP with $\rho = T
(2G/n)^2 / 2\sigma^2$ (Bun & Steinke 2016), and $\rho + 2\sqrt{\rho \ln(1/\delta)} = \varepsilon$ for this $\rho$. The
second form is $1/\sqrt\rho = (\sqrt{\ln(1/\delta) + \varepsilon} + \sqrt{\ln(1/\delta)})/\varepsilon$. The certified
accountant needs 1.4 to 4.6 times less variance for $\varepsilon$ between 0.1 and 5.
"""

from dpbounds.papers.wang_xu_2019 import PAPER
from dpbounds.privacy.mechanisms import Gaussian
from dpbounds.theorems.language import PURE, Parameter, Privacy, Unit, log, q, sqrt

budget = (sqrt(log(1 / q.delta) + q.epsilon) - sqrt(log(1 / q.delta))) ** 2

THEOREM = PAPER.theorem(
    title="noise of DP-PGD, with its constant",
    where="derived here; compare Theorem 1, step 3 of Algorithm 1 and the text after Theorem 2",
    bounds="privacy, upper",
    assumptions="Lipschitz",
    parts=(
        Parameter(
            2 * q.G**2 * q.T / (q.n**2 * budget),
            "noise_variance",
            "σ² on each coordinate of the mean gradient",
            unit=Unit(2, -2),
            bases="loss length",
            decreasing_in="epsilon delta",
        ),
        Parameter(
            2 * (1 + sqrt(1 + q.epsilon / log(1 / q.delta))) ** 2,
            "noise_constant",
            "the constant c of the paper that suffices at these ε and δ",
            bases="loss length",
        ),
        Parameter(budget, "rho", "the zCDP budget", unit=PURE, bases="loss length", increasing_in="epsilon"),
    ),
    privacy=Privacy(lambda at: Gaussian(at.down(sqrt(2 * q.T / budget))) ** at.count(q.T), "epsilon delta T"),
    algorithm="wang-xu-2019/algorithm-1",
)
