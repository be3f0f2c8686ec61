r"""Fix a point, and let $n$ records be independent draws. With probability at least $1 - \omega$, $\|\nabla F_S -
\nabla F_P\| \le \frac G{\sqrt n}(1 + \sqrt{2\ln(2/\omega)})$, and $\|\nabla^2 F_S - \nabla^2 F_P\|_{op} \le
M\sqrt{2l/n} + \frac{4 M l}{3n}$ with $l = \ln(4d/\omega)$.

Proof. Gradient: $E\|\nabla F_S - \nabla F_P\| \le \sqrt{E\|\nabla f\|^2/n} \le G/\sqrt n$, and one record changes the
norm by at most $2G/n$: McDiarmid's inequality, with failure $\omega/2$. Hessian: $X_i = \nabla^2 f(x, z_i) - \nabla^2
F_P(x)$ has $\|X_i\| \le 2M$ and $E X_i^2 \preceq E(\nabla^2 f)^2 \preceq M^2 I$, so that $\sigma^2 \le nM^2$; the
matrix Bernstein inequality $2d\exp(-\frac{t^2}{2(\sigma^2 + 2Mt/3)})$ is at most $\omega/2$ for $t = \sqrt{2\sigma^2
l} + \frac43 Ml$.
"""

from sympy import Expr, Rational, log, sqrt

from dpbounds.expressions.symbols import Unit, dataset_size, dimension, failure_probability, lipschitz, smoothness
from dpbounds.theorems.assumptions import LIPSCHITZ, SAMPLED_RECORDS, SMOOTH
from dpbounds.theorems.record import Bound, Metric, Mode, Note, Read, Side, Status, Theorem


def gradient() -> Expr:
    return lipschitz / sqrt(dataset_size) * (1 + sqrt(2 * log(2 / failure_probability)))


def hessian() -> Expr:
    exponent = log(4 * dimension / failure_probability)
    return smoothness * (sqrt(2 * exponent / dataset_size) + Rational(4, 3) * exponent / dataset_size)


_BASES = ("loss", "length")
_LESS = (failure_probability, dataset_size)

THEOREM = Theorem(
    id="ganesh-liu-oh-thakurta-2023/lemma-4.5/explicit",
    title="sample and population at one point, with constants",
    statement=__doc__,
    where="derived here; compare Lemma 4.5",
    metric=Metric.GENERALISATION_GAP,
    side=Side.UPPER,
    mode=Mode.PROBABILITY,
    status=Status.PROVED_HERE,
    read=Read.HERE,
    sampling="i.i.d.",
    assumptions=(LIPSCHITZ, SMOOTH, SAMPLED_RECORDS),
    parts=(
        Bound(
            formula=gradient,
            name="gradient",
            unit=Unit(1, -1),
            meaning="distance of the gradients; the dimension does not enter",
            bases=_BASES,
            increasing_in=(lipschitz,),
            decreasing_in=_LESS,
        ),
        Bound(
            formula=hessian,
            name="hessian",
            unit=Unit(1, -2),
            meaning="distance of the Hessians in operator norm",
            bases=_BASES,
            increasing_in=(smoothness, dimension),
            decreasing_in=_LESS,
        ),
    ),
    makes_explicit="ganesh-liu-oh-thakurta-2023/lemma-4.5",
    relies_on=("ganesh-liu-oh-thakurta-2023/theorem-a.6",),
    notes=(Note("The matrix Bernstein inequality is used with its factor 2d: for a norm, both signs count."),),
)
