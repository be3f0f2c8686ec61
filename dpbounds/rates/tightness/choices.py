"""Exponential mechanisms and Gibbs samples on a well: a small good place, flat around. Proofs: instances.md."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import floor, isqrt
from typing import TYPE_CHECKING

from dpbounds.errors import NotCertified
from dpbounds.expressions.backends import to_arb
from dpbounds.rates.tightness.instances import Instance, Values
from dpbounds.rates.tightness.losses import Loss, regularised_well, smooth_well, well

if TYPE_CHECKING:
    from flint import acb, arb

_ONE = Fraction(1)
_TOLERANCE = 2.0**-100


def _chance_of_the_flat(others: Fraction, factor: Fraction, nearest: Fraction, height: Fraction) -> arb:
    """One net point is ``nearest`` above the minimum, all others at the height of the flat."""
    return 1 / (1 + (to_arb(factor * (height - nearest))).exp() / to_arb(others))


def _risks(at: Values, loss: Loss) -> tuple[Fraction, Fraction]:
    """Return the risks of the net's point that is nearest to the minimiser, and of the flat."""
    flat = loss.pieces[0].until
    assert flat is not None
    return at["lipschitz"] * at["net_radius"], at["lipschitz"] * flat


def _mean(at: Values, loss: Loss, points: Fraction) -> arb:
    nearest, flat = _risks(at, loss)
    factor = at["epsilon"] * at["dataset_size"] / (2 * at["lipschitz"] * at["diameter"])
    return to_arb(nearest) + to_arb(flat - nearest) * _chance_of_the_flat(points - 1, factor, nearest, flat)


def _reached(flat: Fraction, chance: arb, failure: arb) -> Fraction:
    """Return the flat's height, where that is reached with a higher probability than a bound may be missed with."""
    if not chance > failure:
        raise NotCertified("the flat is not reached often enough")
    return flat


def mean_excess(at: Values) -> arb:
    """Return the mean excess of the exponential mechanism with factor εn/(2GD) on a net of N points."""
    return _mean(at, _NET, at["candidates"])


def mean_excess_in_a_ball(at: Values) -> arb:
    """Return the mean excess with as many points as a net in a ball of radius R needs at most."""
    return _mean(at, _IN_A_BALL, (1 + 2 * at["enclosing_radius"] / at["net_radius"]) ** int(at["dimension"]))


def likely_excess(at: Values) -> Fraction:
    """Exceeded or reached with probability > ζ."""
    nearest, flat = _risks(at, _TAIL)
    factor = at["epsilon"] * at["dataset_size"] / (2 * at["lipschitz"] * at["diameter"])
    chance = _chance_of_the_flat(at["candidates"] - 1, factor, nearest, flat)
    return _reached(flat, chance, to_arb(at["failure_probability"]))


def _chance_on_a_grid(risks: list[Fraction], factor: arb, others: int, height: Fraction) -> arb:
    """Return the probability of the flat: the points of the well have these risks, the others the height."""
    good = sum(((-factor * to_arb(risk)).exp() for risk in risks), start=to_arb(Fraction(0)))
    flat = others * (-factor * to_arb(height)).exp()
    return flat / (flat + good)


def _of_definition_4_1(at: Values, loss: Loss, epsilon: Fraction, failure: arb) -> Fraction:
    """Factor εn/(4GD), on the grid of spacing D/(εn) of [0, D], a largest set of points that keep this distance."""
    assert at["dimension"] == 1
    size = epsilon * at["dataset_size"]
    edge = loss.pieces[0].until
    assert edge is not None
    spacing, factor = at["diameter"] / size, size / (4 * at["lipschitz"] * at["diameter"])
    inside, height = floor(edge / spacing), at["lipschitz"] * edge
    risks = [at["lipschitz"] * spacing * step for step in range(inside + 1)]
    chance = _chance_on_a_grid(risks, to_arb(factor), floor(size) - inside, height)
    return _reached(height, chance, failure)


def likely_at_lemma_4_2(at: Values) -> Fraction:
    """Missed with probability > e^-t."""
    return _of_definition_4_1(at, _LEMMA, at["epsilon"], (-to_arb(at["tail_exponent"])).exp())


def likely_at_equation_2(at: Values) -> Fraction:
    """Return the value that is exceeded with probability > 2√d/(εn), for half of ε."""
    failure = 2 * to_arb(at["dimension"]).sqrt() / to_arb(at["epsilon"] * at["dataset_size"])
    return _of_definition_4_1(at, _EQUATION, at["epsilon"] / 2, failure)


def mean_of_a_warm_start(at: Values) -> arb:
    """Corollary 4.3's exponential mechanism: ε_E = 2√ρ, on the grid of spacing D/(ε_E n) of [0, D].

    The set's best point is GD/(ε_E n) above the infimum, as it may be.
    """
    assert at["dimension"] == 1
    size = 2 * at["dataset_size"] * _root(at["rho"])
    spacing, factor = at["diameter"] / size, size / (2 * at["lipschitz"] * at["diameter"])
    begin = spacing + at["lipschitz"] / (2 * at["smoothness"])
    assert _WARM.at(begin)[0] == at["lipschitz"] * spacing
    height = _WARM.at(at["diameter"])[0]
    risks: list[Fraction] = []
    while (risk := _WARM.at(begin + len(risks) * spacing)[0]) < height:
        risks.append(risk)
    good = [(to_arb(factor * (height - risk))).exp() for risk in risks]
    others = to_arb(Fraction(floor(size) + 1 - len(risks)))
    mean = sum((weight * to_arb(risk) for weight, risk in zip(good, risks, strict=True)), start=others * to_arb(height))
    return mean / sum(good, start=others)


def _root(square: Fraction) -> Fraction:
    root = Fraction(isqrt(square.numerator), isqrt(square.denominator))
    assert root**2 == square
    return root


def likely_population_excess(at: Values) -> Fraction:
    """Factor εn/(4GD); w̃ is ψ above the infimum, the nearest net point r_n farther away."""
    nearest = at["excess_risk"] + at["lipschitz"] * at["net_radius"]
    flat = _POPULATION.pieces[0].until
    assert flat is not None
    factor = at["epsilon"] * at["dataset_size"] / (4 * at["lipschitz"] * at["diameter"])
    chance = _chance_of_the_flat(at["candidates"] - 1, factor, nearest, at["lipschitz"] * flat)
    return _reached(at["lipschitz"] * flat, chance, to_arb(at["failure_probability"]))


def likely_regularised_excess(at: Values) -> Fraction:
    """Return the value in one dimension, on a grid of spacing α over [-G/λ, G/λ] around 0, by its finite sum.

    The risk is min(G|w| + (λ/2)w², h).
    """
    slope, curvature, spacing = at["lipschitz"], at["regularisation"], at["net_radius"]
    edge = _REGULARISED.pieces[0].until
    assert edge is not None
    half, inside = floor(slope / curvature / spacing), floor(edge / spacing)
    factor = curvature * at["dataset_size"] * at["epsilon"] / (4 * slope**2)

    def risk(step: int) -> Fraction:
        place = abs(step) * spacing
        return slope * place + curvature * place**2 / 2

    height = slope * edge + curvature * edge**2 / 2
    risks = [risk(step) for step in range(-inside, inside + 1)]
    chance = _chance_on_a_grid(risks, to_arb(factor), 2 * (half - inside), height)
    return _reached(height, chance, to_arb(at["failure_probability"]))


def gibbs_on_a_sector(at: Values) -> arb:
    """Mean of u = f + (λ/2)r² at density e^-βu on a cone's part in a ball around its tip: r^(d-1) dr."""
    regularisation = to_arb(at["regularisation"]) / 2
    return _gibbs(at, _SECTOR, lambda r: regularisation * r**2, count_the_rest=True)


def gibbs_on_an_interval(at: Values) -> arb:
    """Mean of f on [0, D] at density exp(-β(f + (μ/2)(D - r)²)), μ = 1/(D²β): the origin is the far end."""
    start, half = to_arb(at["diameter"]), 1 / (2 * to_arb(at["diameter"] ** 2 * at["inverse_temperature"]))
    assert at["dimension"] == 1
    return _gibbs(at, _INTERVAL, lambda r: half * (start - r) ** 2, count_the_rest=False)


def _gibbs(at: Values, loss: Loss, public: Callable[[acb], acb], *, count_the_rest: bool) -> arb:
    from flint import acb

    edge = loss.pieces[0].until
    assert edge is not None
    slope, cold, power = to_arb(at["lipschitz"]), to_arb(at["inverse_temperature"]), int(at["dimension"]) - 1
    highest = slope * to_arb(edge)  # (so that the densities are not tiny)
    total, weighed = to_arb(Fraction(0)), to_arb(Fraction(0))
    for start, end, steep in ((Fraction(0), edge, True), (edge, at["diameter"], False)):

        def risk(r: acb, steep: bool = steep) -> acb:
            return slope * r if steep else acb(highest)

        def density(r: acb, _: bool = False, risk: Callable[[acb], acb] = risk) -> acb:
            return r**power * (-cold * (risk(r) + public(r) - highest)).exp()

        def product(r: acb, _: bool = False, risk: Callable[[acb], acb] = risk) -> acb:
            return density(r, risk=risk) * (risk(r) + (public(r) if count_the_rest else 0))

        ends = acb(to_arb(start)), acb(to_arb(end))
        total += acb.integral(density, *ends, rel_tol=_TOLERANCE).real
        weighed += acb.integral(product, *ends, rel_tol=_TOLERANCE).real
    return weighed / total


_SPACE = {"lipschitz": _ONE, "diameter": _ONE}
_PURE = _SPACE | {"dataset_size": Fraction(1000), "epsilon": _ONE, "dimension": _ONE}
_POINTS = _PURE | {"net_radius": Fraction(1, 50), "candidates": Fraction(10**6)}
_BALL = _PURE | {"diameter": Fraction(2), "enclosing_radius": _ONE, "net_radius": Fraction(1, 500)}
_BUDGET = _SPACE | {
    "dimension": _ONE,
    "dataset_size": Fraction(10_000),
    "rho": Fraction(1, 4),
    "smoothness": Fraction(10**6),
}
_RARE = {"failure_probability": Fraction(1, 100)}
_SAMPLED = (
    _SPACE
    | _RARE
    | {
        "dataset_size": Fraction(10**6),
        "epsilon": Fraction(1, 10_000),
        "candidates": Fraction(100),
        "excess_risk": Fraction(1, 100),
        "net_radius": Fraction(1, 100),
    }
)
_STRONG = _RARE | {
    "lipschitz": _ONE,
    "regularisation": _ONE,
    "dataset_size": Fraction(4000),
    "epsilon": _ONE,
    "dimension": _ONE,
    "net_radius": Fraction(1, 2000),
}
_COLD = _SPACE | {
    "dimension": Fraction(100),
    "regularisation": Fraction(1, 1000),
    "inverse_temperature": Fraction(1000),
}
_LINE = _SPACE | {
    "dimension": _ONE,
    "inverse_temperature": Fraction(10_000),
    "dataset_size": Fraction(10**9),
}

_NET = well(_ONE, Fraction(43, 1000))
_IN_A_BALL = well(_ONE, Fraction(59, 2500))
_TAIL = well(_ONE, Fraction(568, 10_000))
_LEMMA = well(_ONE, Fraction(414, 10_000))
_EQUATION = well(_ONE, Fraction(866, 10_000))
_WARM = smooth_well(_ONE, Fraction(135, 100_000), Fraction(10**6))
_POPULATION = well(_ONE, Fraction(387, 1000))
_REGULARISED = regularised_well(_ONE, Fraction(11, 1000), _ONE)
_SECTOR = well(_ONE, Fraction(317, 1000))
_INTERVAL = well(_ONE, Fraction(77, 100_000))

_APART = "one good point of the net; all others lie on the flat"
_IGNORED = "; all records are alike, so that what is paid for the sample is not needed"

INSTANCES = (
    Instance(
        "lowy-ullman-wright-2024/lemma-4.2/explicit",
        "bound",
        _POINTS,
        _NET,
        _APART,
        mean_excess,
        "ln N where the mean has ln N less its own logarithm",
        reach=_ONE,
    ),
    Instance(
        "lowy-ullman-wright-2024/lemma-4.2/explicit",
        "tail",
        _POINTS | _RARE,
        _TAIL,
        _APART,
        likely_excess,
        "1 - ζ and N - 1 for 1 and N",
        reach=_ONE,
    ),
    Instance(
        "ganesh-liu-oh-thakurta-2023/theorem-5.8/explicit",
        "empirical",
        _BALL,
        _IN_A_BALL,
        _APART,
        mean_excess_in_a_ball,
        "ln N where the mean has ln N less its own logarithm",
        reach=Fraction(2),
    ),
    Instance(
        "lowy-ullman-wright-2024/lemma-4.2",
        "bound",
        _PURE | {"tail_exponent": Fraction(5)},
        _LEMMA,
        "a grid of [0, D]",
        likely_at_lemma_4_2,
        "the grid has half as many points, and its minimum on it",
        reach=_ONE,
    ),
    Instance(
        "lowy-ullman-wright-2024/equation-2",
        "bound",
        _PURE,
        _EQUATION,
        "a grid of [0, D]",
        likely_at_equation_2,
        "the constant 20, where 16 is enough for large εn",
        reach=_ONE,
    ),
    Instance(
        "lowy-ullman-wright-2024/corollary-4.3/explicit",
        "excess_risk",
        _BUDGET,
        _WARM,
        "the warm start, on a grid",
        mean_of_a_warm_start,
        "ln N where the mean has ln N less its own logarithm; the net's size",
        reach=_ONE,
    ),
    Instance(
        "lowy-ullman-wright-2024/lemma-e.3/explicit",
        "bound",
        _SAMPLED,
        _POPULATION,
        _APART,
        likely_population_excess,
        f"half of ζ is kept for the sample{_IGNORED}",
        reach=_ONE,
    ),
    Instance(
        "wang-chen-xu-2019/theorem-4/explicit",
        "bound",
        _STRONG,
        _REGULARISED,
        "a grid of [-G/λ, G/λ]",
        likely_regularised_excess,
        "the net's radius, and the points in the well",
        reach=_ONE,
    ),
    Instance(
        "ganesh-liu-oh-thakurta-2023/lemma-5.3/explicit",
        "bound",
        _COLD,
        _SECTOR,
        "a cone of 30° around its axis, cut off at distance D from its tip",
        gibbs_on_a_sector,
        "ln of a volume where the mean has that less its own logarithm",
        reach=_ONE,
    ),
    Instance(
        "ganesh-liu-oh-thakurta-2023/theorem-5.6/explicit",
        "empirical",
        _LINE,
        _INTERVAL,
        "[0, D], the well at D, the origin at 0",
        gibbs_on_an_interval,
        "ln of a volume where the mean has that less its own logarithm",
        reach=_ONE,
    ),
)
