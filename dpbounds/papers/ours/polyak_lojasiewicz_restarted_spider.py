r"""Let the empirical risk $F$ be $\mu$-PL on all of $R^d$, every record's loss $L$-smooth, and every record's gradient
within $G$ of one common vector field, which need not be known. Run full-batch DP-SPIDER in $J$ stages. A stage makes
$T \ge 4L/\mu$ steps of size $1/(2L)$: one noisy gradient, then $T - 1$ noisy gradient differences; it ends in a
uniformly drawn one of its first $T$ iterates, where the next stage begins. With $\sigma_1 = \frac{2G}{n}\sqrt{J/\rho}$,
$\sigma_2 = \frac{2L}{n}\sqrt{(T-1)J/\rho}$ everything is $\rho$-zCDP under replace-one, and if
$d (T-1)^2 \le n^2\rho/(2J)$, $$E F(w_J) - \inf F \le 2^{-J} \Delta_F + \frac{4 d G^2 J}{\mu n^2 \rho}, \qquad E |\nabla
F(w_J)| \le \sqrt{2\mu 2^{-J} \Delta_F + \frac{8 d G^2 J}{n^2\rho}}.$$ After $J \approx \log_2(\mu \Delta_F n^2 \rho/(d
G^2))$ stages that is of order $G \sqrt d/(n \sqrt\rho)$, which is optimal up to logarithms (on $|w|^2/2 + \langle z,
w\rangle$ it is the estimation of a mean), for $L/\mu$ up to the order of $n\sqrt\rho/\sqrt d$.
"""

from dpbounds.papers.ours import PAPER
from dpbounds.privacy.mechanisms import Composed, Gaussian, Mechanism
from dpbounds.theorems.language import COUNT, LOSS, Bound, Condition, Numbers, Parameter, Privacy, ceiling, log, q, sqrt

stages = PAPER.quantity("stages", "J", "number of times that DP-SPIDER is restarted", domain=COUNT)
statistical = 4 * q.d * q.G**2 * stages / (q.n**2 * q.rho)
gradient = sqrt(2 * q.mu * q.Delta_F / 2**stages + 2 * statistical)
per_stage = q.n**2 * q.rho / (q.d * q.G**2)
conditions = (
    Condition(q.T * q.mu >= 4 * q.L, "a stage halves the gap"),
    Condition(
        2 * stages * q.d * (q.T - 1) ** 2 <= q.n**2 * q.rho, "the noise of the differences is paid for by the descent"
    ),
)


def mechanism(at: Numbers) -> Mechanism:
    first = at.down(2 * sqrt(stages / q.rho))
    differences = at.down(2 * sqrt((q.T - 1) * stages / q.rho))
    stage = Composed(((Gaussian(first), 1), (Gaussian(differences), at.count(q.T) - 1)))
    return stage ** at.count(stages)


THEOREM = PAPER.theorem(
    title="restarted DP-SPIDER under the Polyak-Łojasiewicz inequality",
    where="derived here; compare Lowy, Ullman & Wright 2024, the example after Corollary 6.3",
    bounds="gradient-norm, expectation",
    status="proved here",
    assumptions="gradients near a common field, smooth, Polyak-Łojasiewicz, bounded risk, unconstrained",
    parts=(
        Bound(
            gradient, meaning="root mean square norm of the empirical gradient after J stages", conditions=conditions
        ),
        Bound(
            q.Delta_F / 2**stages + statistical / q.mu,
            "excess_risk",
            "mean excess empirical risk after J stages",
            unit=LOSS,
            conditions=conditions,
        ),
        Parameter(ceiling(4 * q.L / q.mu), "steps", "T of one stage"),
        Parameter(
            log(q.mu * q.Delta_F * per_stage) / log(2),
            "stages",
            "J at which both terms of the bound are of one order; round up, at least 1",
            increasing_in="mu Delta_F n rho",
            decreasing_in="d G",
        ),
        Parameter(
            2 * q.G / q.n * sqrt(stages / q.rho),
            "noise_stddev",
            "σ₁ on each coordinate of the first gradient of a stage",
        ),
        Parameter(
            2 * q.L / q.n * sqrt((q.T - 1) * stages / q.rho),
            "difference_noise_stddev",
            "σ₂: noise of a difference, per distance of the two iterates",
        ),
        Parameter(1 / (2 * q.L), "step_size", "η"),
    ),
    free=stages,
    privacy=Privacy(mechanism, (q.rho, q.T, stages)),
    algorithm="lowy-ullman-wright-2024/algorithm-1",
    derivation="polyak_lojasiewicz_restarted_spider.md",
    notes="""
    - The inequality is used at every iterate, which may lie anywhere: PL on a ball alone is not enough, unless the
      iterates are known to stay in it.
    - J and T are public: choose them from an upper bound on the initial gap, never from the realised one. The noise of
      a difference may be capped at 2Gσ₂/L, which costs no privacy.
    - On all of R^d no risk but a constant is both Lipschitz and PL. Tilted records are an example of what is assumed
      here: a common function plus linear terms of norm at most G. Whether the mean is PL is a statement about the data
      at hand, and a tilt may undo it where the function is not convex.
    - The budget holds under replace-one: the contribution of a single record is not bounded, so it does not hold under
      add-or-remove-one unless the losses themselves are Lipschitz.
    """,
)
