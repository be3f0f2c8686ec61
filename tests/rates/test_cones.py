"""Cones against brute force: membership at random points, volumes by counting, hulls by definition."""

import random
from fractions import Fraction
from itertools import combinations, product

import pytest
from hypothesis import given, strategies as st

from dpbounds.rates.cones import Cone, extreme, joined, primitive

ORTHANT = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
entries = st.integers(-4, 4)
vectors = st.tuples(entries, entries, entries).filter(any)
families = st.lists(vectors, min_size=0, max_size=4)


def holds(constraints, point):
    return all(sum(a * b for a, b in zip(one, point, strict=True)) >= 0 for one in constraints)


@pytest.mark.one_in(4)
@given(families)
def test_rays_and_facets_describe_the_constraints(constraints):
    wanted = [*ORTHANT, *constraints]
    cone = Cone.where(wanted)
    grid = [point for point in product(range(5), repeat=3) if any(point)]
    if cone is None:
        strict = [p for p in grid if all(sum(a * b for a, b in zip(one, p, strict=True)) > 0 for one in wanted)]
        assert strict == []
        return
    assert all(cone.contains(point) == holds(wanted, point) for point in grid)
    assert all(holds(wanted, ray) for ray in cone.rays)
    assert all(sum(a * b for a, b in zip(one, cone.inside, strict=True)) > 0 for one in cone.facets)
    assert Cone.spanned(cone.rays) == cone
    # no ray is a non-negative combination of others: without it the cone is smaller
    for ray in cone.rays:
        rest = Cone.spanned(cone.rays - {ray}) if len(cone.rays) > 3 else None
        assert rest is None or not rest.contains(ray)


@given(families, vectors)
def test_a_cut_leaves_nothing_out(constraints, normal):
    cone = Cone.where([*ORTHANT, *constraints])
    if cone is None:
        return
    above, below = cone.cut(normal)
    for point in product(range(4), repeat=3):
        if not cone.contains(point) or not any(point):
            continue
        side = sum(a * b for a, b in zip(normal, point, strict=True))
        sides = [half for half, sign in ((above, 1), (below, -1)) if half is not None and half.contains(point)]
        if side > 0:
            assert above is not None
            assert above in sides
        if side < 0:
            assert below is not None
            assert below in sides
    assert above is not None or below is not None


@given(families, families)
def test_a_meeting_is_what_lies_in_both(first, second):
    left, right = Cone.where([*ORTHANT, *first]), Cone.where([*ORTHANT, *second])
    if left is None or right is None:
        return
    common = left.meet(right)
    assert common == right.meet(left)
    assert common == Cone.where([*ORTHANT, *first, *second])


@pytest.mark.one_in(4)
@given(st.lists(vectors, min_size=1, max_size=3))
def test_joined_pieces_have_the_same_union(normals):
    whole = Cone.where(ORTHANT)
    pieces = [whole]
    for normal in normals:
        pieces = [half for piece in pieces for half in dict.fromkeys(piece.cut(normal)) if half is not None]
    assert joined(pieces) == (whole,)
    draw = random.Random(str(normals))
    chosen = [piece for piece in pieces if draw.random() < 0.6] or pieces[:1]
    merged = joined(chosen)
    assert len(merged) <= len(chosen)
    for point in product(range(5), repeat=3):
        if any(point):
            assert any(one.contains(point) for one in merged) == any(one.contains(point) for one in chosen)


def test_in_the_plane_by_hand():
    cone = Cone.where([(1, 0), (0, 1), (1, -1)])
    assert cone.rays == {(1, 0), (1, 1)}
    assert cone.facets == {(0, 1), (1, -1)}
    assert Cone.where([(1, 0), (-1, 0), (0, 1)]) is None
    assert extreme(frozenset({(1, 0), (0, 1)})) == {(1, 0), (0, 1)}


@pytest.mark.parametrize(("given_", "wanted"), [((2, 4), (1, 2)), ((Fraction(1, 2), 0), (1, 0)), ((0, 0), (0, 0))])
def test_primitive(given_, wanted):
    assert primitive(given_) == wanted


@pytest.mark.parametrize(
    "hole", [[(-2, 1, 0), (0, -2, 1)], [(1, -2, 0), (1, 0, -2)], [(-1, 1, 1), (1, -1, 1), (1, 1, -1)]]
)
def test_what_lies_outside_is_in_pieces_that_do_not_overlap(hole):
    whole, hole = Cone.where(ORTHANT), Cone.where([*ORTHANT, *hole])
    pieces = whole.without(hole)
    assert len(pieces) > 1
    assert all(one.meet(other) is None for one, other in combinations([hole, *pieces], 2))
