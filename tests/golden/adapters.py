"""Everything that the questions ask of the package below its public names: the one file to edit where these move.

A function here takes and returns what has no name of the package in it: public mechanisms, JSON, text, exact ends.
"""

from __future__ import annotations

import contextlib
import io
import json
from fractions import Fraction

import click

import dpbounds as dp
from dpbounds.algorithms import ledger_format, planned, sampling as sampling_schemes
from dpbounds.algorithms.ledger import PrivacyBudget
from dpbounds.algorithms.verification.catalogue import example, example_names as example_names
from dpbounds.cli import main
from dpbounds.cli.answers import assumptions
from dpbounds.cli.printing import wording
from dpbounds.cli.questions import training
from dpbounds.errors import NotCertified, UnsupportedMechanism
from dpbounds.expressions.enclosure import Enclosure, ball_end
from dpbounds.expressions.working import working
from dpbounds.privacy.accountants import groups
from dpbounds.privacy.accountants.certified import Account
from dpbounds.privacy.accountants.side_by_side import METHODS as METHODS
from dpbounds.privacy.accountants.tuning import tuned_fixed as tuned_fixed
from dpbounds.privacy.domination.composition import neighbour_classes
from dpbounds.privacy.mechanisms import descriptions, parts_of
from dpbounds.privacy.notions import (
    composition_theorems,
    concentrated,
    conversions,
    gaussian,
    notions,
    optimal_composition,
)
from dpbounds.privacy.pairs.losses import ball, law_at
from dpbounds.privacy.publishing import certificates, standalone_checker, statements
from dpbounds.privacy.publishing.interoperability.events import to_dp_event
from dpbounds.privacy.relations import as_relation
from dpbounds.privacy.renyi.accountant import (
    renyi_curve as renyi_curve,
    renyi_delta as renyi_delta,
    renyi_epsilon as renyi_epsilon,
)
from dpbounds.privacy.renyi.concentrated_accounts import zcdp_rho as zcdp_rho
from dpbounds.privacy.renyi.moments import total_log_moment
from dpbounds.privacy.routes.closed_forms import closed_form_delta, has_closed_form

REFUSALS = NotCertified, UnsupportedMechanism, NotImplementedError  # of a number

# --- ledgers ---


def entry(mechanism, count):
    """The entry of a ledger."""
    return descriptions.described(mechanism, count)


def read_entry(given):
    """The mechanism and the count of an entry."""
    return ledger_format.read_entry(given)


def written(mechanism):
    """The text of a ledger."""
    return ledger_format.write_releases(mechanism)


def read(text):
    """The mechanism of a ledger's text."""
    return ledger_format.read_releases(text)


def digest(mechanism):
    return descriptions.digest(mechanism)


def demand_within_plan(done, plan):
    """Raises where something was released that was not planned."""
    planned.demand_within_plan(done, plan, "L")


# --- words ---


def words(mechanism):
    return wording.described(mechanism)


def drawn_words(mechanism):
    return wording.drawn(mechanism)


def noise_words(mechanism):
    return repr(wording.noise_of(mechanism))


def statement(mechanism, relation):
    """The paragraph to publish, as for a proven ε in [1, 2]."""
    proven = Enclosure(Fraction(1), Fraction(2), "contour", 64)
    return statements.statement(Account(mechanism, as_relation(relation), "delta", Fraction(1, 10**5), proven, ()))


def assumed(mechanism, relation):
    """Who has to see to what."""
    return [(one.who, one.text) for one in assumptions.assumptions(mechanism, as_relation(relation))]


# --- other formats ---


def certificate_entry(mechanism, count, relation):
    return certificates.release_of(mechanism, count, as_relation(relation))


def certificate(subject):
    """The document."""
    return certificates.certificate(subject)


def exact_number(text):
    """A number as a certificate writes it."""
    return standalone_checker.rational(text)


def checked(document):
    """The package's report on it."""
    return certificates.check_certificate(document)


def checked_alone(document):
    """The stand-alone checker's exit status and lines."""
    return standalone_checker.check(standalone_checker.parsed(json.dumps(document)))


def event(mechanism, relation):
    """The event of dp-accounting."""
    return repr(to_dp_event(mechanism, as_relation(relation)))


# --- dominating pairs ---


def classes(mechanism, relation):
    """(name, whether the pairs are attained, product, attacks) of each class of neighbours."""
    found = neighbour_classes(mechanism, as_relation(relation)).every()
    return [(one.name, one.tight, one.product, one.attacks) for one in found]


def group_products(mechanism, relation, size):
    """The products of pairs for a group, and whether they are attained."""
    return groups.group_products(mechanism, as_relation(relation), size)


def log_moment(product, order):
    """Both ends of log E_P e^((λ-1)L)."""
    return _ends(total_log_moment(product, Fraction(order)))


def masses_above(pair, loss):
    """Both ends of P[L > loss] and Q[L > loss] of the continuous part, then of P[L = ∞]."""
    with working(96):
        law = law_at(pair, 96)
        above = law.tail(ball(Fraction(loss)))
        return (*map(_ends, above), _ends(law.infinite))


def delta_of(pair, epsilon):
    """Both ends of δ(ε) of one pair by its law."""
    with working(96):
        return _ends(law_at(pair, 96).delta(ball(Fraction(epsilon))))


def delta_in_closed_form(product, epsilon):
    """The same by the closed form; None where there is none."""
    return _ends(closed_form_delta(product[0][0], Fraction(epsilon))[0]) if has_closed_form(product) else None


def _ends(found):
    """Both ends of a ball, rounded outwards to 2^-40 of it, so that the last bits of another formula do not show."""
    if not found.is_finite():
        return "-inf", "inf"
    return _coarse(ball_end(found, "down"), up=False), _coarse(ball_end(found, "up"), up=True)


def _coarse(value, up):
    if value == 0:
        return value
    shift = 40 + value.denominator.bit_length() - value.numerator.bit_length()
    scaled = value * Fraction(2) ** shift
    return (-(-scaled // 1) if up else scaled // 1) / Fraction(2) ** shift


# --- notions and composition theorems ---

NOTIONS = {
    "pure": notions.PureDP,
    "approximate": notions.ApproximateDP,
    "zcdp": notions.ZeroConcentratedDP,
    "renyi": notions.RenyiDP,
    "gaussian": notions.GaussianDP,
    "range": notions.BoundedRange,
    "variation": notions.TotalVariation,
}
THEOREMS = {
    "basic": composition_theorems.basic_epsilon,
    "advanced": composition_theorems.advanced_epsilon,
    "optimal": optimal_composition.optimal_epsilon,
}
optimal_delta = optimal_composition.optimal_delta
zcdp_epsilon, zcdp_budget = concentrated.zcdp_epsilon, concentrated.zcdp_budget
gaussian_budget = gaussian.gaussian_budget


def converted(notion, kind, **more):
    """The parameters of the notion that another implies, and the names of the steps."""
    found = conversions.convert(notion, NOTIONS[kind], **more)
    return found.notion.parameters, [link.edge.name for link in found.chain]


def parts(*listed):
    """The parts of a composition, from (ε, δ, count)."""
    return tuple(
        (composition_theorems.EpsilonDelta(Fraction(epsilon), Fraction(delta)), count)
        for epsilon, delta, count in listed
    )


# --- the command line ---


@training.TRAINING_OPTIONS
@click.option("--relation", default="replace-one")
def _nothing(**given):
    """Take the options of a training and do nothing."""


_COMMAND = click.command(_nothing)


def training_of(arguments, unknown=None, value=None):
    """The mechanism that the options of a training describe, its unknown at a value where there is one."""
    with contextlib.redirect_stderr(io.StringIO()):
        context = _COMMAND.make_context("training", list(arguments))
        found = training.read_training(context.params, unknown)
    return found.mechanism() if unknown is None else found.with_value(unknown, Fraction(value))


def training_help():
    return _COMMAND.get_help(_COMMAND.make_context("training", []))


def described(mechanism):
    """A mechanism as data: the entries of its parts, or its ``repr`` where a ledger does not hold it."""
    try:
        return [dict(descriptions.described(part, count)) for part, count in parts_of(mechanism)]
    except dp.DpboundsError:
        return repr(mechanism)


# --- algorithms ---


def calibrated_example(name, epsilon, delta):
    """An algorithm of the catalogue and its problem."""
    return example(name).calibrated(PrivacyBudget.of(epsilon, delta))


def invoke(arguments):
    """Exit status, standard output and standard error of a command line."""
    output, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        status = main(list(arguments))
    return status, output.getvalue(), errors.getvalue()


def sampling(name, *numbers):
    """How an algorithm draws its batches."""
    return {"poisson": sampling_schemes.Poisson, "without replacement": _batch}[name](*numbers)


def _batch(size, records):
    return sampling_schemes.Batch(size, records, False)
