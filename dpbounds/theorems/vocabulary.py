"""The words that a statement is described in."""

from __future__ import annotations

from enum import StrEnum

from dpbounds.errors import InvalidValue, nearest


class Word(StrEnum):
    """A word of a list, which may be given as text."""

    @classmethod
    def _missing_(cls, value: object) -> None:
        words = nearest(str(value), list(cls)) or tuple(cls)
        raise InvalidValue(cls.__name__.lower(), repr(value), f"a known word, such as {', '.join(map(str, words))}")


class Metric(Word):
    """The bounded quantity. "Population" quantities are expectations over the records' distribution."""

    GRADIENT_NORM = "gradient-norm"
    POPULATION_GRADIENT_NORM = "population-gradient-norm"
    PROJECTED_GRADIENT_NORM = "projected-gradient-norm"
    FRANK_WOLFE_GAP = "frank-wolfe-gap"
    SOSP = "sosp"  # the α of an α-second-order stationary point of the empirical risk
    POPULATION_SOSP = "population-sosp"
    EXCESS_EMPIRICAL_RISK = "excess-empirical-risk"
    EXCESS_POPULATION_RISK = "excess-population-risk"
    SAMPLE_SIZE = "sample-size"  # how many records suffice
    PRIVACY = "privacy"  # ε, δ, ρ, or the noise that keeps them
    ESTIMATION_ERROR = "estimation-error"  # error of a gradient estimate, a selection, a random matrix
    COUNT = "count"  # number of oracle calls, of steps
    GENERALISATION_GAP = "generalisation-gap"
    DISTANCE = "distance"  # between distributions or iterates
    FUNCTIONAL_INEQUALITY = "functional-inequality"  # a constant of one
    NONE = "none"  # a definition, an assumption, a problem


class Side(Word):
    """The direction in which the statement bounds its metric."""

    UPPER = "upper"
    LOWER = "lower"
    TIGHT = "tight"


class Mode(Word):
    """The sense in which it holds."""

    EXPECTATION = "expectation"
    PROBABILITY = "probability"
    ALWAYS = "always"


class Kind(Word):
    """The three kinds of numbers."""

    BOUND = "bound"
    RATE = "rate"
    PARAMETER = "parameter"


class Read(Word):
    """The part of the source that was read."""

    FULL_TEXT = "full text"
    CONVERTED = "converted text"  # full text, converted by a machine: formulas may be garbled
    SUMMARY = "summary"  # by others
    ABSTRACT = "abstract only"
    QUOTED = "as quoted by another paper"
    HERE = "derived here"


class Status(Word):
    """The status of a statement."""

    DEFINITION = "definition"
    PROVED = "proved"  # the proof was read or redone, and nothing is wrong with it that matters
    PROVED_HERE = "proved here"  # the derivation is in this library
    REPAIRED = "repaired"  # as recorded here it holds; as printed it does not, see the errata
    CLAIMED = "claimed"  # the proof was not seen, or not checked
    CONJECTURED = "conjectured"  # a sketch, without a proof or a known claim
    DISPUTED = "disputed"  # a step of the proof is known to fail; the statement itself is neither proved nor refuted
    FALSE = "false"  # as printed it is refuted by an example in the errata
    EMPIRICAL = "empirical"  # a figure or a table of measurements or of other statements


class Severity(Word):
    """The severity of an erratum."""

    TYPO = "typo"
    HARMLESS = "harmless"
    CONSTANT = "constant"
    GAP = "gap"
    FALSE = "false"
    PRIVACY = "privacy"


class Claim(Word):
    """The kind of the claimed privacy, and its quantities in the symbol table."""

    APPROXIMATE = "(ε, δ)-DP"
    PURE = "ε-DP"
    ZCDP = "ρ-zCDP"
    TOTAL_VARIATION = "(0, δ)-DP"
