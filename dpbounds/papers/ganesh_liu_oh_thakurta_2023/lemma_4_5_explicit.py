r"""Fix a point, and let $n$ records be independent draws. With probability at least $1 - \omega$, $\|\nabla F_S -
\nabla F_P\| \le \frac G{\sqrt n}(1 + \sqrt{2\ln(2/\omega)})$, and $\|\nabla^2 F_S - \nabla^2 F_P\|_{op} \le
M\sqrt{2l/n} + \frac{4 M l}{3n}$ with $l = \ln(4d/\omega)$.

Proof. Gradient: $E\|\nabla F_S - \nabla F_P\| \le \sqrt{E\|\nabla f\|^2/n} \le G/\sqrt n$, and one record changes the
norm by at most $2G/n$: McDiarmid's inequality, with failure $\omega/2$. Hessian: $X_i = \nabla^2 f(x, z_i) - \nabla^2
F_P(x)$ has $\|X_i\| \le 2M$ and $E X_i^2 \preceq E(\nabla^2 f)^2 \preceq M^2 I$, so that $\sigma^2 \le nM^2$; the
matrix Bernstein inequality $2d\exp(-\frac{t^2}{2(\sigma^2 + 2Mt/3)})$ is at most $\omega/2$ for $t = \sqrt{2\sigma^2
l} + \frac43 Ml$.
"""

from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import PAPER
from dpbounds.theorems.language import CURVATURE, GRADIENT, Bound, Rational, log, q, sqrt

exponent = log(4 * q.d / q.zeta)

THEOREM = PAPER.theorem(
    title="sample and population at one point, with constants",
    bounds="generalisation-gap, probability",
    sampling="i.i.d.",
    assumptions="Lipschitz, smooth, i.i.d. records",
    parts=(
        Bound(
            q.G / sqrt(q.n) * (1 + sqrt(2 * log(2 / q.zeta))),
            "gradient",
            "distance of the gradients; the dimension does not enter",
            unit=GRADIENT,
            bases="loss length",
        ),
        Bound(
            q.L * (sqrt(2 * exponent / q.n) + Rational(4, 3) * exponent / q.n),
            "hessian",
            "distance of the Hessians in operator norm",
            unit=CURVATURE,
            bases="loss length",
        ),
    ),
    relies_on="ganesh-liu-oh-thakurta-2023/theorem-a.6",
    notes="The matrix Bernstein inequality is used with its factor 2d: for a norm, both signs count.",
)
