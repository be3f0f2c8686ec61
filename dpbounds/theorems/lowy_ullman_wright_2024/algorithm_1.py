r"""DP-SPIDER (Arora et al. 2023): gradient descent $w_{t+1} = w_t - \eta \nabla_t$ on noisy estimates that are
carried along. Every $q_a$ steps an anchor $\nabla_t$ is the mean gradient of a batch of $b_1$ plus $N(0, \sigma_1^2
I)$; in between, $\nabla_t = \nabla_{t-1} + \Delta_t$, where $\Delta_t$ is the mean over $b_2$ records of $\nabla
f(w_t, x) - \nabla f(w_{t-1}, x)$ plus Gaussian noise of standard deviation $\min(\sigma_2 \|w_t - w_{t-1}\|,
\hat\sigma_2)$. A uniformly chosen iterate is returned. The noise levels, batch sizes, $T$, $q_a$ and $\eta$ are
inputs.

Recorded here is what $T$ steps on the full batch spend. An anchor has sensitivity $2G/n$ under replace-one; a
difference has $\frac2n \min(L \|w_t - w_{t-1}\|, 2G)$. The noise of a difference depends on the released iterates
only, so that its cost is bounded by a constant given everything released before, which is $2 L^2/(n \sigma_2)^2$ or
$8 G^2/(n \hat\sigma_2)^2$, and ordinary adaptive composition applies. Where $w_t = w_{t-1}$ the difference is 0 for
every data set, and nothing is released.
"""

from sympy import Expr, Max, Min, ceiling

from dpbounds.expressions.symbols import (
    Unit,
    anchor_period,
    dataset_size,
    delta,
    difference_noise_stddev,
    epsilon,
    lipschitz,
    noise_stddev,
    smoothness,
    steps,
)
from dpbounds.privacy.mechanisms import Composed, Gaussian, Mechanism
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import LIPSCHITZ, SMOOTH, UNCONSTRAINED
from dpbounds.theorems.lowy_ullman_wright_2024._quantities import NOISE_CAP, noise_cap
from dpbounds.theorems.record import Bound, Claim, Metric, Note, Parameter, Privacy, Side, Status, Theorem
from dpbounds.theorems.spending import Numbers


def anchors() -> Expr:
    return ceiling(steps / anchor_period)


def differences() -> Expr:
    return steps - ceiling(steps / anchor_period)


def budget() -> Expr:
    anchor = 2 * lipschitz**2 / (dataset_size * noise_stddev) ** 2
    near = 2 * smoothness**2 / (dataset_size * difference_noise_stddev) ** 2
    far = 8 * lipschitz**2 / (dataset_size * noise_cap) ** 2
    return anchors() * anchor + differences() * Max(near, far)


def mechanism(at: Numbers) -> Mechanism:
    # per record an anchor moves by G/n, a difference by min(L|Δw|, 2G)/n: noise per unit of that, at its smallest
    difference = Min(dataset_size * difference_noise_stddev / smoothness, dataset_size * noise_cap / (2 * lipschitz))
    anchored = at.count(anchors())
    parts: list[tuple[Mechanism, int]] = [(Gaussian(at.down(dataset_size * noise_stddev / lipschitz)), anchored)]
    if at.count(steps) > anchored:
        parts.append((Gaussian(at.down(difference)), at.count(steps) - anchored))
    return Composed(tuple(parts))


THEOREM = Theorem(
    id="lowy-ullman-wright-2024/algorithm-1",
    title="DP-SPIDER",
    statement=__doc__,
    where="Section 3, Algorithm 1; the accounting is derived here",
    metric=Metric.PRIVACY,
    side=Side.UPPER,
    status=Status.PROVED,
    relation=Relation.REPLACE_ONE,
    sampling="full batch (b₁ = b₂ = n); print leaves open how smaller batches are drawn",
    assumptions=(LIPSCHITZ, SMOOTH, UNCONSTRAINED),
    local=(NOISE_CAP,),
    parts=(
        Bound(
            formula=budget,
            name="rho",
            unit=Unit(samples=-2),
            meaning="zCDP budget that T full-batch steps spend under replace-one",
            increasing_in=(lipschitz, smoothness, steps),
            decreasing_in=(dataset_size, noise_stddev, difference_noise_stddev, noise_cap),
        ),
        Parameter(
            formula=anchors,
            name="anchors",
            meaning="number of full gradient estimates",
            increasing_in=(steps,),
            decreasing_in=(anchor_period,),
        ),
        Parameter(
            formula=differences,
            name="differences",
            meaning="number of gradient differences",
            increasing_in=(steps, anchor_period),
        ),
    ),
    privacy=Privacy(
        claim=Claim.APPROXIMATE,
        mechanism=mechanism,
        needs=(
            epsilon,
            delta,
            noise_stddev,
            difference_noise_stddev,
            noise_cap,
            dataset_size,
            lipschitz,
            smoothness,
            steps,
            anchor_period,
        ),
    ),
    notes=(
        Note(
            "The loop is printed for t = 0, ..., T - 1 and the output uniform on w₁, ..., w_T: at w_T no estimate was "
            "made. With the output uniform on w₀, ..., w_{T-1} (as in lowy-ullman-wright-2024/algorithm-1/explicit), "
            "or with one more estimate (as in Arora et al.), the analysis covers what is returned."
        ),
        Note("With σ̂₂ = 2Gσ₂/L both branches of the noise cost the same, and the cap costs nothing."),
        Note(
            "Clipping each gradient to norm G first is harmless: the projection does not expand, so that the "
            "difference of two clipped gradients is still at most min(L|Δw|, 2G). Both gradients of a difference must "
            "be taken on the same batch."
        ),
        Note("Under add-or-remove-one with n as a fixed, public normaliser every sensitivity is half as large."),
    ),
)
