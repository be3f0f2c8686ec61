r"""Ball noise against Gaussian noise of the same covariance, $\sigma^2 = r_u^2/(d+2)$ in each coordinate, so that
bounds on gradient norms that see the noise through its covariance alone are the same. One release at distance
$\Delta_g$ has the total variation $P(|U_1| \le \Delta_g/2r_u)$ with a ball and $P(|Z| \le \Delta_g/2r_u)$, $Z \sim
N(0, 1/(d+2))$, with a Gaussian. In every dimension there is one distance below which the ball's is smaller (by at
most the factor `ratio-at-zero`, 0.72 for $d = 1$ and close to 1 in many dimensions) and above which it is larger. The
ball's $\delta$ is the same at every $\varepsilon$ while the Gaussian's falls to 0: from some $\varepsilon$ on the
Gaussian is better at every distance. Over $T$ releases of the same records the ball's $\delta$ grows like $T$, the
Gaussian's like $\sqrt T$: at small distances the Gaussian is better from two releases on, even at $\varepsilon = 0$.
"""

from sympy import Expr, erf, erfc, exp, loggamma, sqrt

from dpbounds.expressions.symbols import Unit, dimension, distance, epsilon, radius, steps
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.record import Bound, Condition, Metric, Mode, Note, Parameter, Read, Side, Status, Theorem
from dpbounds.theorems.tholeti_kalyani_2020._ball import lost


def ball() -> Expr:
    return lost(distance)


def _shift() -> Expr:
    """The distance in standard deviations."""
    return distance * sqrt(dimension + 2) / radius


def gaussian() -> Expr:
    return erf(_shift() / (2 * sqrt(2)))


def gaussian_at_epsilon() -> Expr:
    above = erfc((epsilon / _shift() - _shift() / 2) / sqrt(2)) / 2
    return above - exp(epsilon) * erfc((epsilon / _shift() + _shift() / 2) / sqrt(2)) / 2


def ball_run() -> Expr:
    return 1 - (1 - ball()) ** steps


def gaussian_run() -> Expr:
    return erf(sqrt(steps) * _shift() / (2 * sqrt(2)))


def ratio_at_zero() -> Expr:
    return sqrt(2 / (dimension + 2)) * exp(loggamma(1 + dimension / 2) - loggamma((1 + dimension) / 2))


def stddev() -> Expr:
    return radius / sqrt(dimension + 2)


def apart() -> tuple[Condition, ...]:
    return (Condition(holds=distance > 0, why="two equal laws have δ = 0"),)


THEOREM = Theorem(
    id="dpbounds/ball-noise-and-gaussian-noise",
    title="ball noise against Gaussian noise of the same covariance",
    statement=__doc__,
    where="derived here; compare Tholeti & Kalyani 2020, Section IV.C",
    metric=Metric.PRIVACY,
    side=Side.TIGHT,
    mode=Mode.ALWAYS,
    status=Status.PROVED_HERE,
    read=Read.HERE,
    relation=Relation.REPLACE_ONE,
    sampling="full batch, or a record that is known",
    parts=(
        Bound(
            formula=ball,
            name="ball",
            meaning="δ of one release with ball noise, at every ε",
            increasing_in=(distance, dimension),
            decreasing_in=(radius,),
        ),
        Bound(
            formula=gaussian,
            name="gaussian",
            meaning="δ of one release with Gaussian noise, at ε = 0",
            increasing_in=(distance, dimension),
            decreasing_in=(radius,),
        ),
        Bound(
            formula=gaussian_at_epsilon,
            name="gaussian-at-epsilon",
            meaning="δ of one release with Gaussian noise, at ε",
            bases=("loss", "length"),
            conditions=apart,
            increasing_in=(distance, dimension),
            decreasing_in=(radius, epsilon),
        ),
        Bound(
            formula=ball_run,
            name="ball-run",
            meaning="δ of T releases with ball noise, at every ε",
            increasing_in=(distance, dimension, steps),
            decreasing_in=(radius,),
        ),
        Bound(
            formula=gaussian_run,
            name="gaussian-run",
            meaning="δ of T releases with Gaussian noise, at ε = 0",
            increasing_in=(distance, dimension, steps),
            decreasing_in=(radius,),
        ),
        Bound(
            formula=ratio_at_zero,
            name="ratio-at-zero",
            meaning="limit of ball over gaussian as the distance goes to 0: below 1, and above 1/√2",
            increasing_in=(dimension,),
        ),
        Parameter(
            formula=stddev,
            name="noise_stddev",
            unit=Unit(1, -1),
            meaning="standard deviation of the Gaussian noise that is compared",
            increasing_in=(radius,),
            decreasing_in=(dimension,),
        ),
    ),
    relies_on=("tholeti-kalyani-2020/equation-6", "tholeti-kalyani-2020/equation-10"),
    derivation="ball_noise_and_gaussian_noise.md",
    notes=(
        Note("The two are equal at Δ/r = 1.733 (d = 1), 1.566 (2), 1.433 (3), 0.971 (10)."),
        Note(
            "From these ε on the Gaussian is better, at distances of 0.02, 0.2 and 1 of its standard deviations: "
            "0.0049, 0.052, 0.316 (d = 1); 0.00012, 0.0013, 0.0077 (d = 100)."
        ),
        Note(
            "d = 100 at 0.02 standard deviations: after 100 releases 0.548 with a ball and 0.080 with a Gaussian, "
            "after 1000 releases 0.9996 and 0.248."
        ),
        Note(
            "Only the case in which both see the same records is compared. On random records, one per step, the "
            "ball's δ is 1/N of this in each step; what the Gaussian's is there depends on ε."
        ),
    ),
)
