"""How much the guards of every run let pass: rounding, and no more."""

from contextlib import nullcontext
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from dpbounds.algorithms import noise
from dpbounds.algorithms.guards.counting import Count
from dpbounds.algorithms.guards.plain import Plain, PlainStep
from dpbounds.algorithms.guards.residuals import NoiseWrong, Residuals
from dpbounds.algorithms.ledger import DescribedRelease, OpenLedger, PlainDescent
from dpbounds.algorithms.oracles.paths import PathPen
from dpbounds.algorithms.oracles.watching import Question
from dpbounds.errors import BudgetExceeded
from dpbounds.privacy.mechanisms import (
    Gaussian,
    PoissonSampled,
    RandomlyAllocated,
    SampledWithoutReplacement,
    Shuffled,
    UniformBall,
)
from tests.algorithms.oracles.test_oracles import Bowl, N, P

PROBLEM = Bowl()  # G = L = 1
R, Z = 3, Fraction(3)
X = np.random.default_rng(1).standard_normal((R, P))
V = np.full((R, P), 0.25)  # ‖v‖ = 1/2
NOISE = np.random.default_rng(2).standard_normal((R, P))
FULL = Gaussian(Z)
FADING = np.sqrt(1 - np.exp(-1.0))  # √(1 - e^{-2u}) where u = L ‖v‖/G = 1/2

# By kind: where it is asked, what is written, and the least noise, in units of z, from the constants.
ANSWERS = {
    "gradient": (("gradient", X), FULL, 1 / N),
    "gradient, in a ball": (("gradient", X), UniformBall(Z, P), 1 / N),
    "batch": (("batch", X), SampledWithoutReplacement(FULL, 7, N), 1 / 7),
    "batch, poisson": (("batch", X), PoissonSampled(FULL, "1/8"), 8 / N),
    "batch, sets": (("batch", X), RandomlyAllocated(FULL, 4, 2), 2 / N),
    "batch, shuffled": (("batch", X), Shuffled(FULL, 4), 4 / N),
    "difference": (("difference", X, X + V), FULL, 0.5 / N),
    "difference, far": (("difference", X, X + 100), FULL, 2 / N),
    "difference, kept": (("difference", X, X + V), FULL, (0.75 * 0.5 + 0.25) / N),
    "Hessian": (("Hessian", X), FULL, np.sqrt(P) / N),
    "product": (("product", X, V), FULL, 0.5 / N),
    "path": (("path", X), FULL, np.sqrt(3) / N),  # of length 1
    "path, moved": (("path", X, X + V), FULL, np.sqrt(3) * FADING / N),
    "quantile": (("quantile", X, V), FULL, 1 / N),
}
SHARES = [(1, True), (1 - 1e-10, True), (1 - 1e-8, False), (0.99, False), (0.7, False)]


def question(kind, points, pen, stddev, length=Fraction(1), kept=Fraction(1)):
    about = SimpleNamespace(problem=PROBLEM, noise_stddev=stddev, kept=kept, length=length, noise="gaussian")
    return Question(kind, points, (Z,), noise.streams(0, R), pen, about)


def given(name, share, watcher, ledger):
    """Let an answer pass a watcher that has that share of the noise that its entry asks for."""
    (kind, *points), written, unit = ANSWERS[name]
    pen = PathPen(ledger, DescribedRelease(written)) if kind == "path" else ledger
    stddev = np.full(R, share * unit * float(Z))
    zero = np.zeros((R, P, P)) if kind == "Hessian" else np.zeros((R, P))
    kept = Fraction(3, 4) if name.endswith("kept") else Fraction(1)

    def answer():
        pen.write() if kind == "path" else pen.release(written)
        return SimpleNamespace(noise_stddev=stddev, noisy=zero, exact=zero)

    return watcher.answer(question(kind, tuple(points), pen, stddev, kept=kept), answer)


@pytest.mark.parametrize(("share", "right"), SHARES)
@pytest.mark.parametrize("name", ANSWERS)
def test_a_count_lets_no_noise_pass_that_is_smaller_than_its_entry_asks_for(name, share, right):
    pen = OpenLedger()
    with nullcontext() if right else pytest.raises(BudgetExceeded, match="of the noise that"):
        given(name, share, Count(noise.streams(0, R), pen), pen)


@pytest.mark.parametrize(("share", "right"), SHARES)
def test_nor_do_residuals(share, right, monkeypatch):
    monkeypatch.setattr(Residuals, "_compute_again", lambda *_: None)
    for name in ANSWERS:
        if not name.startswith("batch"):
            pen, residuals = OpenLedger(), Residuals()
            given(name, share, residuals, pen)
            found = {each.name for each in residuals.findings()}
            assert (f"{name.partition(',')[0]}: size" in found) is not right


@pytest.mark.parametrize("name", ["difference", "product", "path, moved"])
def test_a_count_looks_every_time_where_the_noise_depends_on_the_points(name):
    pen = OpenLedger()
    count = Count(noise.streams(0, R), pen)
    given(name, 1, count, pen)
    with pytest.raises(BudgetExceeded, match="of the noise that"):
        given(name, 0.99, count, pen)


def test_a_count_looks_at_each_kind_and_noise_once_and_at_points_that_moved():
    pen = OpenLedger()
    count = Count(noise.streams(0, R), pen)
    given("gradient", 1, count, pen)
    given("gradient", 0.5, count, pen)  # of one oracle: it was looked at
    with pytest.raises(BudgetExceeded, match="difference"):
        given("difference", 0.5, count, pen)

    def answer():
        pen.release(FULL)
        return SimpleNamespace(noise_stddev=np.zeros(R))

    count = Count(noise.streams(0, R), pen)
    count.answer(question("difference", (X, X), pen, 0.0), answer)  # no point moved: nothing is known yet
    with pytest.raises(BudgetExceeded, match="difference"):
        given("difference", 0.5, count, pen)


@pytest.mark.parametrize(("length", "answers"), [("1/2", 2), ("0.499999", 1), ("1", 3), ("0.999999", 2)])
def test_a_count_lets_no_more_answers_along_a_path_pass_than_were_paid_for(length, answers):
    """Each first answer takes a share of 1/(1 + 2LP/G): two are all there is at P = 1/2, three at P = 1."""
    pen = OpenLedger()
    path, count = PathPen(pen, DescribedRelease(FULL)), Count(noise.streams(0, R), pen)
    stddev = np.full(R, float(Z) * np.sqrt(1 + 2 * float(Fraction(length))) / N)
    asking = question("path", (X,), path, stddev, Fraction(length))

    def answer():
        path.write()
        return SimpleNamespace(noise_stddev=stddev)

    for _ in range(answers):
        count.answer(asking, answer)
    with pytest.raises(BudgetExceeded, match="cost more"):
        count.answer(asking, answer)


def test_a_count_refuses_answers_without_an_entry_and_streams_that_are_one():
    pen = OpenLedger()
    count = Count(noise.streams(0, R), pen)
    with pytest.raises(BudgetExceeded, match="no entry"):
        count.answer(question("gradient", (X,), pen, 1.0), lambda: SimpleNamespace(noise_stddev=np.ones(R)))
    with pytest.raises(BudgetExceeded, match="another ledger"):
        given("gradient", 1, count, OpenLedger())
    with pytest.raises(BudgetExceeded, match="2 repetitions have 1 different"):
        Count(noise.streams(0, 1) * 2, pen)


@pytest.mark.parametrize(("off", "right"), [(0, True), (1e-10, True), (1e-8, False), (0.01, False)])
@pytest.mark.parametrize("where", ["start", "second question", "output"])
def test_a_plain_descent_moves_as_declared_up_to_rounding(where, off, right):
    step, g = PlainStep(PlainDescent(Fraction(1, 100)), np.zeros(P), 0.1), np.ones((R, P))
    plain = Plain(step)

    def ask(x):
        plain.answer(question("gradient", (x,), OpenLedger(), 1.0), lambda: SimpleNamespace(noisy=g))

    x = np.zeros((R, P))
    with nullcontext() if right else pytest.raises(BudgetExceeded, match="not plain noisy gradient descent"):
        ask(x + off * (where == "start"))
        x = x - 0.1 * g
        ask(x + off * (where == "second question"))
        x = x - 0.1 * g
        plain.demand_last(x + off * (where == "output"), {})


@pytest.mark.parametrize(("longer", "right"), [(1 - 1e-12, True), (1 + 1e-6, False), (1.01, False)])
def test_residuals_find_a_record_that_is_longer_than_the_constant(longer, right):
    problem, pen, residuals = Bowl(), OpenLedger(), Residuals()
    problem.z = longer * problem.z / np.linalg.norm(problem.z, axis=1).max()
    x = 1e9 * problem.z[np.linalg.norm(problem.z, axis=1).argmax()][None]
    exact = problem.objective_and_gradient(x)[1]
    about = SimpleNamespace(problem=problem, noise_stddev=3 / N, noise="gaussian", kept=Fraction(1))

    def answer():
        pen.release(FULL)
        return SimpleNamespace(noisy=exact + NOISE[:1] * 3 / N, exact=exact)

    residuals.answer(Question("gradient", (x,), (Z,), noise.streams(0, 1), pen, about), answer)
    with nullcontext() if right else pytest.raises(NoiseWrong, match="records"):
        residuals.demand_right()


@pytest.mark.parametrize(("off", "right"), [(1e-9, True), (1e-6, False)])
def test_residuals_compute_the_exact_part_again(off, right):
    pen, residuals = OpenLedger(), Residuals()
    exact = PROBLEM.objective_and_gradient(X)[1] + off

    def answer():
        pen.release(FULL)
        return SimpleNamespace(noisy=exact + NOISE * 3 / N, exact=exact)

    residuals.answer(question("gradient", (X,), pen, 3 / N), answer)
    with nullcontext() if right else pytest.raises(NoiseWrong, match="exact part"):
        residuals.demand_right()
