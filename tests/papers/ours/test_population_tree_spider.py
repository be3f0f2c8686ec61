"""The sketch: where it would win, and that nobody sees it unasked."""

from fractions import Fraction

from dpbounds.rates.promises import ACCEPTED, promises
from dpbounds.rates.regimes import regimes
from dpbounds.rates.spaces import at_epsilon
from dpbounds.theorems.record import Status

NAME = "dpbounds/population-tree-spider"


def test_it_is_shown_on_request_only():
    assert Status.CONJECTURED not in ACCEPTED
    assert dict(promises("population-gradient-norm").left_out)[NAME] == "conjectured"


def test_where_it_would_win_at_a_constant_epsilon():
    """Strictly for d < n < d^(11/6), and tied with the warm-started second-order rate beyond."""
    space = at_epsilon(Fraction(0))
    found = promises("population-gradient-norm", space=space, statuses=[*ACCEPTED, "conjectured", "disputed"])
    regions = regimes({one.id: one.order for one in found.uppers}, {}, space)
    for power, alone in (("9/10", None), ("11/10", True), ("3/2", True), ("9/5", True), ("2", False), ("3", False)):
        point = (Fraction(power), Fraction(1))
        (regime,) = [one for one in regions if one.cone.contains(point)]
        assert (NAME in regime.best) == (alone is not None), power
        if alone is not None:
            assert (regime.best == (NAME,)) == alone, power
