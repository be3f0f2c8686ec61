"""`--explain`: the proven claim, its proof, its assumptions, and possible improvements."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from fractions import Fraction

import click

from dpbounds.cli.answers.assumptions import assumptions
from dpbounds.cli.answers.methods import Answer, Question
from dpbounds.cli.printing.output import plain
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.exact import to_float
from dpbounds.privacy.accountants.certified import Account
from dpbounds.privacy.domination.composition import NeighbourClass, neighbour_classes
from dpbounds.privacy.domination.many_choices import classes_with_gaussian_choices
from dpbounds.privacy.mechanisms import (
    ApproximateDP,
    BallsInBins,
    Gaussian,
    Laplace,
    LastIterate,
    PureDP,
    SampledWithoutReplacement,
    SampledWithReplacement,
    Shuffled,
    TruncatedPoisson,
    parts_of,
)
from dpbounds.privacy.pairs import pairs
from dpbounds.privacy.pairs.core import product_in_words
from dpbounds.privacy.proofs import Proof
from dpbounds.privacy.relations import Relation

_WIDTH = 116
_NARROW = 1e-6  # relative width at which nothing is to be gained
_ROUTES = {
    "closed form": "a closed form in ball arithmetic",
    "contour": "a contour integral in ball arithmetic",
    "outcomes": "all outcomes, listed and summed in ball arithmetic",
    "common lattice": "a Fourier sum over the lattice on which all losses lie, in ball arithmetic",
    "optimal composition": "sums of random signs, which the losses of these releases are, in ball arithmetic",
    "lattice": "a lattice of losses, rounded up and down",
    "clones": "the distribution of the record's clones in other batches on a lattice of losses, rounded up",
    "allocation": "likelihood ratios (replace-one: their differences, at many thresholds) added up on a grid, "
    "rounded up and down (in IEEE 754 doubles, round-off bounded), and a lattice of losses",
    "groups": "noise levels merged into few, rounded up for the upper bound and down for the lower one",
    "bounds": "simple bounds, because every route declined or was wide: a single release or part below; basic "
    "composition, Rényi divergences or a Chernoff bound above",
    "upper bound": "an upper bound only, because every route declined",
}


def print_explanation(question: Question, answer: Answer, advantage: Enclosure) -> None:
    """Write the explanation for people, below the answer."""
    click.echo("\nhow it was proven")
    lines = list(
        _of_group(question, answer) if answer.account is None else _of_account(question, answer, answer.account)
    )
    lines.append(("so that", _advantage(advantage, question)))
    width = max(len(name) for name, _ in lines) + 2
    for name, text in lines:
        click.echo(
            textwrap.fill(
                text,
                _WIDTH,
                initial_indent=f"  {name:<{width}}",
                subsequent_indent=" " * (width + 2),
                break_long_words=False,
                break_on_hyphens=False,
            )
        )


def _advantage(advantage: Enclosure, question: Question) -> str:
    upper = advantage.decimals(4)[1]
    of = "one record" if question.group_size == 1 else f"{question.group_size} records"
    return (
        f"no attack distinguishes with and without {of} with an advantage (true minus false positives; total "
        f"variation) above {upper}"
    )


def _of_group(question: Question, answer: Answer) -> Iterator[tuple[str, str]]:
    k = question.group_size
    if answer.enclosure.method == "group privacy":
        yield (
            "groups",
            f"a chain of {k} neighbours, each link with the certified curve of one record (group_privacy.py)",
        )
        yield "tight", f"not known: {k} records spend at least what one does, which is the lower bound"
    else:
        yield "groups", f"dominating pairs for {k} records at once (groups.py), by {answer.enclosure.method}"
    yield from _listed("assumed", (one.text for one in assumptions(question.mechanism, question.relation)))


def _of_account(question: Question, answer: Answer, found: Account) -> Iterator[tuple[str, str]]:
    one_by_one = found.classes
    classes = classes_with_gaussian_choices(one_by_one)
    for each, (name, proof) in zip(classes.every(), found.proofs, strict=True):
        yield name, f"neighbours are at most as distinguishable as {product_in_words(each.product, plain)}"
        hidden = any(isinstance(part, LastIterate) for part, _ in parts_of(found.mechanism))
        choices = ["many_choices.md"] if each.product not in [one.product for one in one_by_one.every()] else []
        yield "", f"because: {'; '.join([*_sources(each), *choices, *(['last_iterate.md'] if hidden else [])])}"
        yield "", _proved(proof)
    if found.moments is not None:
        order = found.moments.parameters.get("order")
        at = f" at order {to_float(order, 'up'):.4g}" if isinstance(order, Fraction) else ""
        yield "smaller", f"adding up Rényi divergences{at} proves a smaller upper bound (renyi.md)"
    for name in dict.fromkeys(name for name, _ in found.attacks):
        several = [attack for each, attack in found.attacks if each == name]
        best = max(several, key=lambda attack: attack.enclosure.exact_lower)
        yield f"attack ({name})", f"two datasets are known that spend {best.enclosure}, by {_route(best)}"
    yield from _listed("assumed", (one.text for one in assumptions(question.mechanism, question.relation)))
    yield "tight", _tight(answer)
    yield from _listed("better", _advice(question, answer), "nothing here would give a smaller number")


def _listed(name: str, texts: Iterable[str], otherwise: str = "") -> Iterator[tuple[str, str]]:
    """Yield the first line with the name, the others below it."""
    for index, text in enumerate(list(texts) or [otherwise]):
        yield name if index == 0 else "", text


def _sources(each: NeighbourClass) -> list[str]:
    found = list(dict.fromkeys(pair.proof for pair, _ in each.product))
    return [*found, *(["composed: pairs.md, section 2"] if sum(count for _, count in each.product) > 1 else [])]


def _proved(proof: Proof) -> str:
    if proof.route == "dominated":
        return "a Chernoff bound shows that they spend less than the others"
    budget = {name: share for name, share in proof.error_budget.items() if share > 0}
    widest = max(budget, key=lambda name: budget[name], default=None)
    why = "" if widest is None else f", mostly from: {widest}"
    return f"by {_route(proof)}: {proof.enclosure}, relative width {_relative_width(proof.enclosure):.1g}{why}"


def _route(proof: Proof) -> str:
    how = _ROUTES.get(proof.route, proof.route)
    return f"{how}, {proof.enclosure.precision} bits" if proof.enclosure.precision else how


def _relative_width(enclosure: Enclosure) -> float:
    lower, upper = enclosure.exact_lower, enclosure.exact_upper
    if isinstance(lower, float) or isinstance(upper, float):
        return 0.0 if lower == upper else float("inf")
    return to_float((upper - lower) / upper, "up") if upper else 0.0


def _tight(answer: Answer) -> str:
    if answer.tight:
        return "yes: two datasets spend this much, so that no better analysis could give less"
    if answer.attained is None:
        return "not known: no known datasets attain the dominating pair, and no attack is known"
    return "no: the dominating pair is not attained; the best known attack spends the lower bound"


def _advice(question: Question, answer: Answer) -> Iterator[str]:
    parts = [part for part, _ in parts_of(question.mechanism)]
    inner = [part.noise for part in parts]
    classes = neighbour_classes(question.mechanism, question.relation, question.order)
    kinds = [pair for each in classes.every() for pair, _ in each.product]
    fixed = [part for part in parts if isinstance(part, SampledWithoutReplacement | SampledWithReplacement)]
    if any(isinstance(part, BallsInBins) and not part.redraw and part.epochs > 1 for part in parts):
        yield "bins drawn anew in every epoch (--redraw), in the training too: in kept ones a record is seen together"
    if fixed and all(isinstance(part.mechanism, Gaussian) for part in fixed):
        why = {
            Relation.ADD_OR_REMOVE_ONE: "a record then moves a batch's sum by one bound, not two",
            Relation.REPLACE_ONE: "their analysis is tight",
            Relation.ZERO_OUT_ONE: "a zeroed record then has no slot in the batch that another one fills elsewhere",
        }[question.relation]
        yield f"Poisson samples (--sampling poisson) instead of batches of a fixed size, in the training too: {why}"
    if len(parts) == 1 and isinstance(parts[0], TruncatedPoisson):
        yield from _room(question, answer, parts[0].max_batch_size)
    if any(isinstance(part, Shuffled) for part in parts):
        yield (
            "Poisson samples (--sampling poisson) or balls in bins, in the training too: their analysis is tight; the "
            "proof for shuffled batches gains only with bounded loss (pure epsilon), or with much Gaussian noise (3 "
            "and more) and many batches (1000 and more)"
        )
    if any(isinstance(pair, pairs.RenyiProfile) for pair in kinds) or any(
        isinstance(each, PureDP | ApproximateDP) for each in inner
    ):
        yield "the mechanism itself, where it is known, instead of a guarantee for it"
    if any(isinstance(pair, pairs.TwoGuarantees) for pair in kinds) and any(
        isinstance(each, Laplace) for each in inner
    ):
        yield 'if the answer is a single number, say so ("dimension": 1 in the ledger)'
    if _relative_width(answer.bound) > _NARROW:
        yield f"--tolerance {_NARROW:g} aims at a narrower interval, and takes longer"


def _room(question: Question, answer: Answer, given: int) -> Iterator[str]:
    """Yield the least size to which samples may be cut at next to no cost."""
    from dpbounds.privacy.budgets.batch_room import least_max_batch_size

    delta = answer.bound.exact_upper if question.delta is None else question.delta
    if not 0 < delta < 1:
        return
    enough = least_max_batch_size(question.mechanism, delta, question.relation)
    least = f"--max-batch-size {enough} is the smallest with which cutting is proven to cost less than 0.1 % of epsilon"
    yield least if enough > given else f"nothing is to be gained by larger batches: {least}"
