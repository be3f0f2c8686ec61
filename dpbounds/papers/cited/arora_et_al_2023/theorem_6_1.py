r"""Generalised linear losses, by random projection: a private method for $k$ parameters that guarantees a gradient
norm $g(k)$ is run on features projected to $k$ dimensions, and its output is mapped back; the population gradient
then has expected norm of order $G/\sqrt n + g(k) + G/\sqrt k$ for features of norm 1 (the last term drops out once
$k$ exceeds the rank of the features, up to a logarithm). With private SpiderBoost as the method, $g(k) = (\sqrt k /
n\varepsilon)^{2/3}$: for rank $r$ this is of order $\frac{1}{\sqrt n} + \min\left(\left(\frac{\sqrt
r}{n\varepsilon}\right)^{2/3}, \frac{1}{(n\varepsilon)^{2/5}}\right)$, whatever the dimension.
"""

from dpbounds.papers.cited.arora_et_al_2023 import PAPER
from dpbounds.theorems.language import Min, Parameter, Rate, Rational, q, sqrt

ranked = (sqrt(q.r) / (q.n * q.epsilon)) ** Rational(2, 3)

THEOREM = PAPER.theorem(
    title="generalised linear losses by random projection",
    where="Theorem 6.1 and the abstract; quoted as Lemma 8.1 of Lowy, Ullman & Wright 2024, version 1",
    bounds="population-gradient-norm, expectation",
    status="claimed",
    assumptions="Lipschitz, smooth, generalised linear, i.i.d. records",
    parts=(
        Rate(
            1 / sqrt(q.n) + Min(ranked, (q.n * q.epsilon) ** Rational(-2, 5)),
            meaning="norm of the population gradient",
            logs_hidden=True,
            hides="G L Delta_F",
            bases="loss length",
        ),
        Parameter(
            (q.n * q.epsilon) ** Rational(4, 5),
            "projection-dimension",
            "k, where the rank is larger than that",
            up_to_constant=True,
        ),
    ),
    notes="""
    - A conversion of the source's text compares the identity with a projection followed by its lift, as if their
      difference had a small norm; it has norm at least 1, because the product has rank k < d. The bound itself does not
      need that: on the span of the leading right singular vectors of the features the projection is nearly an isometry,
      and the rest has norm of order 1/√k. The original was not compared.
    - The projection does not depend on the data. That no projected feature is long holds with high probability only:
      clipping the projected features keeps the privacy exact.
    """,
)
