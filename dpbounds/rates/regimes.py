"""Who wins where: exact regions in which one order of growth is smaller than another, and the best of many."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from itertools import combinations, groupby, product
from typing import Any

from dpbounds.displayed import Displayed, Sheet
from dpbounds.rates.cones import Cone, joined, outside, product as inner
from dpbounds.rates.orders import LOGARITHMS, ONE, Monomial, Order
from dpbounds.rates.spaces import Space, in_letters, standard


@dataclass(frozen=True, slots=True)
class Piece:
    """A cone on which a piecewise linear function is one monomial."""

    cone: Cone
    monomial: Monomial


@dataclass(frozen=True, slots=True)
class Restricted:
    """An order of growth, and where it holds.

    Attributes:
        region: Cones that do not overlap; None for everywhere.
    """

    order: Order
    region: tuple[Cone, ...] | None = None

    @classmethod
    def of(cls, order: Order | Restricted) -> Restricted:
        """Return an order that holds everywhere, unless it is restricted already."""
        return order if isinstance(order, Restricted) else cls(order)

    def pieces(self, space: Space) -> tuple[Piece, ...]:
        """Cones, with one monomial as the order on each; together they fill the region."""
        return tuple(
            piece for cone in self.region or (space.whole,) for piece in linear_pieces(self.order, space, cone)
        )


def linear_pieces(order: Order, space: Space, within: Cone | None = None) -> tuple[Piece, ...]:
    """Cones, with one monomial as the order on each; together they fill the space."""
    start = within or space.whole
    pieces: list[Piece] | None = None
    for term in order.terms:
        smallest = [Piece(start, term[0])]
        for one in term[1:]:
            smallest = list(_better(smallest, [Piece(start, one)], space, -1))
        pieces = smallest if pieces is None else list(_better(pieces, smallest, space, 1))
    assert pieces is not None
    return tuple(pieces)


def _better(left: Iterable[Piece], right: Sequence[Piece], space: Space, sign: int) -> Iterator[Piece]:
    """Yield the larger (sign 1) or the smaller (-1) of two piecewise functions."""
    for one in left:
        for other in right:
            common = one.cone.meet(other.cone)
            if common is None:
                continue
            slope = space.form(one.monomial / other.monomial)
            if not any(slope):
                yield Piece(common, _with_all_logarithms(one.monomial, other.monomial))
                continue
            winners = (one, other) if sign > 0 else (other, one)
            for cone, winner in zip(common.cut(slope), winners, strict=True):
                if cone is not None:
                    yield Piece(cone, winner.monomial)


def _with_all_logarithms(left: Monomial, right: Monomial) -> Monomial:
    """Two monomials that differ by logarithms at most: the larger power of each, which is never too small a bound."""
    powers = {kind: max(left.exponent(kind), right.exponent(kind)) for kind in LOGARITHMS}
    return left.without(LOGARITHMS) * Monomial.of(powers)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Regions where one order of growth is smaller than, equal to, or larger than another.

    Attributes:
        smaller: Convex regions in which the first is smaller (better, for an upper bound).
    """

    space: Space
    smaller: tuple[Cone, ...]
    equal: tuple[Cone, ...]
    larger: tuple[Cone, ...]

    def at(self, point: Sequence[Fraction | int]) -> set[int]:
        """The verdicts of the regions that hold a point: -1 smaller, 0 equal, 1 larger (several on a boundary)."""
        regions = {-1: self.smaller, 0: self.equal, 1: self.larger}
        return {sign for sign, cones in regions.items() if any(cone.contains(point) for cone in cones)}

    def crossovers(self) -> tuple[str, ...]:
        """Return the boundaries between smaller and larger, as equations in n, d, ε, ..."""
        return _edges(product(self.smaller, self.larger), self.space)

    def __str__(self) -> str:
        lines = []
        for label, cones in (("smaller", self.smaller), ("equal", self.equal), ("larger", self.larger)):
            lines += [f"{label} where {' and '.join(self.space.inequalities(cone)) or 'always'}" for cone in cones]
        return "\n".join(lines)


def _edges(pairs: Iterable[tuple[Cone, Cone]], space: Space) -> tuple[str, ...]:
    """Return the common facets of cones, as equations in n, d, ε, ..."""

    def touch(first: Cone, second: Cone, facet: tuple[int, ...]) -> bool:
        both = ((first, second), (second, first))
        return any(inner(facet, ray) == 0 and other.contains(ray) for cone, other in both for ray in cone.rays)

    facets = (
        facet
        for first, second in pairs
        for facet in sorted(first.facets)
        if tuple(-entry for entry in facet) in second.facets and touch(first, second, facet)
    )
    return tuple(dict.fromkeys(re.sub("[<>]=", "=", space.inequality(facet)) for facet in facets))


def compare(
    first: Order | Restricted, second: Order | Restricted, space: Space | None = None, within: Cone | None = None
) -> Comparison:
    """Return where the first order of growth is smaller than the second, as far as both hold.

    >>> from sympy import sqrt
    >>> from dpbounds.expressions.symbols import dataset_size as n, dimension as d, epsilon
    >>> term = sqrt(d) / (n * epsilon)
    >>> warm, cold = Order.of(term * d ** Fraction(1, 6)), Order.of(term ** Fraction(2, 3))
    >>> compare(warm, cold).crossovers()
    ('n ε = d',)
    """
    chosen = space or standard()
    found: dict[int, list[Cone]] = {-1: [], 0: [], 1: []}
    right = Restricted.of(second).pieces(chosen)
    for one in Restricted.of(first).pieces(chosen):
        for other in right:
            common = one.cone.meet(other.cone)
            common = common.meet(within) if common is not None and within is not None else common
            if common is None:
                continue
            slope = chosen.form(one.monomial / other.monomial)
            sides = zip((1, -1), common.cut(slope), strict=True) if any(slope) else [(0, common)]
            for sign, cone in sides:
                found[sign] += [] if cone is None else [cone]
    return Comparison(chosen, joined(found[-1]), joined(found[0]), joined(found[1]))


class Verdict(StrEnum):
    """Distance of the best result of a region from the lower bound, up to constants and logarithms."""

    TIGHT = "tight"
    GAP = "gap"
    OPEN = "open"  # no lower bound that compares is known


@dataclass(frozen=True, slots=True, repr=False)
class Regime(Displayed):
    """A region with its best results.

    Attributes:
        space: The space of the region.
        best: Names of the results that are best there, up to logarithms; more than one is a tie.
        by_logarithms: Those of ``best`` whose powers of logarithms are smallest; none where the paper hides some of
            them.
        floor: The largest lower bound there, if one is known.
        pure: Those of ``best`` that are reached with ε-DP alone.
        pure_floor: The largest lower bound for ε-DP there, where one of ``best`` is pure; None else.
    """

    space: Space
    cone: Cone
    best: tuple[str, ...]
    value: Monomial
    by_logarithms: tuple[str, ...]
    floor: Monomial | None
    pure: tuple[str, ...] = ()
    pure_floor: Monomial | None = None

    @property
    def pure_gap(self) -> Monomial | None:
        """Ratio of the best ε-DP result to the lower bound for ε-DP, up to logarithms."""
        return None if self.pure_floor is None else self.value / self.pure_floor

    @property
    def gap(self) -> Monomial | None:
        """Ratio of the best result to the lower bound, up to logarithms: 1 if it is tight."""
        return None if self.floor is None else self.value / self.floor

    @property
    def verdict(self) -> Verdict:
        """Tight, a gap of a given size (``gap``), or open."""
        return _verdict(self.gap)

    @property
    def where(self) -> str:
        """The region, as inequalities in n, d, ε, ..."""
        return " and ".join(self.space.inequalities(self.cone)) or "everywhere"

    def __str__(self) -> str:
        best = ", ".join(self.best)
        return f"{self.where}: {in_letters(self.value)} by {best}; {verdict_in_words(self.gap)}"

    def __repr__(self) -> str:
        return f"<Regime {self}>"

    def _sheet(self) -> Sheet:
        facts = (
            ("where", self.where),
            ("best order", in_letters(self.value)),
            ("by", ", ".join(self.best)),
            ("beside lower bounds", verdict_in_words(self.gap)),
            *((("by ε-DP alone", ", ".join(self.pure)),) if self.pure else ()),
        )
        return Sheet("one regime, up to constants and logarithms", facts)


def _verdict(gap: Monomial | None) -> Verdict:
    if gap is None:
        return Verdict.OPEN
    return Verdict.TIGHT if gap == ONE else Verdict.GAP


def verdict_in_words(gap: Monomial | None) -> str:
    """Return a verdict in words, with the factor of a gap."""
    match _verdict(gap), gap:
        case Verdict.GAP, Monomial() as factor:
            return f"gap: {in_letters(factor)} above the best lower bound"
        case Verdict.TIGHT, _:
            return "tight: equals the lower bound"
    return "open: no lower bound that compares is known"


class Regimes(tuple[Regime, ...]):
    """The regions that fill a space, which a notebook shows as a table.

    Attributes:
        space: The space of the regions.
    """

    space: Space

    def __new__(cls, found: Iterable[Regime], space: Space) -> Regimes:
        """Take the regions in their order."""
        made = super().__new__(cls, found)
        made.space = space
        return made

    def __getnewargs__(self) -> tuple[tuple[Regime, ...], Space]:
        return tuple(self), self.space

    def _repr_html_(self) -> str:
        rows = [(one.where, in_letters(one.value), ", ".join(one.best), verdict_in_words(one.gap)) for one in self]
        title = f"{len(rows)} regime{'' if len(rows) == 1 else 's'}, up to constants and logarithms"
        return Sheet(title, (), ("where", "best order", "by", "beside lower bounds"), rows).markup()

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text("\n".join(map(str, self)))


TRIVIAL = "trivial"


def regimes(
    uppers: Mapping[str, Order | Restricted],
    lowers: Mapping[str, Order | Restricted] | None = None,
    space: Space | None = None,
    *,
    pure: Collection[str] = (),
    pure_lowers: Mapping[str, Order | Restricted] | None = None,
) -> Regimes:
    """Return the regions in which each of several upper bounds is best.

    Args:
        uppers: Upper bounds by name. The bound 1, which needs no theorem, is added as "trivial".
        lowers: Lower bounds by name.
        space: The axes; n, d and 1/ε by default.
        pure: Names of upper bounds that ε-DP algorithms reach.
        pure_lowers: Lower bounds for ε-DP algorithms alone, by name.

    Returns:
        Convex regions that fill the space, each with its winners and the distance to the best lower bound.
    """
    chosen = space or standard()
    named = {TRIVIAL: Order.single(ONE), **{name: Restricted.of(order).order for name, order in uppers.items()}}
    cells = [_Cell(chosen.whole, None, frozenset(), {})]
    for name, order in {TRIVIAL: named[TRIVIAL], **uppers}.items():
        cells = list(_with_result(cells, name, Restricted.of(order), chosen))
    found = []
    floors = _largest(lowers or {}, chosen)
    pure_floors = _largest({**(lowers or {}), **pure_lowers}, chosen) if pure_lowers else []
    attained = frozenset((*pure, TRIVIAL))
    for _, group in groupby(sorted(cells, key=_key), key=_key):
        same = list(group)
        cones = joined([cell.cone for cell in same])
        for cone in cones:
            for common, floor in _cut(cone, floors):
                for part, pure_floor in _cut(common, pure_floors if same[0].best & attained else []):
                    found.append(_regime(part, same[0], floor, named, chosen, attained, pure_floor))
    return _in_order(found, chosen)


def by_winner(found: Regimes) -> Regimes:
    """Return the same regions without their lower bounds: the best results and their orders."""
    return _in_order([replace(one, floor=None, pure_floor=None) for one in found], found.space)


def _in_order(found: Sequence[Regime], space: Space) -> Regimes:
    return Regimes(sorted(_merged(found), key=lambda regime: sorted(regime.cone.rays)), space)


def _merged(found: Sequence[Regime]) -> Iterator[Regime]:
    """Regions that differ in nothing but their place, put together where that is convex."""
    same: dict[object, list[Regime]] = {}
    for one in found:
        same.setdefault((one.best, one.value, one.by_logarithms, one.floor, one.pure_floor), []).append(one)
    for group in same.values():
        for cone in joined([one.cone for one in group]):
            yield replace(group[0], cone=cone)


@dataclass(frozen=True, slots=True)
class _Cell:
    cone: Cone
    value: Monomial | None
    best: frozenset[str]
    monomials: Mapping[str, Monomial]


def _key(cell: _Cell) -> tuple[object, ...]:
    assert cell.value is not None
    return sorted(cell.best), str(cell.value.without(LOGARITHMS)), sorted(map(str, cell.monomials.values()))


def _with_result(cells: Iterable[_Cell], name: str, order: Restricted, space: Space) -> Iterator[_Cell]:
    pieces = order.pieces(space)
    for cell in cells:
        for rest in () if order.region is None else outside(cell.cone, order.region):
            yield replace(cell, cone=rest)
        for piece in pieces:
            common = cell.cone.meet(piece.cone)
            if common is None:
                continue
            mine = {name: piece.monomial}
            if cell.value is None:
                yield _Cell(common, piece.monomial, frozenset({name}), mine)
                continue
            slope = space.form(cell.value / piece.monomial)
            if not any(slope):
                yield _Cell(common, cell.value, cell.best | {name}, {**cell.monomials, **mine})
                continue
            above, below = common.cut(slope)
            if above is not None:
                yield _Cell(above, piece.monomial, frozenset({name}), mine)
            if below is not None:
                yield _Cell(below, cell.value, cell.best, cell.monomials)


def _largest(lowers: Mapping[str, Order | Restricted], space: Space) -> list[Piece]:
    """Return the largest of several lower bounds, where there is one."""
    pieces: list[Piece] = []
    for order in lowers.values():
        mine = list(Restricted.of(order).pieces(space))
        both = list(_better(pieces, mine, space, 1))
        pieces = [*both, *_uncovered(pieces, mine), *_uncovered(mine, pieces)]
    return pieces


def _uncovered(pieces: Iterable[Piece], others: Sequence[Piece]) -> list[Piece]:
    taken = [one.cone for one in others]
    return [Piece(rest, one.monomial) for one in pieces for rest in outside(one.cone, taken)]


def _cut(cone: Cone, floors: Sequence[Piece]) -> Iterator[tuple[Cone, Monomial | None]]:
    """Yield a region divided by the lower bounds that hold in it, and the part of it without any."""
    for piece in floors:
        common = cone.meet(piece.cone)
        if common is not None:
            yield common, piece.monomial
    for rest in outside(cone, [piece.cone for piece in floors]):
        yield rest, None


def _regime(
    cone: Cone,
    cell: _Cell,
    floor: Monomial | None,
    named: Mapping[str, Order],
    space: Space,
    attained: frozenset[str],
    pure_floor: Monomial | None,
) -> Regime:
    assert cell.value is not None
    return Regime(
        space,
        cone,
        tuple(name for name in named if name in cell.best),
        space.reduced(cell.value),
        _fewest_logarithms(cell, named),
        None if floor is None else space.reduced(floor),
        tuple(name for name in named if name in cell.best & attained),
        None if pure_floor is None else space.reduced(pure_floor),
    )


def _fewest_logarithms(cell: _Cell, named: Mapping[str, Order]) -> tuple[str, ...]:
    """The winners whose logarithmic factors are smallest; none where the paper hides some, or they cannot be ordered.

    Logarithms of n and d against those of 1/δ cannot be compared: one result is ahead only if none of its powers is
    larger.
    """
    if any(named[name].logs_hidden for name in cell.best):
        return ()
    powers = {
        name: tuple(cell.monomials[name].exponent(kind) for kind in LOGARITHMS) for name in named if name in cell.best
    }
    return tuple(
        name
        for name, own in powers.items()
        if all(all(a <= b for a, b in zip(own, other, strict=True)) for other in powers.values())
    )


def boundaries(found: Sequence[Regime], space: Space) -> tuple[str, ...]:
    """Return the boundaries between winners, as equations in n, d, ε, ..."""
    changes = ((one.cone, other.cone) for one, other in combinations(found, 2) if one.best != other.best)
    return _edges(changes, space)
