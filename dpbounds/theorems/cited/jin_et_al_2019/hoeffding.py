r"""Sums of norm-sub-Gaussian vectors: if $b$ vectors of dimension $d$ have conditional mean 0 and
$P(|x_i| \ge t \mid \text{past}) \le 2 e^{-t^2/2s^2}$, then with probability at least $1 - \zeta$ their sum has norm of
order $s \sqrt{b \ln(2d/\zeta)}$, with an absolute constant; for unequal $s_i$ read $\sum s_i^2$ for $b s^2$. Proof: the
moments of $|x_i|$ bound the exponential moments of the $(d+1) \times (d+1)$ matrix with $x_i$ in its first row and
column, whose largest eigenvalue is $|x_i|$; matrix martingales then have the tail of a Gaussian times $d + 1$.
"""

from sympy import Expr, Symbol, log, sqrt

from dpbounds.expressions.symbols import Quantity, Unit, batch_size, dimension, domain_of, failure_probability
from dpbounds.theorems.record import Metric, Mode, Note, Rate, Read, Side, Status, Theorem

norm_sub_gaussian = Symbol("norm_sub_gaussian", positive=True)
NORM = Quantity(
    name="norm_sub_gaussian",
    symbol=norm_sub_gaussian,
    domain=domain_of(norm_sub_gaussian),
    unit=Unit(1, -1),
    meaning="s of P(|x| >= t) <= 2 exp(-t²/2s²) for one gradient's error",
    latex="s",
)


def rate() -> Expr:
    return norm_sub_gaussian * sqrt(batch_size * log(2 * dimension / failure_probability))


THEOREM = Theorem(
    id="cited/jin-et-al-2019/hoeffding",
    statement=__doc__,
    title="Hoeffding's inequality for norm-sub-Gaussian vectors",
    where="Hoeffding-type inequality; quoted as Lemma 2.4 of Ganesh, Liu, Oh & Thakurta 2023",
    metric=Metric.ESTIMATION_ERROR,
    side=Side.UPPER,
    mode=Mode.PROBABILITY,
    status=Status.PROVED,
    read=Read.QUOTED,
    parts=(
        Rate(
            formula=rate,
            unit=Unit(1, -1),
            meaning="norm of the sum",
            increasing_in=(batch_size, dimension, norm_sub_gaussian),
            decreasing_in=(failure_probability,),
        ),
    ),
    local=(NORM,),
    notes=(
        Note(
            "The s_i have to be fixed in advance. Where they are known only from the past (a step's length, say) the "
            "sum of squares needs a bound of its own."
        ),
        Note("For errors bounded by G a bound without the dimension holds, with constant 2 (Pinelis)."),
    ),
)
