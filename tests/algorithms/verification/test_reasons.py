"""Every statement whose algorithm exists has a check or a reason, and none has both."""

import pytest

from dpbounds.algorithms.verification.catalogue import all_examples
from dpbounds.algorithms.verification.judging.planned_checks import Size
from dpbounds.algorithms.verification.judging.reasons import REASONS, Reason
from dpbounds.algorithms.verification.suite import planned, run_suite
from dpbounds.algorithms.verification.sweeping.store import Store
from dpbounds.errors import InvalidValue
from dpbounds.theorems.record import Bound, Metric, Rate, Side, Status
from dpbounds.theorems.registry import library, theorem

CHECKED = {check.theorem for check in planned()}

# what an algorithm attains, as opposed to what it spends, or what holds of a distribution or a matrix
ATTAINED = frozenset(
    {
        Metric.GRADIENT_NORM,
        Metric.POPULATION_GRADIENT_NORM,
        Metric.PROJECTED_GRADIENT_NORM,
        Metric.FRANK_WOLFE_GAP,
        Metric.SOSP,
        Metric.POPULATION_SOSP,
        Metric.EXCESS_EMPIRICAL_RISK,
        Metric.EXCESS_POPULATION_RISK,
        Metric.SAMPLE_SIZE,
    }
)


def concerned():
    """The statements that need a check or a reason, of the five papers and of this library's own.

    What belongs to an algorithm that exists here, by its record or by an algorithm's own list, and every bound or rate
    of something that an algorithm attains.
    """
    named = {theorem for example in all_examples() for theorem in example.theorems}
    return [
        record
        for record in library()
        if not record.id.startswith("cited/")
        and (record.algorithm or record.id in named or bounds_what_is_attained(record))
    ]


def bounds_what_is_attained(record):
    return record.metric in ATTAINED and any(isinstance(part, Bound | Rate) for part in record.parts)


@pytest.mark.seconds
def test_every_statement_has_a_check_or_a_reason_and_none_has_both():
    need = {record.id for record in concerned()}
    assert need - CHECKED - set(REASONS) == set()
    assert CHECKED & set(REASONS) == set()
    assert set(REASONS) <= need, "no reason is stale"
    assert len(need) > 100


def test_a_reason_points_to_statements_with_a_check():
    for name, reason in REASONS.items():
        assert set(reason.checked) <= CHECKED
        assert name not in reason.checked
        assert reason.checked or not any(words in reason.why for words in ("has a check", "have a check")), name
        # the explicit version of a statement is named where it has a check
        assert {f"{name}/explicit"} & CHECKED <= set(reason.checked)


def test_reasons_agree_with_the_records():
    for name, reason in REASONS.items():
        record = theorem(name)
        if reason.why.startswith("refuted"):
            assert record.status is Status.FALSE
        if reason.why.startswith("disputed"):
            assert record.status is Status.DISPUTED
            assert "lemma-3.4" in str(record.relies_on) or _rests_on_the_escape(name)
        if reason.why.startswith("a lower bound"):
            assert record.side is Side.LOWER
        if reason.why.startswith("it is about the law of the records"):
            assert record.metric.startswith(("population", "excess-population"))
        if reason.why.startswith("a figure"):
            assert record.status is Status.EMPIRICAL


def _rests_on_the_escape(name):
    """Whether the lemma is met along what a statement relies on."""
    seen, waiting = set(), [name]
    while waiting:
        here = waiting.pop()
        if here == "ganesh-liu-oh-thakurta-2023/lemma-3.4":
            return True
        if here not in seen:
            seen.add(here)
            waiting += theorem(here).relies_on
    return False


def test_the_list_cannot_be_changed():
    with pytest.raises(TypeError):
        REASONS["wang-xu-2019/theorem-6"] = Reason("no")


def test_who_asks_for_a_check_is_told_the_reason():
    with pytest.raises(InvalidValue, match=r"equation-2 has none: it follows by arithmetic"):
        run_suite(Size.QUICK, Store(), theorems=["lowy-ullman-wright-2024/equation-2"])
    with pytest.raises(InvalidValue, match="statement with a check"):
        run_suite(Size.QUICK, Store(), theorems=["nobody-1999/theorem-1"])
