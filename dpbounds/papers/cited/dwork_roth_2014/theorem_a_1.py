r"""The Gaussian mechanism: for $0 < \varepsilon < 1$ and an answer that neighbours change by at most $\Delta$ in $l_2$,
noise of standard deviation $\sigma \ge \sqrt{2 \ln(1.25/\delta)}\, \Delta / \varepsilon$ in each coordinate makes its
release $(\varepsilon, \delta)$-differentially private. It rests on the tail bound
$P(x > t) \le \frac{\sigma}{t \sqrt{2\pi}} e^{-t^2/2\sigma^2}$ of a Gaussian.
"""

from dpbounds.papers.cited.dwork_roth_2014 import PAPER
from dpbounds.privacy.mechanisms import Gaussian
from dpbounds.theorems.language import SAMPLES, Condition, Parameter, Privacy, Rational, log, q, sqrt

noise = sqrt(2 * log(Rational(5, 4) / q.delta)) / q.epsilon

THEOREM = PAPER.theorem(
    title="noise of the Gaussian mechanism",
    where="Appendix A, Theorem A.1 (also Theorem 3.22)",
    bounds="privacy, upper, always",
    status="proved",
    conditions=Condition(q.epsilon < 1, "range of the theorem"),
    parts=Parameter(noise, "noise_multiplier", "standard deviation per unit of the sensitivity", unit=SAMPLES),
    privacy=Privacy(lambda at: Gaussian(noise_stddev=at.down(noise), sensitivity=1), "epsilon delta"),
    notes="""
    - The range ε < 1 is often left out. The formula is enough somewhat beyond it, and fails from ε = 4.47 (δ = 1/2),
      6.77 (1e-2), 7.46 (1e-3), 8.42 (1e-5) on.
    - The least noise that suffices is smaller at every ε: the accountant computes it exactly.
    """,
)
