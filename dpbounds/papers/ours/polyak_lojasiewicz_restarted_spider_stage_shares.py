r"""Restarted DP-SPIDER as in `polyak-lojasiewicz-restarted-spider`, with less of the budget for early stages, whose
errors later ones halve: with $\rho' = \rho - J d (T-1)^2/n^2 > 0$ and $S_J = \sum_{i < J} 2^{-i/2} < 3.42$, the first
gradient of stage $j = 0, \dots, J-1$ has noise of $\sigma_{1,j}^2 = \frac{2G^2}{n^2\rho'} S_J 2^{(J-1-j)/2}$, and a
difference $\sigma_2^2 = \frac{2L^2}{d(T-1)}$ per squared distance. Everything is $\rho$-zCDP under replace-one, and for
$T \ge \max(2, 4L/\mu)$ $$E F(w_J) - \inf F \le 2^{-J} \Delta_F + \frac{S_J^2 d G^2}{\mu n^2 \rho'}, \qquad E |\nabla
F(w_J)| \le \sqrt{2\mu 2^{-J} \Delta_F + \frac{2 S_J^2 d G^2}{n^2\rho'}},$$ where equal shares have $4J$ in place of
$S_J^2 < 11.7$ and $\rho$ in place of $\rho'$.
"""

from dpbounds.papers.ours import PAPER
from dpbounds.papers.ours.polyak_lojasiewicz_restarted_spider import stages
from dpbounds.privacy.mechanisms import ZCDP
from dpbounds.theorems.language import LOSS, PURE, Bound, Condition, Parameter, Privacy, ceiling, q, sqrt

sum_of_shares = (1 - 2 ** (-stages / 2)) / (1 - 1 / sqrt(2))  # S_J
left = q.rho - stages * q.d * (q.T - 1) ** 2 / q.n**2  # ρ'
statistical = sum_of_shares**2 * q.d * q.G**2 / (q.n**2 * left)
conditions = (
    Condition(q.T * q.mu >= 4 * q.L, "a stage halves the gap"),
    Condition(q.T >= 2, "with one step there are no differences"),
    Condition(left > 0, "the differences leave something for the first gradients"),
)
last = sqrt(2 * sum_of_shares / left)  # noise multiplier of the last stage's first gradient
difference = q.n * sqrt(2 / (q.d * (q.T - 1)))


THEOREM = PAPER.theorem(
    id="polyak-lojasiewicz-restarted-spider/stage-shares",
    title="restarted DP-SPIDER under the Polyak-Łojasiewicz inequality, with shares for its stages",
    where="derived here",
    bounds="gradient-norm, expectation",
    status="proved here",
    assumptions="gradients near a common field, smooth, Polyak-Łojasiewicz, bounded risk, unconstrained",
    parts=(
        Bound(
            sqrt(2 * q.mu * q.Delta_F / 2**stages + 2 * statistical),
            meaning="root mean square norm of the empirical gradient after J stages",
            conditions=conditions,
        ),
        Bound(
            q.Delta_F / 2**stages + statistical / q.mu,
            "excess_risk",
            "mean excess empirical risk after J stages",
            unit=LOSS,
            conditions=conditions,
        ),
        Bound(
            stages * q.n * (2 * q.T - 1),
            "gradients",
            "gradients of one record, at most",
            unit=PURE,
            bases="loss length",
        ),
        Parameter(ceiling(4 * q.L / q.mu), "steps", "T of one stage"),
        Parameter(
            q.G / q.n * last,
            "noise_stddev",
            "σ₁ of the last stage; the i-th before it has 2^(i/4) of it",
            conditions=conditions[1:],
        ),
        Parameter(q.L / q.n * difference, "difference_noise_stddev", "σ₂", conditions=Condition(q.T >= 2)),
        Parameter(1 / (2 * q.L), "step_size", "η"),
    ),
    free=stages,
    privacy=Privacy(lambda at: ZCDP(at[q.rho], relation=at.relation), "rho"),
    algorithm="lowy-ullman-wright-2024/algorithm-1",
    relies_on="dpbounds/polyak-lojasiewicz-restarted-spider",
    derivation="polyak_lojasiewicz_restarted_spider.md",
    notes="""
    The noise of the differences is the largest that the descent can absorb, so that they take the smallest share of the
    budget.
    """,
)
