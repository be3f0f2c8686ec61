r"""Ball noise against Gaussian noise of the same covariance, $\sigma^2 = r_u^2/(d+2)$ in each coordinate, so that
bounds on gradient norms that depend on the noise through its covariance alone are the same. One release at distance
$\Delta_g$ has the total variation $P(|U_1| \le \Delta_g/2r_u)$ with a ball and $P(|Z| \le \Delta_g/2r_u)$,
$Z \sim N(0, 1/(d+2))$, with a Gaussian. In every dimension there is one distance below which the ball's is smaller (by
at most the factor `ratio-at-zero`, 0.72 for $d = 1$ and close to 1 in many dimensions) and above which it is larger.
The ball's $\delta$ is the same at every $\varepsilon$ while the Gaussian's falls to 0: from some $\varepsilon$ on the
Gaussian is better at every distance. Over $T$ releases of the same records the ball's $\delta$ grows like $T$, the
Gaussian's like $\sqrt T$: at small distances the Gaussian is better from two releases on, even at $\varepsilon = 0$.
"""

from sympy import loggamma

from dpbounds.papers.ours import PAPER
from dpbounds.papers.tholeti_kalyani_2020._ball import lost
from dpbounds.theorems.language import Bound, Condition, Parameter, erf, erfc, exp, q, sqrt

ball = lost(q.Delta_g)
_shift = q.Delta_g * sqrt(q.d + 2) / q.r_u
above = erfc((q.epsilon / _shift - _shift / 2) / sqrt(2)) / 2

THEOREM = PAPER.theorem(
    title="ball noise against Gaussian noise of the same covariance",
    where="derived here; compare Tholeti & Kalyani 2020, Section IV.C",
    bounds="privacy, tight, always",
    status="proved here",
    sampling="full batch, or a record that is known",
    parts=(
        Bound(
            ball, "ball", "δ of one release with ball noise, at every ε", increasing_in="Delta_g d", decreasing_in="r_u"
        ),
        Bound(erf(_shift / (2 * sqrt(2))), "gaussian", "δ of one release with Gaussian noise, at ε = 0"),
        Bound(
            above - exp(q.epsilon) * erfc((q.epsilon / _shift + _shift / 2) / sqrt(2)) / 2,
            "gaussian-at-epsilon",
            "δ of one release with Gaussian noise, at ε",
            conditions=Condition(q.Delta_g > 0, "two equal distributions have δ = 0"),
            bases="loss length",
            increasing_in="Delta_g d",
            decreasing_in="r_u epsilon",
        ),
        Bound(
            1 - (1 - ball) ** q.T,
            "ball-run",
            "δ of T releases with ball noise, at every ε",
            increasing_in="Delta_g d T",
            decreasing_in="r_u",
        ),
        Bound(erf(sqrt(q.T) * _shift / (2 * sqrt(2))), "gaussian-run", "δ of T releases with Gaussian noise, at ε = 0"),
        Bound(
            sqrt(2 / (q.d + 2)) * exp(loggamma(1 + q.d / 2) - loggamma((1 + q.d) / 2)),
            "ratio-at-zero",
            "limit of ball over gaussian as the distance goes to 0: below 1, and above 1/√2",
            increasing_in="d",
        ),
        Parameter(q.r_u / sqrt(q.d + 2), "noise_stddev", "standard deviation of the Gaussian noise that is compared"),
    ),
    relies_on="tholeti-kalyani-2020/equation-6 tholeti-kalyani-2020/equation-10",
    derivation="ball_noise_and_gaussian_noise.md",
    notes="""
    - The two are equal at Δ/r = 1.733 (d = 1), 1.566 (2), 1.433 (3), 0.971 (10).
    - From these ε on the Gaussian is better, at distances of 0.02, 0.2 and 1 of its standard deviations: 0.0049, 0.052,
      0.316 (d = 1); 0.00012, 0.0013, 0.0077 (d = 100).
    - d = 100 at 0.02 standard deviations: after 100 releases 0.548 with a ball and 0.080 with a Gaussian, after 1000
      releases 0.9996 and 0.248.
    - Only the case in which both see the same records is compared. On random records, one per step, the ball's δ is 1/N
      of this in each step; the Gaussian's depends on ε.
    """,
)
