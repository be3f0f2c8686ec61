"""The Fourier engine of the lattice route, held against exact convolutions, and the integer engine."""

import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import product as cartesian
from unittest.mock import Mock

import flint
import numpy as np
import pytest
from flint import acb, arb
from hypothesis import given, settings, strategies as st

from dpbounds.errors import InvalidValue
from dpbounds.expressions.enclosure import ball_end
from dpbounds.expressions.exact import exact
from dpbounds.privacy.pairs.losses import ball
from dpbounds.privacy.proofs import Declined
from dpbounds.privacy.routes.lattice import attempts, epsilon_bounds, spectra
from dpbounds.privacy.routes.lattice.composed import Choices, compose, largest_weight
from dpbounds.privacy.routes.lattice.fourier import InexactFloats, compose_fourier
from dpbounds.privacy.routes.lattice.integer_measures import Slots, Work
from dpbounds.privacy.routes.lattice.steps import Lattice
from dpbounds.privacy.routes.lattice.transform import forward, inverse, relative_error
from dpbounds.privacy.routes.lattice.weighted_sums import Blocks, FewFrequencies, norm_of_weights
from dpbounds.privacy.routes.lattice.window import Tails, TiltedMeasure
from tests.privacy.routes.twins import product

# A part is (lattice index and tilted mass of each atom, offset, count).
BITS = 300
lower_end, upper_end = (partial(ball_end, direction=end) for end in ("down", "up"))


def composed_by(engine, parts, tilt, spacing, *more, upper, allowance, infinite=None):
    """One side by one of the two engines."""
    chosen = Choices(
        tilt=tilt,
        spacing=spacing,
        lattices=tuple(Lattice(offset, spacing) for _, offset, _ in parts),
        marks=(),
        slots=Slots.holding(120),
        allowance=allowance,
        rules=(),
        precision=BITS,
    )
    steps = tuple((None, count) for _, _, count in parts)
    with flint.ctx.workprec(BITS):
        atoms = [tuple((k, ball(m)) for k, m in masses) for masses, _, _ in parts]
    return engine(steps, chosen, atoms, (infinite or arb(0)) if upper else None, *more)


def fourier(parts, tilt, spacing, near, *, work=10**12, allowance=1e-12, **more):
    return composed_by(compose_fourier, parts, tilt, spacing, near, Work(work), allowance=allowance, **more)


def integers(parts, tilt, spacing, *, upper):
    return composed_by(compose, parts, tilt, spacing, Work(10**12), upper=upper, allowance=1e-24)[0]


def both(engine, epsilon, *question):
    """The upper and the lower bound on δ(ε)."""
    return [engine(*question, upper=side).delta(epsilon) for side in (True, False)]


def assert_overlap(sides, checks):
    """Two pairs of bounds on one number: no upper one is below a lower one."""
    assert upper_end(sides[0]) >= lower_end(checks[1])
    assert lower_end(sides[1]) <= upper_end(checks[0])


def law_of(masses, count):
    with flint.ctx.workprec(BITS):
        return TiltedMeasure.of(tuple((k, ball(m)) for k, m in masses), arb(1), count)


def convolution(parts):
    result = {0: Fraction(1)}
    for masses, _, count in parts:
        for _ in range(count):
            step = Counter()
            for (j, a), (k, b) in cartesian(result.items(), masses):
                step[j + k] += a * b
            result = step
    return result


def weighted(masses, tilt, spacing, remaining):
    """Σ b*_j w_j, from the definition."""
    with flint.ctx.workprec(BITS):
        everything = arb(0)
        for j, mass in masses.items():
            t = j * spacing - remaining
            if t > 0:
                everything += ball(mass) * (-ball(tilt * t)).exp() * -(-ball(t)).expm1()
        return everything


def exact_delta(parts, tilt, spacing, epsilon):
    remaining = epsilon - sum((count * offset for _, offset, count in parts), Fraction(0))
    with flint.ctx.workprec(BITS):
        return (-ball(tilt * remaining)).exp() * weighted(convolution(parts), tilt, spacing, remaining)


def random_measure(dice, atoms, spread, decades=3):
    indices = sorted(dice.choice(np.arange(-spread, spread), atoms, replace=False).tolist())
    weights = [Fraction(10 ** float(dice.uniform(-decades, 0))) for _ in indices]
    everything = sum(weights)
    return [(k, weight / everything) for k, weight in zip(indices, weights, strict=True)]


# --- the transform --------------------------------------------------------------------------------------------------


def inputs(length):
    generator = np.random.default_rng(length)
    spiky = np.full(length, 1e-200)
    spiky[length // 3] = 1.0
    denormal = generator.random(length) * 1e-310
    denormal[1] = 1.0
    return {
        "masses": generator.random(length) / length,
        "signs": generator.standard_normal(length),
        "one huge, the others tiny": spiky,
        "denormals": denormal,
        "decaying": np.exp(-0.01 * np.arange(length) ** 2) + 1e-17,
    }


def relative_distance(spectrum, values):
    with flint.ctx.workprec(150):
        truth = acb.dft([acb(float(x)) for x in values])
        error = norm = arb(0)
        for k, wanted in enumerate(truth[: len(values) // 2 + 1]):
            twice = 1 if k in (0, len(values) // 2) else 2
            error += twice * abs(wanted - acb(float(spectrum.re[k]), float(spectrum.im[k]))) ** 2
            norm += twice * abs(wanted) ** 2
        return float((error / norm).mid()) ** 0.5


@pytest.mark.parametrize("exponent", [2, 3, 4, 5, 7, 8, 10, 12])
def test_the_transform_is_as_close_as_proven(exponent, capsys):
    length = 1 << exponent
    ratios = {
        name: relative_distance(forward(values), values) / relative_error(length)
        for name, values in inputs(length).items()
    }
    print(f"N = 2^{exponent}: η = {relative_error(length):.2e}, measured / η = {max(ratios.values()):.3f}")
    assert max(ratios.values()) < 0.3
    if exponent >= 4:
        assert max(ratios.values()) > 0.005, "the bound is useless"
    assert "measured" in capsys.readouterr().out


@pytest.mark.one_in(4)
@pytest.mark.parametrize("exponent", [2, 5, 9, 12, 16, 18])
def test_the_inverse_undoes_it(exponent):
    length = 1 << exponent
    for values in inputs(length).values():
        again = inverse(forward(values))
        assert np.linalg.norm(again - values) <= 2.1 * relative_error(length) * np.linalg.norm(values)


def test_a_long_transform_at_some_frequencies():
    length = 1 << 17
    values = inputs(length)["masses"]
    spectrum = forward(values)
    allowed = relative_error(length) * math.sqrt(length) * np.linalg.norm(values)
    n = np.arange(length)
    for k in (0, 1, 77, length // 4, length // 2 - 1, length // 2):
        angles = 2 * math.pi * ((k * n) % length) / length
        assert abs(math.fsum(values * np.cos(angles)) - spectrum.re[k]) <= allowed
        assert abs(-math.fsum(values * np.sin(angles)) - spectrum.im[k]) <= allowed


def test_lengths_out_of_range_are_refused():
    for length in (0, 2, 12, 1 << 23):
        with pytest.raises(InvalidValue, match="length"):
            relative_error(length)
    with pytest.raises(InvalidValue, match="length"):
        forward(np.ones(24))


# --- weighted sums, tails -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tilt", [Fraction(0), Fraction(1, 7), Fraction(5), Fraction(300)])
@pytest.mark.parametrize("first", [-3, -2, 0, 5, 28])
def test_weighted_sums_both_ways(tilt, first):
    length, start, spacing = 32, -3, Fraction(3, 128)
    c = inputs(length)["masses"]
    t = Fraction(1, 77)
    masses = {start + i: Fraction(float(value)) for i, value in enumerate(c) if start + i >= first}
    truth = weighted(masses, tilt, spacing, first * spacing - t)
    blocks = Blocks.of(c, start, tilt, spacing)
    with flint.ctx.workprec(150):
        spectrum = acb.dft([acb(float(c[(p - start) % length])) for p in range(length)])
    few = FewFrequencies.of(list(enumerate(spectrum[: length // 2 + 1])), length, start, tilt, spacing)
    for sums, width in ((blocks, 1e-13), (few, 1e-25)):
        with flint.ctx.workprec(BITS):
            value = sums.bound(first, ball(t))
            assert value.contains(truth) or value.overlaps(truth)
            assert float(value.rad()) <= width * float(truth)
            assert sums.log_estimate(first, float(t)) == pytest.approx(float(truth.log()), abs=1e-9)


@pytest.mark.parametrize("tilt", [Fraction(0), Fraction(1, 7), Fraction(5), Fraction(300)])
def test_the_norm_of_the_weights(tilt):
    for spacing in (Fraction(1, 1000), Fraction(1, 10)):
        for shift in (0.0, 0.3, 0.9):
            t = (np.arange(512) + shift) * float(spacing)
            norm = math.sqrt(float(np.sum((np.exp(-float(tilt) * t) * -np.expm1(-t)) ** 2)))
            bound = float(norm_of_weights(tilt, spacing, 512))
            assert norm <= bound
            if tilt == 5:
                assert bound <= 3 * norm + float(largest_weight(tilt))


def test_tails_hold():
    parts = [(random_measure(np.random.default_rng(5), 5, 9), Fraction(0), 6)]
    truth = convolution(parts)
    law = law_of(parts[0][0], 6)
    origin = 6 * parts[0][0][0][0]
    spacing = Fraction(1, 4)
    tails = Tails.of([law], spacing, Fraction(1), Fraction(2), Fraction(1, 2))
    for x in range(0, max(truth) - origin + 2, 7):
        where = ball(x * spacing)
        assert tails.at_or_above(where) >= ball(sum((m for j, m in truth.items() if j - origin >= x), Fraction(0)))
        assert tails.at_or_below(where) >= ball(sum((m for j, m in truth.items() if j - origin <= x), Fraction(0)))
        with flint.ctx.workprec(BITS):
            returning = sum((ball(m) * (-ball((j - origin + x) * spacing) / 2).exp() for j, m in truth.items()), arb(0))
        assert tails.returning(where).upper() >= returning.mid()


# --- sides ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("tilt", [Fraction(0), Fraction(1, 3), Fraction(4)])
def test_small_compositions_against_rational_convolutions(seed, tilt):
    dice = np.random.default_rng(seed)
    spacing = Fraction(1, 16)
    atoms, offsets, counts = (dice.integers(*ends, size=1 + seed % 2).tolist() for ends in ((2, 7), (-9, 9), (1, 4)))
    parts = [
        (random_measure(dice, n, 12), Fraction(offset, 100), count)
        for n, offset, count in zip(atoms, offsets, counts, strict=True)
    ]
    mean = sum(n * (float(s) + float(sum(k * m for k, m in masses)) / 16) for masses, s, n in parts)
    near = max(0.0, mean)
    upper, lower = (fourier(parts, tilt, spacing, near, upper=side) for side in (True, False))
    for epsilon in (Fraction(near), Fraction(near) + Fraction(1, 5), Fraction(near) - Fraction(1, 10)):
        assert_overlap((upper.delta(epsilon), lower.delta(epsilon)), [exact_delta(parts, tilt, spacing, epsilon)] * 2)
    truth = float(exact_delta(parts, tilt, spacing, Fraction(near)))
    allowed = 1e-8 * math.exp(-float(tilt) * (near - float(sum(n * s for _, s, n in parts))))
    assert float(upper.delta(Fraction(near)).upper()) - truth <= allowed
    assert truth - float(lower.delta(Fraction(near)).lower()) <= allowed


@pytest.mark.seconds
@settings(max_examples=25)
@given(st.integers(0, 10**6), st.integers(1, 400), st.floats(0, 6), st.booleans())
def test_both_engines_agree(seed, count, tilt, several):
    dice = np.random.default_rng(seed)
    spacing = Fraction(1, 32)
    parts = [(random_measure(dice, int(dice.integers(2, 12)), 20), Fraction(int(dice.integers(-9, 9)), 1000), count)]
    if several:
        parts.append((random_measure(dice, 4, 20), Fraction(1, 7), int(dice.integers(1, 50))))
    mean = sum(n * (float(s) + float(sum(k * m for k, m in masses)) / 32) for masses, s, n in parts)
    epsilon = Fraction(max(0.0, mean + float(dice.uniform(-0.3, 0.3))))
    upper, lower = both(fourier, epsilon, parts, Fraction(tilt), spacing, float(epsilon))
    assert_overlap((upper, lower), both(integers, epsilon, parts, Fraction(tilt), spacing))
    scale = math.exp(-tilt * float(epsilon - sum(n * s for _, s, n in parts)))
    assert float(upper.upper()) - float(lower.lower()) <= 1e-7 * scale


def binomial(zero, one, count, first, last):
    """C(n, k) one^k zero^(n-k), k = first, ..., last."""
    n = arb(count)
    log_mass = (n + 1).lgamma() - arb(first + 1).lgamma() - (n - first + 1).lgamma()
    mass = (log_mass + first * ball(one).log() + (count - first) * ball(zero).log()).exp()
    ratio, masses = ball(one / zero), []
    for k in range(first, last + 1):
        masses.append(mass)
        mass = mass * ratio * (count - k) / (k + 1)
    return masses


@pytest.mark.seconds_cases("one0-10000000")
@pytest.mark.parametrize("count", [10, 10**3, 10**5, 10**7])
@pytest.mark.parametrize("one", [Fraction(1, 2), Fraction(1, 9)])
def test_two_atoms_whatever_the_number_of_steps(count, one):
    zero = 1 - one
    deviation = math.sqrt(count * one * zero)
    spacing, tilt = Fraction(1), Fraction(1.5 / deviation)
    near = float(count * one) + 0.7 * deviation
    parts = [([(0, zero), (1, one)], Fraction(0), count)]
    start = math.floor(near) + 1
    last = min(count, int(near + 22 * deviation))
    epsilon = Fraction(near)
    with flint.ctx.workprec(200):
        truth = arb(0)
        for k, mass in enumerate(binomial(zero, one, count, start, last), start):
            t = ball(k - epsilon)
            truth += mass * (-ball(tilt) * t).exp() * -(-t).expm1()
        truth *= (-ball(tilt * epsilon)).exp()
    upper, lower = (fourier(parts, tilt, spacing, near, upper=side, allowance=1e-13) for side in (True, False))
    high, low = upper.delta(epsilon), lower.delta(epsilon)
    assert_overlap((high, low), (truth, truth))
    with flint.ctx.workprec(200):
        assert float((high.upper() - low.lower()) / truth) <= 1e-9
    assert upper.approximate(near) == pytest.approx(float(truth.log()), abs=1e-8)


def bell(width):
    reach = int(6 * width)
    weights = [(k, Fraction(math.exp(-((k / width) ** 2) / 2))) for k in range(-reach, reach + 1)]
    everything = sum(weight for _, weight in weights)
    return [(k, weight / everything) for k, weight in weights]


@pytest.mark.parametrize("count", [1, 30, 10**3, 10**5])
def test_a_bell_against_the_integers(count):
    deviation = 2.5 * math.sqrt(count) / 64
    parts = [(bell(2.5), Fraction(1, 1000), count)]
    tilt, near = Fraction(3 / deviation), count / 1000 + 0.2 * deviation
    sides = both(fourier, Fraction(near), parts, tilt, Fraction(1, 64), near)
    assert_overlap(sides, both(integers, Fraction(near), parts, tilt, Fraction(1, 64)))
    assert float((sides[0].upper() - sides[1].lower()) / sides[1].mid()) < 1e-8


ADVERSARIES = {
    "one huge atom, tiny ones": ([(-7, Fraction(1e-200)), (0, Fraction(1)), (3, Fraction(1e-200))], 40),
    "denormals": ([(0, Fraction(5e-324)), (1, Fraction(1)), (2, Fraction(1e-310)), (5, Fraction(1, 10))], 9),
    "below all doubles": ([(0, Fraction(1, 10**400)), (1, Fraction(1)), (4, Fraction(1, 3))], 9),
    "heavy tail": ([(k, Fraction(1, (k + 1) ** 3)) for k in range(200)], 30),
    "a single atom": ([(3, Fraction(1))], 17),
    "rare and far": ([(0, 1 - Fraction(1, 1000)), (190, Fraction(1, 1000))], 300),
    "masses far from one": ([(0, Fraction(10**40)), (1, Fraction(10**39))], 12),
}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", ADVERSARIES)
@pytest.mark.parametrize("tilt", [Fraction(0), Fraction(2)])
def test_adversaries(name, tilt):
    masses, count = ADVERSARIES[name]
    spacing = Fraction(1, 50)
    parts = [(masses, Fraction(0), count)]
    everything = sum(mass for _, mass in masses)
    near = max(0.05, count * float(sum(k * mass for k, mass in masses) / everything) / 50)
    sides = [fourier(parts, tilt, spacing, near, upper=side) for side in (True, False)]
    checks = [integers(parts, tilt, spacing, upper=side) for side in (True, False)]
    for epsilon in (Fraction(near), Fraction(near) * Fraction(5, 4), Fraction(near) + 1):
        assert_overlap([side.delta(epsilon) for side in sides], [side.delta(epsilon) for side in checks])
    high, low = (side.delta(Fraction(near)) for side in sides)
    scale = everything**count * Fraction(math.exp(-float(tilt) * near))
    assert upper_end(high) - lower_end(low) <= Fraction(1, 10**6) * scale


def test_solving_meets_the_wanted_delta():
    parts = [(bell(2.0), Fraction(1, 500), 400)]
    near = 1.2
    for side in (True, False):
        composed = fourier(parts, Fraction(3), Fraction(1, 64), near, upper=side)
        wanted = composed.approximate(near)
        assert composed.solve(wanted) == pytest.approx(near, rel=1e-9)
        assert composed.solve(wanted - 1) > near
        assert composed.solve(wanted + 1) < near
    assert fourier(parts, Fraction(3), Fraction(1, 64), near, upper=True).solve(-1e4) is None
    assert fourier(parts, Fraction(3), Fraction(1, 64), near, upper=False).solve(1e4) == 0.0


@pytest.mark.parametrize("tilt", [Fraction(0), Fraction(3)])
@pytest.mark.parametrize("start", [-10, 5, 22, 40, 70])
def test_what_wraps_around_is_counted(tilt, start):
    """In windows far too short, against the exact convolution."""
    spacing, length = Fraction(1, 16), 32
    parts = [(random_measure(np.random.default_rng(3), 6, 9), Fraction(0), 5)]
    law = law_of(parts[0][0], 5)
    origin = 5 * parts[0][0][0][0]
    masses = {j - origin: m for j, m in convolution(parts).items()}
    sides = {side: fourier(parts, tilt, spacing, 0.5, upper=side) for side in (True, False)}
    for exponents in ((1, 1, 1), (5, 4, 3)):
        high, low, alias = (Fraction(k) for k in exponents)
        tails = Tails.of([law], spacing, high, low, min(tilt, alias))
        for first in range(start - 10, start + length + 10, 7):
            remaining = first * spacing - Fraction(1, 100)
            inside = {j: m for j, m in masses.items() if max(first, start) <= j < start + length}
            everything = weighted(masses, tilt, spacing, remaining)
            kept = weighted(inside, tilt, spacing, remaining)
            folded = Counter()
            for j, m in masses.items():
                folded[start + (j - start) % length] += m
            folded = {place: m for place, m in folded.items() if place >= first}
            periodic = weighted(folded, tilt, spacing, remaining)
            window = replace(sides[True].window, length=length, start=start)
            over, under = (
                replace(sides[side], window=window, tails=tails).wrapped(remaining) for side in (True, False)
            )
            with flint.ctx.workprec(BITS):
                assert over.upper() >= (everything - kept).lower()
                assert under.upper() >= (periodic - everything).lower()


def test_mass_at_infinity_is_added():
    parts = [(bell(2.0), Fraction(1, 500), 40)]
    composed, with_more = (
        fourier(parts, Fraction(2), Fraction(1, 64), 0.2, upper=True, infinite=infinite)
        for infinite in (None, arb("0.125"))
    )
    difference = with_more.delta(Fraction(1, 5)) - composed.delta(Fraction(1, 5))
    assert float(difference) == pytest.approx(0.125, rel=1e-9)
    assert with_more.log_shares(0.2)["moved to infinity"] == pytest.approx(math.log(0.125))
    grown = math.exp(with_more.approximate(0.2)) - math.exp(composed.approximate(0.2))
    assert grown == pytest.approx(0.125, rel=1e-9)


# --- what is left out, and round-off --------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 7, 60])
@pytest.mark.parametrize("several", [False, True])
def test_what_is_left_out_of_the_spectrum_is_counted(count, several):
    """Against c itself; with so coarse a target that forgetting what is left out would show."""
    dice, length = np.random.default_rng(count), 256
    laws = [law_of(random_measure(dice, 12, 9, 1), n) for n in (count, 5)[: 1 + several]]
    truth = np.zeros(length)
    truth[0] = 1.0
    for law in laws:
        one = np.zeros(length)
        one[list(law.positions)] = law.nearest
        for _ in range(law.count):
            truth = sum((mass * np.roll(truth, k) for k, mass in enumerate(one) if mass), np.zeros(length))
    missed = []
    for target in (1e-9, 1.0, 8.0, 40.0):
        spectrum = spectra.ComposedSpectrum.of(laws, length, target / (256 * spectra._NEGLIGIBLE))
        wave = np.arange(length)
        found = np.zeros(length)
        for k, value in spectrum.in_balls(spectrum.frequencies):
            term = complex(value) * np.exp(2j * math.pi / length * (k * wave % length)) / length
            found += term.real * (1 if k in (0, length // 2) else 2)
        missed.append(float(np.linalg.norm(found - truth)))
        assert missed[-1] <= float(spectrum.left_out) + 1e-13
        masses, error = spectrum.masses([])  # all in float64
        assert float(np.linalg.norm(masses - truth)) <= float(error) + 1e-14
    assert missed[-1] > 1e-6, "forgetting it would show"


def test_forgotten_round_off_would_show(monkeypatch):
    """All in float64, with many steps: the sum is off by more than rounding alone, and by less than the bound."""
    monkeypatch.setattr(spectra, "_EXACT_TERMS", 0)
    monkeypatch.setattr("dpbounds.privacy.routes.lattice.fourier._MOST_ROUND_OFF", 10**9)
    count, spacing = 10**6, Fraction(1, 64)
    parts = [(bell(2.5), Fraction(1, 10**6), count)]
    deviation = 2.5 * math.sqrt(count) / 64
    tilt, near = Fraction(3 / deviation), count / 10**6 + 0.2 * deviation
    rough = fourier(parts, tilt, spacing, near, upper=True)
    assert isinstance(rough.sums, Blocks)
    assert rough.exact_frequencies <= 1
    monkeypatch.undo()
    fine = fourier(parts, tilt, spacing, near, upper=True)
    assert isinstance(fine.sums, FewFrequencies)
    first = fine._first(Fraction(near) - fine.origin)
    with flint.ctx.workprec(BITS):
        t = ball(first * spacing - (Fraction(near) - fine.origin))
        error = abs(rough.sums.bound(first, t).mid() - fine.sums.bound(first, t).mid())
    assert float(error) <= float(rough.round_off)
    assert float(error) > 1e3 * float(fine.round_off)
    assert float(error) > 1e-6 * float(rough.round_off), "the bound is useless"
    with flint.ctx.workprec(BITS):
        weights = float(norm_of_weights(tilt, spacing, rough.window.length))
        masses = math.sqrt(float(sum((m * m for _, m in parts[0][0]), Fraction(0))))
    of_the_transform = count * relative_error(rough.window.length) * masses * weights
    assert 0.3 * of_the_transform < float(rough.round_off) < 3 * of_the_transform


def test_floats_that_do_not_suffice_are_refused(monkeypatch):
    monkeypatch.setattr(spectra, "_EXACT_TERMS", 0)
    with pytest.raises(InexactFloats, match="float64"):
        fourier([(bell(2.5), Fraction(0), 10**7)], Fraction(1), Fraction(1, 64), 100.0, upper=True, allowance=1e-15)


FAR = [(0, Fraction(1, 2)), (1 << 23, Fraction(1, 2))]
TWICE = [(1, Fraction(1, 2)), (1, Fraction(1, 2))]
NOT_COMPOSED = [
    ([], 1, InvalidValue, "product"),
    ([([(0, Fraction(0))], Fraction(0), 3)], 1, Declined, "empty"),
    ([(TWICE, Fraction(0), 3)], 1, InvalidValue, "increasing"),
    ([(bell(1.0), Fraction(0), 3)], -1, InvalidValue, "tilt"),
    ([(FAR, Fraction(0), 3)], 1, Declined, "lattice points"),
]


@pytest.mark.parametrize(("parts", "tilt", "refusal", "words"), NOT_COMPOSED)
def test_what_cannot_be_composed_is_refused(parts, tilt, refusal, words):
    with pytest.raises(refusal, match=words):
        fourier(parts, Fraction(tilt), Fraction(1, 64), 1.0, upper=True)
    if refusal is Declined:
        with pytest.raises(Declined, match="work limit"):
            fourier([([(0, 1), (1, 1)], Fraction(0), 10)], Fraction(1, 64), Fraction(1, 64), 0.1, upper=False, work=1)


# --- in use ---------------------------------------------------------------------------------------------------------


@pytest.mark.seconds_cases("0.01-1-10000-1e-6-remove")
@pytest.mark.one_in(4)
@pytest.mark.parametrize("order", ["remove", "add", "replace"])
@pytest.mark.parametrize(
    ("q", "z", "steps", "delta"),
    [("0.01", "1", 10**4, "1e-6"), ("0.2", "2", 30, "1e-9"), ("0.01", "1", 300, "1e-200"), ("0.5", "1", 3, "1e-2")],
)
def test_enclosures_by_both_engines_overlap(order, q, z, steps, delta):
    question = product(order, (q, z, steps))
    by_fourier, by_integers = (
        epsilon_bounds(question, exact(delta), engine=engine) for engine in ("fourier", "integers")
    )
    assert by_fourier.parameters["engine"] == "fourier"
    assert by_integers.parameters["engine"] == "integers"
    assert by_fourier.enclosure.overlaps(by_integers.enclosure)
    assert by_fourier.enclosure.width <= 1e-3 * by_fourier.enclosure.upper
    assert by_fourier.error_budget["round-off"] < 1e-6
    assert by_fourier.error_budget["wrap-around"] < 1e-6


def test_integers_take_over_where_float64_does_not_suffice(monkeypatch):
    question, delta = product("remove", ("0.2", 2, 30)), Fraction(1, 10**6)
    by_fourier = epsilon_bounds(question, delta)
    monkeypatch.setattr(attempts, "compose_fourier", Mock(side_effect=InexactFloats("not enough")))
    proof = epsilon_bounds(question, delta)
    assert proof.parameters["engine"] == "integers"
    assert proof.enclosure.overlaps(by_fourier.enclosure)
    assert proof.enclosure.width <= 1e-3 * proof.enclosure.upper


def test_rare_and_large_losses_a_hundred_thousand_times():
    found = epsilon_bounds(product("remove", ("1e-5", "0.3", 10**5)), Fraction("1e-50")).enclosure
    assert found.contains("87.14") or found.contains("87.15")
    assert found.width <= 1e-3 * found.upper


@pytest.mark.minutes
@pytest.mark.parametrize(("steps", "tolerance"), [(10**4, 1e-6), (10**6, 1e-4), (10**7, 1e-3)])
def test_long_windows(steps, tolerance):
    proof = epsilon_bounds(product("remove", ("0.01", "1", steps)), exact("1e-6"), tolerance=tolerance)
    assert proof.parameters["engine"] == "fourier"
    assert proof.enclosure.width <= tolerance * proof.enclosure.upper


# --- frequencies -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 2, 31, 32, 33, 500])
def test_frequencies_in_blocks_are_those_of_the_whole(count):
    positions = tuple(int(k) for k in np.cumsum([0, *(1 + (7 * i) % 5 for i in range(count - 1))]))
    with flint.ctx.workprec(128):
        masses = tuple(ball(Fraction(1 + (3 * i) % 11, 17)) for i in range(count))
        law = TiltedMeasure(positions, masses, np.array([float(mass) for mass in masses]), 1)
        for turn in (Fraction(0), Fraction(1, 3), Fraction(5, 1024), Fraction(1, 2)):
            z = acb(0, 2 * arb.pi() * ball(turn)).exp()
            found = law.frequency(z)
            with flint.ctx.workprec(600):
                w = acb(0, 2 * arb.pi() * ball(turn)).exp()
                truth = sum((mass * w**k for mass, k in zip(masses, positions, strict=True)), acb(0))
            assert found.real.overlaps(truth.real)
            assert found.imag.overlaps(truth.imag)
            assert max(found.real.rad(), found.imag.rad()) < arb(2) ** -90  # boxes do not grow with the length
