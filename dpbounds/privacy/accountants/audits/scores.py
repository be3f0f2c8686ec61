"""Scores of canaries, and the lower bounds on ε that they show."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from types import NoneType
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from dpbounds.displayed import Displayed, Sheet, number
from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import ExactLike, brief, exact, to_decimal, to_float
from dpbounds.limits import RUNS
from dpbounds.privacy.accountants.audits.many_runs import (
    GaussianPrivacy,
    Hypothesis,
    Privacy,
    RankTest,
    error_rates,
    largest_by_ranks,
    rank_tests,
)
from dpbounds.privacy.accountants.audits.one_run import Guesses
from dpbounds.privacy.accountants.audits.tails import doubled_ranks
from dpbounds.privacy.pairs.pairs import ShiftedGaussians
from dpbounds.privacy.relations import Relation, as_relation
from dpbounds.privacy.routes.closed_forms import closed_form_epsilon
from dpbounds.privacy.values import demand_fields, open_unit, promised_delta_or_zero

Design = Literal["one-run", "many-runs"]
DESIGNS: tuple[Design, ...] = ("one-run", "many-runs")
Floats = NDArray[np.float64]
Coins = NDArray[np.bool_]

_UNFAIR = 1e-9  # probability of fair coins as one-sided as these, below which the file is refused


@dataclass(frozen=True, slots=True, repr=False)
class ScoreAudit(Displayed):
    """Lower bounds on ε and on μ from scores of canaries. Each holds with the stated confidence, by itself.

    Attributes:
        design: "one-run" or "many-runs".
        relation: Which datasets the coins of the canaries choose between.
        delta: δ, in [0, 1).
        confidence: In (0, 1).
        included: The number of scores of canaries that were in the data.
        excluded: The number of the others.
        epsilon: The run is not (ε', δ)-private for any ε' below this; 0 if nothing was found.
        found_by: The test that showed it.
        mu: The run is not μ'-Gaussian private for any μ' below this.
        gaussian_epsilon: ε at δ of ``mu``: a bound on ε for runs that are Gaussian private with some μ; None at δ = 0.
        gaussian_found_by: The test that showed ``mu``.
    """

    design: Design
    relation: Relation
    delta: Fraction
    confidence: Fraction
    included: int
    excluded: int
    epsilon: Fraction
    found_by: str
    mu: Fraction
    gaussian_epsilon: Fraction | None
    gaussian_found_by: str

    def __post_init__(self) -> None:
        demand_fields(self, relation=Relation, delta=Fraction, confidence=Fraction, included=int, excluded=int)
        demand_fields(self, epsilon=Fraction, mu=Fraction, gaussian_epsilon=(Fraction, NoneType))

    def refutes(self, epsilon: Fraction | float) -> bool:
        """Return whether the bound is above a claimed ε at the same δ, under the same relation."""
        return self.epsilon > epsilon

    def refutes_gaussian(self, epsilon: Fraction | float) -> bool:
        """Return whether it is, for a claim about Gaussian releases of all records."""
        return self.gaussian_epsilon is not None and self.gaussian_epsilon > epsilon

    def _sheet(self) -> Sheet:
        sure = f"with confidence {number(self.confidence)}"
        gaussian = f"at least {to_decimal(self.mu, 6, 'down')}, if the run is Gaussian private, {sure}"
        facts = (
            ("epsilon", f"at least {to_decimal(self.epsilon, 6, 'down')}, {sure}"),
            ("delta", number(self.delta)),
            ("relation", str(self.relation)),
            ("scores", f"{self.included} in, {self.excluded} out, {self.design}"),
            ("found by", self.found_by),
            ("mu", gaussian),
        )
        return Sheet("an audit by scores of canaries", facts)

    def __str__(self) -> str:
        return (
            f"epsilon >= {to_decimal(self.epsilon, 6, 'down')} at delta = {brief(self.delta)} ({self.relation}), "
            f"with confidence {brief(self.confidence)} ({self.found_by})"
        )


def audit_scores(
    scores: ArrayLike,
    included: ArrayLike,
    *,
    design: Design,
    delta: ExactLike,
    confidence: ExactLike = Fraction(19, 20),
    relation: str | Relation = Relation.ADD_OR_REMOVE_ONE,
    threshold: ExactLike | None = None,
    guesses: int | None = None,
) -> ScoreAudit:
    """Bound ε of a training procedure from below, from scores of canaries that were in the data or not.

    Args:
        scores: One finite number per canary (one run) or per run (many runs), from all that the run released. Larger
            ones speak for the canary having been in the data. They must not depend on ``included``.
        included: Whether the canary was in the data: booleans, or 0 and 1.
        design: "one-run": one run on many canaries, each of which was included by a fair coin of its own.
            "many-runs": independent runs of one procedure on the same data, some with one canary and some without it.
        delta: δ in [0, 1).
        confidence: In (0, 1): each of the two bounds is too large with probability 1 - ``confidence`` at most.
        relation: Which neighbours the coin of a canary chooses between: "add-or-remove-one" if the canary is in the
            data or not, "zero-out-one" if a null record takes its place, "replace-one" if another record does.
        threshold: A score above which a test says "in", fixed before the runs; None for many thresholds, whose tests
            hold together.
        guesses: With one run: the number of guesses, half of them "in", fixed before the run; None for several numbers,
            which hold together.

    Returns:
        The bounds, rounded down, with the tests that show them. Derived in ``audits.md``.

    Raises:
        InvalidValue: A value is not allowed, or all scores are of one kind.

    >>> import numpy as np
    >>> coins = np.random.default_rng(0).random(1000) < 0.5
    >>> scores = coins + np.random.default_rng(1).normal(size=1000)  # Gaussian noise on every coin
    >>> found = audit_scores(scores, coins, design="one-run", delta="1e-5")
    >>> 1 < found.epsilon < 4, 0.2 < found.mu < 1
    (True, True)
    """
    if design not in DESIGNS:
        raise InvalidValue("design", design, "'one-run' or 'many-runs'")
    target, sure = promised_delta_or_zero(delta), open_unit(confidence, "confidence")
    values, coins = _valid_scores(scores, included)
    inside, outside = values[coins], values[~coins]
    limit = None if threshold is None else to_float(exact(threshold, "threshold"), "down")
    if guesses is not None and (design != "one-run" or limit is not None):
        raise InvalidValue("guesses", guesses, "None with many runs, and where a threshold is given")
    if design == "one-run":
        _demand_fair_coins(len(inside), len(outside))
        found = _by_guesses(values, coins, target, 1 - sure, limit, guesses)
    elif limit is not None:
        found = _by_threshold(inside, outside, target, 1 - sure, limit)
    else:
        found = _by_ranks(inside, outside, target, 1 - sure)
    (epsilon, by), (mu, gaussian_by) = found
    return ScoreAudit(
        design=design,
        relation=as_relation(relation),
        delta=target,
        confidence=sure,
        included=len(inside),
        excluded=len(outside),
        epsilon=epsilon,
        found_by=by,
        mu=mu,
        gaussian_epsilon=None if target == 0 else gaussian_epsilon_at_least(mu, target),
        gaussian_found_by=gaussian_by,
    )


def gaussian_epsilon_at_least(mu: Fraction, delta: Fraction) -> Fraction:
    """Return ε(δ) of the Gaussian trade-off curve with μ, rounded down, for 0 < δ < 1."""
    return closed_form_epsilon(ShiftedGaussians(mu * mu), delta)[0] if mu > 0 else Fraction(0)


Finding = tuple[Fraction, str]  # a bound, and the test that shows it


def _by_guesses(
    values: Floats, coins: Coins, delta: Fraction, error: Fraction, threshold: float | None, guesses: int | None
) -> tuple[Finding, Finding]:
    """Return the bounds of one run on ε and μ."""
    if threshold is not None:
        tried = [Guesses(len(values), len(values), int(((values > threshold) == coins).sum()))]
    else:
        tried = [guessed(values, coins, count) for count in _numbers_of_guesses(len(values), guesses)]
    level = error / len(tried)
    by_epsilon = [(one.least_epsilon(delta, level), one) for one in tried]
    by_mu = [(one.least_mu(level), one) for one in tried]

    def largest(found: list[tuple[Fraction, Guesses]]) -> Finding:
        bound, by = max(found, key=lambda one: one[0])
        return bound, f"{by.correct} of {by.guesses} guesses right"

    return largest(by_epsilon), largest(by_mu)


def guessed(values: Floats, coins: Coins, guesses: int) -> Guesses:
    """Guess "in" for the highest scores and "out" for the lowest, as many of each, and count the right guesses.

    Equal scores are put into an order that depends on neither the coins nor the order of the file.
    """
    shuffle = np.random.default_rng(len(values)).permutation(len(values))
    order = np.lexsort((shuffle, values))
    lowest, highest = order[: guesses // 2], order[len(order) - (guesses - guesses // 2) :]
    return Guesses(len(values), guesses, int((~coins[lowest]).sum() + coins[highest].sum()))


def _numbers_of_guesses(canaries: int, guesses: int | None) -> list[int]:
    if guesses is None:
        return [canaries // part for part in doubled_ranks(canaries)]
    if isinstance(guesses, bool) or not isinstance(guesses, int) or not 1 <= guesses <= canaries:
        raise InvalidValue("guesses", guesses, f"None, or a whole number from 1 to {canaries}, the number of canaries")
    return [guesses]


def _by_threshold(
    inside: Floats, outside: Floats, delta: Fraction, error: Fraction, threshold: float
) -> tuple[Finding, Finding]:
    """Return the bounds of many runs on ε and μ, by the error rates of one test."""
    rates = error_rates(inside, outside, threshold, error)
    by = f"error rates of at most {to_decimal(rates[0], 4, 'up')} and {to_decimal(rates[1], 4, 'up')}"
    return (Privacy(delta).shown(*rates), by), (GaussianPrivacy().shown(*rates), by)


def _by_ranks(inside: Floats, outside: Floats, delta: Fraction, error: Fraction) -> tuple[Finding, Finding]:
    """Return the bounds of many runs on ε and μ, by tests of several ranks."""
    tests = rank_tests(inside, outside)
    accusing = tests[: len(doubled_ranks(len(outside)))]

    def largest(hypothesis: Hypothesis) -> Finding:
        bound, by = largest_by_ranks(tests, hypothesis, error)
        return bound, _told(by, any(by is test for test in accusing))

    return largest(Privacy(delta)), largest(GaussianPrivacy())


def _told(test: RankTest, accuses: bool) -> str:
    few, many, beyond, extreme = ("out", "in", "above", "largest") if accuses else ("in", "out", "below", "smallest")
    place = extreme if test.rank == 1 else f"{_ordinal(test.rank)} {extreme}"
    return f"{test.above} of {test.others} scores {many} lie {beyond} the {place} of {test.sample} scores {few}"


def _ordinal(rank: int) -> str:
    """Return a number as 2nd or 16th.

    >>> [_ordinal(1 << k) for k in range(6)], _ordinal(8192)
    (['1st', '2nd', '4th', '8th', '16th', '32nd'], '8192nd')
    """
    teens = 10 <= rank % 100 < 20
    return f"{rank}{'th' if teens else {1: 'st', 2: 'nd', 3: 'rd'}.get(rank % 10, 'th')}"


def _valid_scores(scores: ArrayLike, included: ArrayLike) -> tuple[Floats, Coins]:
    """Return both as arrays."""
    values, coins = _numbers(scores, "scores"), _numbers(included, "included")
    if not 2 <= len(values) <= RUNS:
        raise InvalidValue("scores", f"{len(values)} numbers", f"from 2 to {RUNS} finite numbers in a row")
    if values.shape != coins.shape:
        raise InvalidValue("included", f"{len(coins)} entries", f"one entry for each of the {len(values)} scores")
    if not np.isin(coins, (0, 1)).all():
        raise InvalidValue("included", float(coins[~np.isin(coins, (0, 1))][0]), "true or false, or 1 or 0, per score")
    if coins.all() or not coins.any():
        kind, other = ("in", "out") if coins.all() else ("out", "in")
        told = f"{len(coins)} scores of canaries that were {kind}, and none that was {other}"
        raise InvalidValue("included", told, "of both kinds", "an audit compares canaries in the data with others")
    return values, coins == 1


def _numbers(given: Any, name: str) -> Floats:
    allowed = "finite numbers in a row"
    try:
        found = np.asarray(given)
        if found.dtype.kind not in "biuf":
            raise TypeError
        values = found.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InvalidValue(name, given, allowed) from None
    if values.ndim != 1:
        raise InvalidValue(name, f"an array of shape {values.shape}", allowed)
    if not np.isfinite(values).all():
        place = int(np.flatnonzero(~np.isfinite(values))[0])
        advice = "leave out a run that failed only if its failure does not depend on the canary"
        raise InvalidValue(name, f"{values[place]} at place {place}", allowed, advice)
    return values


def _demand_fair_coins(included: int, excluded: int) -> None:
    """Refuse numbers of included and excluded canaries that fair coins hardly ever give."""
    chance = float(stats.binomtest(included, included + excluded).pvalue)
    if chance < _UNFAIR:
        told = f"{included} in and {excluded} out"
        allowed = "fair coins, one for each canary, with one run"
        raise InvalidValue("included", told, allowed, f"fair coins fall like this with probability {chance:.1g}")
