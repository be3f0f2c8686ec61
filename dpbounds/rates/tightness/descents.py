"""Noisy gradient descent on bowls: second moments obey a linear recursion, exactly. The proofs are in instances.md."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from dpbounds.expressions.backends import to_arb
from dpbounds.rates.tightness.instances import Instance, Values
from dpbounds.rates.tightness.losses import bowl, huber
from dpbounds.rates.tightness.noise import capped

if TYPE_CHECKING:
    from flint import arb

ONE = Fraction(1)
_HALVINGS = 40


def squares(at: Values, noise: Sequence[Fraction]) -> list[Fraction]:
    """E|∇F(w_t)|², t = 0, ..., T, on (L/2)|w|², from the noise's second moment in each step."""
    rate = at["smoothness"] * at["step_size"]
    found = [2 * at["smoothness"] * at["initial_gap"]]
    for moment in noise:
        found.append(found[-1] * (1 - rate) ** 2 + moment * rate**2)
    return found


def _second_moment(at: Values) -> Fraction:
    return at["dimension"] * at["noise_stddev"] ** 2


def _steps(at: Values) -> int:
    return int(at["steps"])


def _weighted(at: Values, moment: Fraction) -> Fraction:
    """Over t < T by η(1 - Lη/2), and over t = T by 1/(2L)."""
    found = squares(at, [moment] * _steps(at))
    weight = at["step_size"] * (1 - at["smoothness"] * at["step_size"] / 2)
    last = 1 / (2 * at["smoothness"])
    return (weight * sum(found[:-1], Fraction(0)) + last * found[-1]) / (weight * _steps(at) + last)


def weighted(at: Values) -> Fraction:
    """Return the value at the given noise."""
    return _weighted(at, _second_moment(at))


def weighted_private(at: Values) -> Fraction:
    """Return the value at σ² = 2G²T/(n²ρ)."""
    spent = at["dataset_size"] ** 2 * at["rho"]
    return _weighted(at, 2 * at["dimension"] * at["lipschitz"] ** 2 * at["steps"] / spent)


def uniform(at: Values) -> arb:
    """Enclose the mean over t < T, in a G-Lipschitz loss, by the case of short noise."""
    return _contained(at, Fraction(0))


def uniform_noisy(at: Values) -> arb:
    """Return the same of ∇F(w_t) plus the noise of that step."""
    return _contained(at, ONE)


def mirrored(at: Values) -> arb:
    """Mirror descent with |w|²/2: gradient descent under other names."""
    return uniform(_euclidean(at))


def mirrored_noisy(at: Values) -> arb:
    """Return the same of the noisy gradient."""
    return uniform_noisy(_euclidean(at))


def _euclidean(at: Values) -> Values:
    return {
        **at,
        "smoothness": at["relative_smoothness"],
        "step_size": at["mirror_step"],
        "dimension": at["dual_second_moment"],
    }


def _contained(at: Values, own_noise: Fraction) -> arb:
    """While no noise is longer than σc, no gradient is longer than G, and the loss is the bowl."""
    rate = at["smoothness"] * at["step_size"]
    slope, shrunk = at["lipschitz"], abs(1 - rate)
    longest = slope * (1 - shrunk) / rate
    assert squares(at, [])[0] <= slope**2
    short = capped(int(at["dimension"]), longest / at["noise_stddev"])
    moment = to_arb(at["noise_stddev"]) ** 2 * short.second
    still = sum(squares(at, [Fraction(0)] * (_steps(at) - 1)), Fraction(0)) / _steps(at)
    per_noise = sum(squares(at, [ONE] * (_steps(at) - 1)), Fraction(0)) / _steps(at) - still
    mean = to_arb(still) + to_arb(per_noise + own_noise) * moment
    chance = short.chance ** _steps(at)
    # a gradient of at most G, and of noise what it has at all: E|∇F + ξ|²; A <= 2G²(1 - P(A)) + 2E(|ξ|²; not A)
    noise = 2 * to_arb(own_noise) * (to_arb(_second_moment(at)) - chance * moment)
    rest = 2 * (1 - chance) * to_arb(slope) ** 2 + noise
    return chance * mean + rest.union(to_arb(Fraction(0)))


def in_a_ball(at: Values) -> Fraction:
    """PrGD with η = 1/L: the gradient is the last noise, which is no longer than r_u."""
    assert at["smoothness"] * at["step_size"] == 1
    moment = at["dimension"] * at["radius"] ** 2 / (at["dimension"] + 2)
    return sum(squares(at, [moment] * (_steps(at) - 1)), Fraction(0)) / _steps(at)


def falling(at: Values) -> Fraction:
    """Geometric noise, where μ = L: the last excess risk. κ = 1 - Lη."""
    kappa = abs(1 - at["smoothness"] * at["step_size"])
    total = sum((kappa**step for step in range(_steps(at))), Fraction(0))
    unit = 2 * at["lipschitz"] ** 2 / (at["dataset_size"] ** 2 * at["rho"])
    noise = [at["dimension"] * unit * total / kappa ** (_steps(at) - 1 - step) for step in range(_steps(at))]
    return squares(at, noise)[-1] / (2 * at["smoothness"])


def last_gap(at: Values) -> arb:
    """The (1-ζ)-quantile of the last excess risk: of a Gaussian gradient's square, whose mean's part is enclosed."""
    left = (1 - at["smoothness"] * at["step_size"]) ** 2
    variance = (at["smoothness"] * at["step_size"] * at["noise_stddev"]) ** 2 * (1 - left ** _steps(at)) / (1 - left)
    shift = to_arb(left ** _steps(at) * 2 * at["smoothness"] * at["initial_gap"]).sqrt()
    shape, zeta = to_arb(at["dimension"] / 2), to_arb(at["failure_probability"])
    low, high = Fraction(0), 4 * at["dimension"] + 100  # bracket of the quantile of |N(0, I)|²
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        beyond = (to_arb(middle) / 2).gamma_upper(shape, regularized=1)
        if beyond > zeta:
            low = middle
        elif beyond < zeta:
            high = middle
        else:
            break
    least = to_arb(variance * low)
    most = (to_arb(variance * high).sqrt() + shift) ** 2
    return least.union(most) / to_arb(2 * at["smoothness"])


def langevin(at: Values) -> Fraction:
    """Return the last excess risk of Langevin steps."""
    noise = 2 * at["dimension"] / (at["step_size"] * at["inverse_temperature"])
    return squares(at, [noise] * _steps(at))[-1] / (2 * at["smoothness"])


def _one_step(at: Values) -> Fraction:
    """Return the change of (L/2)w² by a step -v/L, where v - g = e."""
    error = at["estimation_error"]
    gradient = at["gradient_norm"] if "gradient_norm" in at else at["estimate_norm"] - error
    estimate = gradient + error
    return ((gradient - estimate) ** 2 - gradient**2) / (2 * at["smoothness"])


def _values(**more: Fraction | int) -> dict[str, Fraction]:
    return {"smoothness": ONE, "initial_gap": Fraction(1, 2), **{name: Fraction(value) for name, value in more.items()}}


_GIVEN = _values(step_size=Fraction(1, 2), steps=10, dimension=10, noise_stddev=Fraction(1, 5))
_PRIVATE = _values(
    step_size=Fraction(1, 2), steps=10, dimension=10, lipschitz=1, dataset_size=1000, rho=Fraction(1, 1000)
)
_PL = _values(step_size=Fraction(1, 2), steps=6, dimension=100, pl_constant=1)
_FALLING = _PL | {"lipschitz": ONE, "dataset_size": Fraction(1000), "rho": Fraction(1, 1000)}
_NEAR = _PL | {
    "step_size": Fraction(9, 10),
    "steps": Fraction(20),
    "dimension": Fraction(10_000),
    "noise_stddev": Fraction(1, 100),
    "pl_radius": Fraction(100),
    "failure_probability": Fraction(1, 20),
}
_COOLED = _PL | {"inverse_temperature": Fraction(10_000)}
_LARGE = _values(step_size=1, steps=20, dimension=100, noise_stddev=Fraction(1, 20), lipschitz=2)
_LONG = {**_LARGE, "step_size": Fraction(9, 5), "lipschitz": Fraction(20)}
_MIRROR = {
    **{name: value for name, value in _LONG.items() if name not in ("smoothness", "step_size", "dimension")},
    "relative_smoothness": ONE,
    "mirror_step": Fraction(9, 5),
    "dual_second_moment": Fraction(100),
}
_BALL = _values(step_size=1, steps=20, dimension=100, radius=1, lipschitz=1)
_STEP = {"smoothness": ONE, "estimation_error": ONE}

_UNIFORM = "noisy gradient descent, 20 steps; a random iterate"
_MAPPING = "the bound adds the noise's norm to that of the noisy mapping"
_UNWEIGHTED = "equal weights on the iterates, and the last point is not used"

INSTANCES = (
    Instance(
        "dpbounds/noisy-descent-exact",
        "bound",
        _GIVEN,
        bowl(ONE),
        "10 steps; the weighted iterate",
        weighted,
        "nothing: the bound is attained",
        squared=True,
        start=ONE,
    ),
    Instance(
        "dpbounds/noisy-descent-exact",
        "private",
        _PRIVATE,
        bowl(ONE),
        "10 steps; the weighted iterate",
        weighted_private,
        "nothing: the bound is attained",
        squared=True,
        start=ONE,
    ),
    Instance(
        "wang-chen-xu-2019/algorithm-4/explicit",
        "bound",
        _LARGE,
        huber(ONE, Fraction(2)),
        _UNIFORM,
        uniform,
        _UNWEIGHTED,
        squared=True,
        start=ONE,
    ),
    Instance(
        "wang-chen-xu-2019/algorithm-4/explicit",
        "printed_step",
        _LARGE,
        huber(ONE, Fraction(2)),
        _UNIFORM,
        uniform,
        _UNWEIGHTED,
        squared=True,
        start=ONE,
    ),
    Instance(
        "wang-xu-2019/theorem-2/explicit",
        "bound",
        _LONG,
        huber(ONE, Fraction(20)),
        f"{_UNIFORM}, no constraint",
        uniform,
        _MAPPING,
        squared=True,
        start=ONE,
    ),
    Instance(
        "wang-xu-2019/theorem-2/explicit",
        "noisy",
        _LONG,
        huber(ONE, Fraction(20)),
        f"{_UNIFORM}, no constraint",
        uniform_noisy,
        _UNWEIGHTED,
        squared=True,
        start=ONE,
    ),
    Instance(
        "wang-xu-2019/theorem-5/explicit",
        "bound",
        _MIRROR,
        huber(ONE, Fraction(20)),
        f"{_UNIFORM}, Euclidean mirror map, no constraint",
        mirrored,
        _MAPPING,
        squared=True,
        start=ONE,
    ),
    Instance(
        "wang-xu-2019/theorem-5/explicit",
        "noisy",
        _MIRROR,
        huber(ONE, Fraction(20)),
        f"{_UNIFORM}, Euclidean mirror map, no constraint",
        mirrored_noisy,
        _UNWEIGHTED,
        squared=True,
        start=ONE,
    ),
    Instance(
        "tholeti-kalyani-2020/algorithm-1/explicit",
        "bound",
        _BALL,
        huber(ONE, ONE),
        "20 steps of size 1/L, noise in a ball of radius G",
        in_a_ball,
        "equal weights, and G² where the variance of a record's gradient is 0",
        squared=True,
        start=ONE,
    ),
    Instance(
        "dpbounds/geometric-noise-under-pl",
        "bound",
        _FALLING,
        bowl(ONE),
        "6 steps, μ = L",
        falling,
        "nothing: the bound is attained where μ = L",
        start=ONE,
    ),
    Instance(
        "dpbounds/noisy-descent-local-pl",
        "bound",
        _NEAR,
        bowl(ONE),
        "20 steps of size 0.9/L, μ = L",
        last_gap,
        "a step pays for all of its noise",
        start=ONE,
    ),
    Instance(
        "dpbounds/langevin-under-pl",
        "bound",
        _COOLED,
        bowl(ONE),
        "6 steps, μ = L",
        langevin,
        "the sum over the steps is continued to infinity; besides L/μ, where μ < L",
        start=ONE,
    ),
    Instance(
        "ganesh-liu-oh-thakurta-2023/lemma-3.5",
        "bound",
        _STEP | {"estimate_norm": Fraction(3)},
        bowl(ONE),
        "one step; the error points along the gradient",
        _one_step,
        "nothing: the bound is attained",
        start=Fraction(2),
    ),
    Instance(
        "ganesh-liu-oh-thakurta-2023/lemma-3.5/explicit",
        "bound",
        _STEP | {"gradient_norm": Fraction(2)},
        bowl(ONE),
        "one step, any error",
        _one_step,
        "nothing: the bound is attained",
        start=Fraction(2),
    ),
)
