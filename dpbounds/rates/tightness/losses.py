"""Losses of instances: functions of the distance from a minimiser, piece by piece quadratic."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Piece:
    """Up to a distance (None: to infinity): the slope where the piece begins, and the curvature."""

    until: Fraction | None
    slope: Fraction
    curvature: Fraction = Fraction(0)


@dataclass(frozen=True, slots=True)
class Loss:
    """A function of the distance r from w*, 0 at r = 0."""

    name: str
    pieces: tuple[Piece, ...]

    def at(self, distance: Fraction) -> tuple[Fraction, Fraction]:
        """Return the value and the slope there (where a kink is, the slope on the inside)."""
        value, begin = Fraction(0), Fraction(0)
        for piece in self.pieces:
            run = (distance if piece.until is None else min(distance, piece.until)) - begin
            if piece.until is None or distance <= piece.until:
                return value + piece.slope * run + piece.curvature * run**2 / 2, piece.slope + piece.curvature * run
            value += piece.slope * run + piece.curvature * run**2 / 2
            begin = piece.until
        raise AssertionError("the last piece has no end")


def bowl(curvature: Fraction) -> Loss:
    """(a/2)r²."""
    return Loss("(a/2)|w|²", (Piece(None, Fraction(0), curvature),))


def huber(curvature: Fraction, slope: Fraction, called: str = "G") -> Loss:
    """(a/2)r², continued with slope G (or its given name) where it reaches that."""
    inside = Piece(slope / curvature, Fraction(0), curvature)
    return Loss(f"(a/2)|w|², linear where its slope is {called}", (inside, Piece(None, slope)))


def cone(slope: Fraction) -> Loss:
    """Gr."""
    return Loss("G|w|", (Piece(None, slope),))


def well(slope: Fraction, radius: Fraction) -> Loss:
    """Gr, flat beyond a radius."""
    return Loss("G min(|w - w*|, r)", (Piece(radius, slope), Piece(None, Fraction(0))))


def smooth_well(slope: Fraction, radius: Fraction, curvature: Fraction) -> Loss:
    """Return the same with both kinks rounded, and the same height."""
    bend = slope / curvature
    return Loss(
        "G min(|w - w*|, r), rounded",
        (
            Piece(bend, Fraction(0), curvature),
            Piece(radius, slope),
            Piece(radius + bend, slope, -curvature),
            Piece(None, Fraction(0)),
        ),
    )


def regularised_well(slope: Fraction, radius: Fraction, regularisation: Fraction) -> Loss:
    """Gr up to a radius, then a continuation that is flat after adding (λ/2)r²."""
    outside = Piece(None, -regularisation * radius, -regularisation)
    return Loss("G|w|, then constant less (λ/2)|w|²", (Piece(radius, slope), outside))
