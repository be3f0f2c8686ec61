r"""Private gradient descent on smooth, Lipschitz losses that need not be convex: the gradient at a random iterate has
norm of order $\left(d \ln(1/\delta)\right)^{1/4} / \sqrt{n\varepsilon}$. With the constants put back it is
$\sqrt{G}\, (L \Delta_F)^{1/4}$ times that. Proof in outline: $T$ steps of length $\gamma \le 1/L$ with noise of
variance $\sigma^2 = 2G^2T/(n^2\rho)$ give $E|\nabla F|^2 \le 2\Delta_F/(\gamma T) + L \gamma d \sigma^2$, and $\gamma
T = \frac{n}{G} \sqrt{\Delta_F \rho / (L d)}$ balances the two, with $\rho$ of order $\varepsilon^2/\ln(1/\delta)$.
"""

from dpbounds.papers.cited.wang_ye_xu_2017 import PAPER
from dpbounds.theorems.language import Rate, Rational, log, q, sqrt

rate = (q.d * log(1 / q.delta)) ** Rational(1, 4) / sqrt(q.n * q.epsilon)

THEOREM = PAPER.theorem(
    title="stationary points by private gradient descent",
    where="Main result for non-convex losses; quoted in Table 1 of Wang & Xu 2019 and before "
    "Theorem 7 of Wang, Chen & Xu 2019",
    bounds="gradient-norm, expectation",
    status="proved",
    assumptions="Lipschitz, smooth, unconstrained, bounded risk",
    parts=Rate(
        rate,
        meaning="norm of the gradient, without a regulariser",
        hides="G L Delta_F",
        restored=sqrt(q.G) * (q.L * q.Delta_F) ** Rational(1, 4) * rate,
    ),
    superseded_by="cited/arora-et-al-2023/theorem-4.2 cited/tran-cutkosky-2022/main-result",
    notes="""
    - Valid for ε of at most the order of ln(1/δ), as for every noise with variance proportional to ln(1/δ)/ε².
    - The abstract also announces a bound under the Polyak-Łojasiewicz condition; its formula is quoted nowhere in the
      five papers, and not recorded.
    """,
)
