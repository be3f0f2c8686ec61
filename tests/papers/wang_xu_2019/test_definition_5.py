"""Definition 5: where it fails."""

from fractions import Fraction

from dpbounds.privacy.accountants.certified import delta
from dpbounds.theorems.registry import theorem
from dpbounds.theorems.spending import spending


def test_the_formula_fails_for_large_epsilon():
    statement = theorem("wang-xu-2019/definition-5")
    for failure, fine, broken in (("0.5", "4.46", "4.47"), ("1e-5", "8.41", "8.43"), ("1e-8", "9.37", "9.38")):
        good = spending(statement, {"epsilon": fine, "delta": failure, "sensitivity": 1})
        assert good.kept is True
        bad = spending(statement, {"epsilon": broken, "delta": failure, "sensitivity": 1})
        assert bad.kept is False
        assert delta(bad.mechanism, broken, bad.relation).exact_lower > Fraction(failure)
