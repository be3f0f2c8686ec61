"""Who wins where: exact regions in which one order of growth is smaller than another, and the best of many."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby

from dpbounds.rates.cones import Cone, joined, product
from dpbounds.rates.orders import LOGARITHMS, ONE, Monomial, Order
from dpbounds.rates.spaces import Form, Space, in_letters, standard


@dataclass(frozen=True, slots=True)
class Piece:
    """A cone on which a piecewise linear function is one monomial."""

    cone: Cone
    monomial: Monomial


def linear_pieces(order: Order, space: Space, within: Cone | None = None) -> tuple[Piece, ...]:
    """Cones on each of which the order is one monomial; together they fill the space."""
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
    """The larger (sign 1) or the smaller (-1) of two piecewise functions."""
    for one in left:
        for other in right:
            common = one.cone.meet(other.cone)
            if common is None:
                continue
            slope = _difference(space, one.monomial, other.monomial)
            if not any(slope):
                yield Piece(common, _with_all_logarithms(one.monomial, other.monomial))
                continue
            above, below = common.cut(slope)
            if above is not None:
                yield Piece(above, one.monomial if sign > 0 else other.monomial)
            if below is not None:
                yield Piece(below, other.monomial if sign > 0 else one.monomial)


def _with_all_logarithms(left: Monomial, right: Monomial) -> Monomial:
    """Two monomials that differ by logarithms at most: the larger power of each, which is never too small a bound."""
    powers = {kind: max(left.exponent(kind), right.exponent(kind)) for kind in LOGARITHMS}
    return left.without(LOGARITHMS) * Monomial.of(powers)


def _difference(space: Space, left: Monomial, right: Monomial) -> Form:
    return space.form(left / right)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Where one order of growth is smaller than, equal to, larger than another.

    Attributes:
        space: The axes.
        smaller: Convex regions in which the first is smaller (better, for an upper bound).
        equal: Regions in which both are the same up to constants and logarithms.
        larger: Regions in which the first is larger.
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
        """The boundaries between smaller and larger, as equations in n, d, ε, ..."""
        facets = (
            facet
            for first in self.smaller
            for facet in sorted(first.facets)
            for second in self.larger
            if tuple(-entry for entry in facet) in second.facets and _touch(first, second, facet)
        )
        edges = (self.space.inequality(facet).replace(">=", "=").replace("<=", "=") for facet in facets)
        return tuple(dict.fromkeys(edges))

    def __str__(self) -> str:
        lines = []
        for label, cones in (("smaller", self.smaller), ("equal", self.equal), ("larger", self.larger)):
            lines += [f"{label} where {' and '.join(self.space.inequalities(cone)) or 'always'}" for cone in cones]
        return "\n".join(lines)


def _touch(first: Cone, second: Cone, facet: tuple[int, ...]) -> bool:
    """Whether the two share more than an edge of their common hyperplane."""
    own = [ray for ray in first.rays if product(facet, ray) == 0]
    other = [ray for ray in second.rays if product(facet, ray) == 0]
    return any(second.contains(ray) for ray in own) or any(first.contains(ray) for ray in other)


def compare(first: Order, second: Order, space: Space | None = None) -> Comparison:
    """Where the first order of growth is smaller than the second.

    >>> from sympy import sqrt
    >>> from dpbounds.expressions.symbols import dataset_size as n, dimension as d, epsilon
    >>> term = sqrt(d) / (n * epsilon)
    >>> warm, cold = Order.of(term * d ** Fraction(1, 6)), Order.of(term ** Fraction(2, 3))
    >>> compare(warm, cold).crossovers()
    ('n ε = d',)
    """
    chosen = space or standard()
    found: dict[int, list[Cone]] = {-1: [], 0: [], 1: []}
    right = linear_pieces(second, chosen)
    for one in linear_pieces(first, chosen):
        for other in right:
            common = one.cone.meet(other.cone)
            if common is None:
                continue
            slope = _difference(chosen, one.monomial, other.monomial)
            if not any(slope):
                found[0].append(common)
                continue
            above, below = common.cut(slope)
            found[1] += [above] if above is not None else []
            found[-1] += [below] if below is not None else []
    return Comparison(chosen, joined(found[-1]), joined(found[0]), joined(found[1]))


@dataclass(frozen=True, slots=True)
class Regime:
    """A region with its best results.

    Attributes:
        cone: The region.
        best: Names of the results that are best there, up to logarithms; more than one is a tie.
        value: What they amount to.
        by_logarithms: Those of ``best`` whose powers of logarithms are smallest; none where print hides some of them.
        floor: The largest lower bound there, if one is known.
    """

    cone: Cone
    best: tuple[str, ...]
    value: Monomial
    by_logarithms: tuple[str, ...]
    floor: Monomial | None

    @property
    def gap(self) -> Monomial | None:
        """How far the best result is from the lower bound, up to logarithms: 1 if nothing is left to gain."""
        return None if self.floor is None else self.value / self.floor


TRIVIAL = "trivial"


def regimes(
    uppers: Mapping[str, Order],
    lowers: Mapping[str, Order] | None = None,
    space: Space | None = None,
) -> tuple[Regime, ...]:
    """The regions in which each of several upper bounds is best.

    Args:
        uppers: Upper bounds by name. The bound 1, which needs no theorem, is added as "trivial".
        lowers: Lower bounds by name.
        space: The axes; n, d and 1/ε by default.

    Returns:
        Convex regions that fill the space, each with its winners and the distance to the best lower bound.
    """
    chosen = space or standard()
    named = {TRIVIAL: Order.single(ONE), **uppers}
    cells = [_Cell(chosen.whole, None, frozenset(), {})]
    for name, order in named.items():
        cells = list(_with_result(cells, name, order, chosen))
    found = []
    floors = _largest(lowers or {}, chosen)
    for _, group in groupby(sorted(cells, key=_key), key=_key):
        same = list(group)
        cones = joined([cell.cone for cell in same])
        for cone in cones:
            for piece in floors or (None,):
                common = cone if piece is None else cone.meet(piece.cone)
                if common is not None:
                    found.append(_regime(common, same[0], piece, named, chosen))
    return tuple(sorted(found, key=lambda regime: sorted(regime.cone.rays)))


@dataclass(frozen=True, slots=True)
class _Cell:
    cone: Cone
    value: Monomial | None
    best: frozenset[str]
    monomials: Mapping[str, Monomial]


def _key(cell: _Cell) -> tuple[object, ...]:
    assert cell.value is not None
    return sorted(cell.best), str(cell.value.without(LOGARITHMS)), sorted(map(str, cell.monomials.values()))


def _with_result(cells: Iterable[_Cell], name: str, order: Order, space: Space) -> Iterator[_Cell]:
    pieces = linear_pieces(order, space)
    for cell in cells:
        for piece in pieces:
            common = cell.cone.meet(piece.cone)
            if common is None:
                continue
            mine = {name: piece.monomial}
            if cell.value is None:
                yield _Cell(common, piece.monomial, frozenset({name}), mine)
                continue
            slope = _difference(space, cell.value, piece.monomial)
            if not any(slope):
                yield _Cell(common, cell.value, cell.best | {name}, {**cell.monomials, **mine})
                continue
            above, below = common.cut(slope)
            if above is not None:
                yield _Cell(above, piece.monomial, frozenset({name}), mine)
            if below is not None:
                yield _Cell(below, cell.value, cell.best, cell.monomials)


def _largest(lowers: Mapping[str, Order], space: Space) -> list[Piece]:
    pieces: list[Piece] = []
    for order in lowers.values():
        mine = list(linear_pieces(order, space))
        pieces = mine if not pieces else list(_better(pieces, mine, space, 1))
    return pieces


def _regime(cone: Cone, cell: _Cell, floor: Piece | None, named: Mapping[str, Order], space: Space) -> Regime:
    assert cell.value is not None
    return Regime(
        cone,
        tuple(name for name in named if name in cell.best),
        space.reduced(cell.value),
        _fewest_logarithms(cell, named),
        None if floor is None else space.reduced(floor.monomial),
    )


def _fewest_logarithms(cell: _Cell, named: Mapping[str, Order]) -> tuple[str, ...]:
    """The winners whose logarithmic factors are smallest; none where print hides some, or they cannot be ordered.

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
    """Where the winner changes, as equations in n, d, ε, ..."""
    edges = []
    for index, first in enumerate(found):
        for second in found[index + 1 :]:
            if first.best == second.best:
                continue
            for facet in sorted(first.cone.facets):
                opposite = tuple(-entry for entry in facet)
                if opposite in second.cone.facets and _touch(first.cone, second.cone, facet):
                    edges.append(space.inequality(facet).replace(">=", "=").replace("<=", "="))
    return tuple(dict.fromkeys(edges))


def described(regime: Regime, space: Space) -> str:
    """A regime in one line."""
    where = " and ".join(space.inequalities(regime.cone)) or "everywhere"
    gap = "" if regime.gap is None else f"; {in_letters(regime.gap)} above the lower bound"
    return f"{where}: {in_letters(regime.value)} by {', '.join(regime.best)}{gap}"
