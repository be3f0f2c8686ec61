"""The guard that counts: what each answer of a run has to have, an entry in the ledger and the noise of that entry."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
import sympy

from dpbounds.algorithms import noise
from dpbounds.algorithms.guards.counting import counted
from dpbounds.algorithms.ledger import DescribedRelease, OpenLedger
from dpbounds.algorithms.oracles import GradientOracle, HessianOracle
from dpbounds.algorithms.oracles.paths import PathPen
from dpbounds.algorithms.oracles.watching import Question, answered
from dpbounds.errors import BudgetExceeded
from dpbounds.privacy.mechanisms import Gaussian

POINTS = np.zeros((2, 3))


class Flat:
    """A problem of 10 records in 3 dimensions, whose answers are all 0."""

    records, dimension = 10, 3
    lipschitz = smoothness = sympy.Integer(2)

    def objective_and_gradient(self, X):
        return np.zeros(len(X)), np.zeros(X.shape)

    def hessian(self, X):
        return np.zeros((len(X), 3, 3))


def ask(kind, share=Fraction(1)):
    """Asks an oracle under the guard; its per-record bound is that share of the right one."""

    class Claiming(kind):
        per_record_bound = property(lambda self: share * kind.per_record_bound.fget(self))

    generators, ledger = noise.streams(0, 2), OpenLedger()
    with counted(generators, ledger):
        Claiming(Flat(), Fraction(3), generators, ledger)(POINTS)


@pytest.mark.parametrize("kind", [GradientOracle, HessianOracle])
def test_an_answer_with_a_millionth_of_its_noise_missing_is_refused(kind):
    ask(kind)
    with pytest.raises(BudgetExceeded, match=r"has 0\.99999\d* of the noise"):
        ask(kind, 1 - Fraction(1, 10**6))


def test_an_answer_without_an_entry_is_refused():
    generators, ledger = noise.streams(0, 1), OpenLedger()
    question = Question("mechanism", (), (), generators, ledger)
    with counted(generators, ledger):
        answered(question, lambda: ledger.release(Gaussian(1)))
        with pytest.raises(BudgetExceeded, match="no entry in the ledger"):
            answered(question, lambda: None)


def test_an_answer_in_another_ledger_is_refused():
    generators = noise.streams(0, 1)
    other = OpenLedger()
    with counted(generators, OpenLedger()), pytest.raises(BudgetExceeded, match="another ledger"):
        answered(Question("mechanism", (), (), generators, other), lambda: other.release(Gaussian(1)))


def test_repetitions_with_one_stream_are_refused():
    (one,) = noise.streams(0, 1)
    with pytest.raises(BudgetExceeded, match="2 repetitions have 1 different"):
        counted((one, one), OpenLedger())


@pytest.mark.parametrize(("parts", "refused"), [([1.0], False), ([0.5, 0.49], False), ([0.5, 0.51], True)])
def test_answers_along_a_path_share_one_entry(parts, refused):
    """With z = 1 the first answer, at (C/σ)² of the whole, has noise C/√share; a move of any length reaches C(u)."""
    generators, ledger = noise.streams(0, 1), OpenLedger()
    entry = DescribedRelease(Gaussian(1))
    pen = PathPen(ledger, entry)
    oracle = SimpleNamespace(problem=Flat(), length=Fraction(0))
    points = np.zeros((1, 3))

    def ask(part):
        reach = 2 / 10  # G/n, of a first answer
        given = SimpleNamespace(noise_stddev=np.array([reach / np.sqrt(part)]))

        def answer():
            pen.write()
            return given

        answered(Question("path", (points,), (Fraction(1),), generators, pen, oracle), answer)

    with counted(generators, ledger):
        for part in parts[:-1]:
            ask(part)
        if refused:
            with pytest.raises(BudgetExceeded, match="cost more than"):
                ask(parts[-1])
        else:
            ask(parts[-1])
