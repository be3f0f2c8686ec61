"""Dwork & Roth 2014, the textbook: theorems that the five papers quote, with proofs that are standard."""

from fractions import Fraction

from dpbounds.theorems.language import Domain, Paper

PAPER = Paper("cited/dwork-roth-2014", relation=None, read="as quoted by another paper")

# Quantities of these theorems that the symbol table does not have.
step_delta = PAPER.quantity(
    "step_delta",
    r"\delta_{0}",
    "failure probability of one release",
    domain=Domain(Fraction(0), Fraction(1), lower_open=False),
)
