"""Short privacy statements: two sentences for a paper, the same in LaTeX, and a paragraph for an impact assessment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Literal

from dpbounds import __version__
from dpbounds.expressions.enclosure import ball_end
from dpbounds.expressions.exact import to_decimal
from dpbounds.expressions.working import working
from dpbounds.privacy.relations import Relation
from dpbounds.privacy.routes.closed_forms import ball

Short = Literal["paper", "latex", "assessment"]

_PRECISION = 128
_POSSIBILITIES = {
    Relation.ADD_OR_REMOVE_ONE: "the record is in the data or is not",
    Relation.REPLACE_ONE: "the record has one of two given values",
    Relation.ZERO_OUT_ONE: "the record is in the data or its place is empty",
}


def largest_success(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return an upper bound of the probability of guessing right which of two neighbouring datasets was used.

    Both are equally likely beforehand. Let P and Q be the distributions of the release and A the event at which the
    guess is P. The guess is right with probability (1 + P(A) - Q(A))/2. By (ε, δ)-differential privacy of A and of its
    complement, P(A) <= e^ε Q(A) + δ and 1 - Q(A) <= e^ε (1 - P(A)) + δ. The sum of both says that P(A) - Q(A) is at
    most (e^ε - 1 + 2δ)/(e^ε + 1), and so the probability is at most (e^ε + δ)/(e^ε + 1).

    Args:
        epsilon: At least 0.
        delta: In [0, 1].

    >>> to_decimal(largest_success(Fraction(1), Fraction(0)), 6, "up")  # e/(1 + e)
    '0.731059'
    """
    with working(_PRECISION):
        share = (1 - ball(delta)) / (ball(epsilon).exp() + 1)
        return min(Fraction(1), 1 - max(Fraction(0), ball_end(share, "down")))


def short_statement(
    form: Short,
    promise: tuple[str, str],
    relation: Relation,
    described: Sequence[str],
    digest: str,
    conditions: Sequence[str] = (),
) -> str:
    """Return a statement in a short form.

    Args:
        form: The form of the statement.
        promise: ε and δ as they are printed: proven, and rounded up.
        relation: The neighbouring relation.
        described: The releases, in words.
        digest: SHA-256 digest of the releases.
        conditions: Sentences about what has to hold, or is not covered.
    """
    if form == "assessment":
        epsilon, delta = promise
        success = to_decimal(100 * largest_success(Fraction(epsilon), Fraction(delta)), 3, "up")
        return (
            f"Suppose an attacker sees everything that is released and knows all other records, and finds it equally "
            f"likely beforehand that {_POSSIBILITIES[relation]}. A guess of the attacker about this one record is then "
            f"right with probability at most {success} % (50 % without the release). This follows from (epsilon = "
            f"{epsilon}, delta = {delta})-differential privacy under {relation}, which was proven with dpbounds "
            f"{__version__} for the releases with SHA-256 digest {digest}.{''.join(f' {said}' for said in conditions)}"
        )
    latex = form == "latex"
    words: Callable[[str], str] = _escaped if latex else str
    of_epsilon, of_delta = (r"$\varepsilon$", r"$\delta$") if latex else ("epsilon", "delta")
    epsilon, delta = (f"${_in_latex(number)}$" if latex else number for number in promise)
    return (
        f"The releases are ({of_epsilon}, {of_delta})-differentially private with {of_epsilon} = {epsilon} and "
        f"{of_delta} = {delta} under the {relation} neighbouring relation. They are {words('; '.join(described))}; "
        f"{of_epsilon} and {of_delta} are proven upper bounds (dpbounds {__version__}, digest {digest[:16]})."
    ) + "".join(f" {words(said)}" for said in conditions)


def _escaped(text: str) -> str:
    from pylatexenc.latexencode import unicode_to_latex

    return str(unicode_to_latex(text))


def _in_latex(number: str) -> str:
    r"""Return a decimal number as LaTeX has it: 1e-05 is 10^{-5}.

    >>> print(_in_latex("1e-05"), _in_latex("2.5e-07"), _in_latex("0.5"))
    10^{-5} 2.5 \times 10^{-7} 0.5
    """
    mantissa, marked, exponent = number.lower().partition("e")
    if not marked:
        return number
    power = f"10^{{{int(exponent)}}}"
    return power if mantissa == "1" else rf"{mantissa} \times {power}"
