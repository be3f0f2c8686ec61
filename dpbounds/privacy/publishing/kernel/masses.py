"""Integer masses of the steps of a product of pairs: cells of a lattice, spread to its points, and rounded up.

The lattice is chosen in floating point; any choice gives masses that dominate.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from dpbounds.expressions.exact import to_float
from dpbounds.expressions.working import working
from dpbounds.privacy.pairs.losses import ball
from dpbounds.privacy.pairs.pairs import Allocated, Direction, Pair, Product
from dpbounds.privacy.proofs import Declined, planned_in_doubles
from dpbounds.privacy.publishing.kernel.composing import Binary, Kind
from dpbounds.privacy.routes.allocation.choices import dyadic, first_spacing, round_number
from dpbounds.privacy.routes.allocation.discrete_pairs import Grid, dominating, has_many_bins
from dpbounds.privacy.routes.allocation.tuning import REPLACE_ONE, TUNING
from dpbounds.privacy.routes.combined import resolved
from dpbounds.privacy.routes.lattice import saddle as choices
from dpbounds.privacy.routes.lattice.attempts import Knobs, choose
from dpbounds.privacy.routes.lattice.discretisation import upper_atoms
from dpbounds.privacy.routes.lattice.estimates import rough_log_delta
from dpbounds.privacy.routes.lattice.products import cut_sketches, largest_loss_of, sketches_of, steps_of
from dpbounds.privacy.routes.lattice.steps import AnyStep, Lattice, cut

LEVELS = 2**18  # most levels of one step
_BITS = 128  # digits of an exponential
_EXPONENTIAL_PRECISION = 256
_MOST_EXPONENT = 6_900  # largest exponent: e^6900 has less than 10 000 bits, the most that a file may have
_WIDTH = 4e-3  # width of log δ on the first lattice
_ALLOCATED_WIDTH = 3e-4  # relative width of ε, for the first grid of allocated steps
_BELOW_LARGEST = 0.9  # share of the largest loss: the largest ε that a lattice is chosen for
_CUT_OFF = 1e-4  # mass moved to infinity, relative to δ


@dataclass(frozen=True, slots=True)
class Part:
    """Equal steps of a product: masses are those of ``step``, times ``factor``."""

    step: AnyStep
    count: int
    factor: Fraction


@dataclass(frozen=True, slots=True)
class Lattices:
    """The lattice of each part: what it takes to compute the masses again.

    Attributes:
        spacing: The width h of the lattice.
        precision: Bits of the balls.
        offsets: For each part, the loss at level 0.
        marks: For each part, the levels at which its loss is cut.
    """

    spacing: Fraction
    precision: int
    offsets: tuple[Fraction, ...]
    marks: tuple[tuple[int, ...], ...]


def grid_for(product: Product, delta: Fraction, refinement: float) -> Grid | None:
    """Choose the grid on which allocated steps are enclosed; None where there are none."""
    allocated = [pair for pair, _ in product if isinstance(pair, Allocated)]
    if not allocated:
        return None
    width, count = _ALLOCATED_WIDTH * refinement, sum(count for _, count in product)
    spaced = [pair for pair in allocated if pair.direction is not Direction.REPLACE]
    small = float(delta) / count
    return Grid(
        dyadic(min([first_spacing(pair, width) for pair in spaced], default=1.0)),
        round_number(small * TUNING.beyond_grid * min(1.0, width / 1e-3)),
        next(each for least, each in REPLACE_ONE if width >= least),
        round_number(small * TUNING.given_up),
        by_threshold=bool(spaced) and all(map(has_many_bins, spaced)),
    )


def parts_of(product: Product, grid: Grid | None) -> tuple[Part, ...]:
    """Return the parts of a product; allocated steps are replaced by the pairs that dominate them on the grid."""
    found: Counter[tuple[AnyStep, Fraction]] = Counter()
    for pair, count in resolved(product):
        shown: Pair = pair
        factor = Fraction(1)
        if isinstance(pair, Allocated):
            if grid is None:
                raise Declined("allocated steps need a grid")
            on_grid = dominating(pair, grid)
            shown, factor = on_grid.pair, on_grid.factor
        if not shown.has_distribution:
            raise Declined("the lattice route does not prove shuffled batches")
        for step, times in steps_of(((shown, count),)):
            found[step, factor] += times
    return tuple(Part(step, count, factor) for (step, factor), count in found.items())


@planned_in_doubles
def lattices_for(parts: tuple[Part, ...], epsilon: Fraction, refinement: float) -> Lattices:
    """Choose a lattice near an ε, or below the largest loss; ``Declined`` where it would be too large."""
    steps = tuple((part.step, part.count) for part in parts)
    value, limit = to_float(epsilon, "up"), largest_loss_of(steps)
    if limit is not None:
        value = min(value, _BELOW_LARGEST * limit.lower)
    log_delta = rough_log_delta(steps, value, math.inf if limit is None else limit.lower)
    sketches = cut_sketches(sketches_of(steps, log_delta), log_delta + math.log(_CUT_OFF))
    aim = choices.saddle_for_epsilon(sketches, value)
    chosen = choose(sketches, aim, _WIDTH * refinement / aim.slope, Knobs())
    starts = []
    with working(chosen.precision):
        for part, lattice, marks in zip(parts, chosen.lattices, chosen.marks, strict=True):
            starts.append(upper_atoms(cut(part.step, lattice, marks), lattice)[0][0])
    return Lattices(
        chosen.spacing,
        chosen.precision,
        tuple(lattice.offset + start * chosen.spacing for lattice, start in zip(chosen.lattices, starts, strict=True)),
        tuple(tuple(mark - start for mark in marks) for marks, start in zip(chosen.marks, starts, strict=True)),
    )


def kinds_of(parts: tuple[Part, ...], on: Lattices, bits: int) -> tuple[Kind, ...]:
    """Return the steps as integers: multiples of 2^-bits, rounded up."""
    return tuple(
        _kind(part, Lattice(offset, on.spacing), marks, on.precision, bits)
        for part, offset, marks in zip(parts, on.offsets, on.marks, strict=True)
    )


def _kind(part: Part, lattice: Lattice, marks: tuple[int, ...], precision: int, bits: int) -> Kind:
    with working(precision):
        cells = cut(part.step, lattice, marks)
        atoms = upper_atoms(cells, lattice)
        if atoms[0][0] < 0 or atoms[-1][0] >= LEVELS:
            raise Declined(f"lattice: the levels are {atoms[0][0]} to {atoms[-1][0]}, not from 0 to below {LEVELS}")
        masses = [0] * (atoms[-1][0] + 1)
        for level, mass in atoms:
            masses[level] = _rounded_up(mass * ball(part.factor), bits)
        infinite = _rounded_up((cells.above + part.step.infinite()) * ball(part.factor), bits)
    return Kind(part.count, exponential_below(-lattice.offset), infinite, tuple(masses))


def _rounded_up(mass: arb, bits: int) -> int:
    whole = (mass * arb(2) ** bits).upper().ceil().unique_fmpz()
    if whole is None:
        raise Declined("lattice: the working precision does not suffice for a mass")
    return max(0, int(whole))


def exponential_below(exponent: Fraction) -> Binary:
    """Return a lower bound of e^exponent with some 128 bits; ``Declined`` beyond e^±6900."""
    if abs(exponent) > _MOST_EXPONENT:
        raise Declined(f"lattice: losses beyond {_MOST_EXPONENT} have too many digits")
    shift = max(0, _BITS - math.floor(exponent / Fraction(math.log(2))))
    with working(_EXPONENTIAL_PRECISION + max(0, 2 * abs(math.ceil(exponent)))):
        whole = (ball(exponent).exp() * arb(2) ** shift).lower().floor().unique_fmpz()
    assert whole is not None
    return int(whole), shift
