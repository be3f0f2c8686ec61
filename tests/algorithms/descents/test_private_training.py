"""Training with any optimiser: against plain NumPy, planted bugs under guard, checkpoints that are resumed once."""

import json
import shutil
import zipfile
from fractions import Fraction
from functools import cache
from importlib import import_module
from threading import Thread

import attrs
import numpy as np
import pytest

from dpbounds.algorithms import GradientSteps, PrivateTraining, QuantileClipping, noise as drawn, problems
from dpbounds.algorithms.checkpoints import Checkpoint, Saved
from dpbounds.algorithms.descents import private_training as page
from dpbounds.algorithms.guards.residuals import NoiseWrong
from dpbounds.algorithms.guards.shadow import DataLeaked
from dpbounds.algorithms.ledger import DescribedRelease, Ledger, OpenLedger, PrivacyBudget, Visits
from dpbounds.algorithms.method import Outcome
from dpbounds.algorithms.noise import streams
from dpbounds.algorithms.oracles.quantiles import QuantileClippedOracle
from dpbounds.algorithms.oracles.watching import watched_by
from dpbounds.algorithms.progress import followed_by
from dpbounds.algorithms.sampling import Allocated, Batch, Bins, Cyclic, Poisson, Shuffle
from dpbounds.algorithms.unreleased import opened
from dpbounds.errors import BudgetExceeded, InvalidValue, UnsupportedMechanism
from dpbounds.privacy.mechanisms import Gaussian, LastIterate, PoissonSampled, parts_of
from dpbounds.privacy.publishing import certificates

RNG = np.random.default_rng(0)
N, P = 200, 3
FEATURES = RNG.standard_normal((N, P))
SIGNS = np.where(FEATURES[:, 0] > 0, 1, -1)
PROBLEM = problems.Clipped(problems.sigmoid_loss(FEATURES, SIGNS, l1=0, feature_bound=10), 1)
SAMPLINGS = {
    "all": None,
    "poisson": Poisson("1/10"),
    "batch": Batch(20, N, replacement=False),
    "with-replacement": Batch(20, N, replacement=True),
    "bins": Bins(10),
    "allocated": Allocated(10, 2),
}


@cache
def calibrated(epochs=2):
    return PrivateTraining.calibrated(PROBLEM, 1, "1e-5", epochs=epochs, optimiser=0.5, sampling=Poisson("1/10"))


def training(which="poisson", **more):
    """Two epochs; calibrated where that is cheap."""
    if which == "poisson":
        return attrs.evolve(calibrated(), **more)
    steps = 8 if which == "all" else 20
    return PrivateTraining(
        **{"noise_multiplier": 30, "steps": steps, "optimiser": 0.5, "sampling": SAMPLINGS[which]} | more
    )


def gradients(x, rows, clip):
    found = problems.sigmoid_loss(FEATURES, SIGNS, l1=0, feature_bound=10).batch_gradient(
        np.tile(x, (len(rows), 1)), np.asarray(rows)[:, None]
    )
    norms = np.linalg.norm(found, axis=1)
    return (found * np.minimum(1, clip / norms)[:, None]).sum(axis=0), int((norms <= clip).sum())


def released(run):
    (release,) = run.ledger.releases
    return release.sample_rate, release.count, float(release.noise_multiplier)


def test_step_by_step():
    method = PrivateTraining(3, 4, GradientSteps(0.5, momentum=0.9), sampling=Poisson("1/10"))
    run, (generator,) = method.run(PROBLEM, seed=5), streams(5, 1)
    x, v, by = np.zeros(P), np.zeros(P), float(method.sampling.sample_rate) * N
    for _ in range(4):
        rows = np.flatnonzero(generator.random(N) < float(method.sampling.sample_rate))
        g = gradients(x, rows, 1)[0] / by + 3 / by * generator.standard_normal(P)
        v = 0.9 * v + g
        x = x - 0.5 * v
    assert run.output[0] == pytest.approx(x, rel=1e-9)
    assert run.measured["moved"] == pytest.approx(np.linalg.norm(x))
    assert released(run) == (Poisson("1/10").sample_rate, 4, pytest.approx(3))


def test_a_norm_that_adapts_step_by_step():
    rule = QuantileClipping(quantile="3/5", share="1/10", rate="1/4")
    run = PrivateTraining(3, 4, 0.5, sampling=Poisson("1/10"), clipping=rule).run(PROBLEM, seed=5)
    (generator,), x, clip = streams(5, 1), np.zeros(P), 1.0
    rate = float(Poisson("1/10").sample_rate)
    for _ in range(4):
        rows = np.flatnonzero(generator.random(N) < rate)
        total, within = gradients(x, rows, clip)
        vector = np.append(total / clip * 0.9**0.5, (2 * within - len(rows)) * 0.1**0.5) / (rate * N)
        vector = vector + 3 / (rate * N) * generator.standard_normal(P + 1)
        x = x - 0.5 * vector[:-1] * clip / 0.9**0.5
        clip *= np.exp(-0.25 * ((vector[-1] / 0.1**0.5 + 1) / 2 - 0.6))
    assert run.output[0] == pytest.approx(x, rel=1e-8)
    assert run.outputs["clips"][0, 0] == pytest.approx(clip, rel=1e-8)
    # gradient and quantile are one release on one sample: not two, which would be accounted as two samples
    assert released(run) == (Poisson("1/10").sample_rate, 4, pytest.approx(3))


def test_one_record_moves_an_answer_by_at_most_one_wherever_the_norm_is():
    oracle = QuantileClippedOracle(PROBLEM, None, Fraction(3), Fraction(1, 50), streams(0, 1), None)
    for clip in (1e-3, 0.3, 20.0):
        for row in range(30):
            moved = oracle.unit_sum(np.ones(P), np.array([row]), clip)
            assert sum((Fraction(float(each)) ** 2 for each in moved), Fraction(0)) <= 1
    assert np.linalg.norm(oracle.unit_sum(np.ones(P), np.array([3]), 1e-3)) > 1 - 1e-9


def test_a_norm_that_adapts_finds_the_quantile():
    method = PrivateTraining(1, 60, 1e-9, sampling=None, clipping=QuantileClipping(quantile="4/5", rate="1/2"))
    clip = method.run(PROBLEM, seed=1).outputs["clips"][0, 0]
    assert gradients(np.zeros(P), np.arange(N), clip)[1] / N == pytest.approx(0.8, abs=0.05)


@pytest.mark.seconds
@pytest.mark.parametrize("name", SAMPLINGS)
@pytest.mark.parametrize("clipping", [None, QuantileClipping()])
def test_every_sampling_is_certified_under_guard(name, clipping):
    if name in ("bins", "allocated") and clipping is not None:
        with pytest.raises(InvalidValue, match="sampling must be"):
            training(name, clipping=clipping)
        return
    method = training(name, clipping=clipping, optimiser=GradientSteps(0.5, 0.9))
    run = method.run(PROBLEM, seed=2, repetitions=2, guarded=True)
    assert run.spent is None or 0.999 < run.spent.upper <= 1
    assert "no bound applies" in str(run)
    run.ledger.check_plan(method.planned)


def test_what_is_accounted_is_never_the_last_iterate_alone():
    for name in SAMPLINGS:
        method = training(name)
        assert not any(isinstance(part, LastIterate) for part, _ in parts_of(method.planned))
        run = method.run(PROBLEM, seed=1)
        with pytest.raises((BudgetExceeded, UnsupportedMechanism)):
            run.ledger.check_plan(
                LastIterate(Gaussian(1), batches=1, epochs=method.steps, smoothness_step=1, order="fixed")
            )


# --- planted bugs


def of_the_drawn_size(monkeypatch):
    """The sum is divided by the size that was drawn, which is data."""
    monkeypatch.setattr(
        import_module("dpbounds.algorithms.oracles.batches"),
        "batch_means",
        lambda problem, X, rows, by: np.stack(
            [problem.batch_gradient(x[None], own[None])[0] for x, own in zip(X, rows, strict=True)]
        ),
    )


def a_key_twice(monkeypatch):
    """Every answer gets the noise of the first."""
    real, first = drawn.standard_gaussian, {}
    monkeypatch.setattr(
        drawn,
        "standard_gaussian",
        lambda generators, size: first.setdefault(generators[0], real(generators, size)).copy(),
    )


def clipping_forgotten(monkeypatch):
    """Gradients are as long as they are."""
    monkeypatch.setattr(problems.Clipped, "record_gradients", lambda self, x, rows: 30 * FEATURES[rows])


@pytest.mark.seconds
@pytest.mark.parametrize("bug", [of_the_drawn_size, a_key_twice, clipping_forgotten])
def test_planted_bugs_are_caught(bug, monkeypatch):
    method = attrs.evolve(training(), steps=200, budget=None)
    bug(monkeypatch)
    with pytest.raises((NoiseWrong, BudgetExceeded)):
        method.run(PROBLEM, seed=1, repetitions=20, guarded=True)


def test_a_quantile_that_no_ledger_knows_is_caught():
    """Noisy or not: what was not asked of an oracle is not what the shadow sees."""

    @attrs.frozen
    class Leaking(PrivateTraining):
        def walk(self, problem, run, **more):
            x, gradient = run.repeated(problem.initial_point), run.batch_gradients(None, self.noise_multiplier)
            clip = 1.0
            for _ in run.steps(self.steps):
                g = gradient(x)
                run.measure(step=(g.exact**2).sum(axis=1))
                x = x - 0.1 * g.noisy
                _, within = problem.sums_within(x[0], np.arange(problem.records), Fraction(clip))
                clip *= np.exp(-(within / problem.records + run.generators[0].standard_normal() / 100 - 0.5))
            return Outcome(x, outputs={"clips": np.full(len(x), clip)}, measured={"moved": np.ones(len(x))})

    with pytest.raises(DataLeaked):
        Leaking(100, 3, 0.1).run(PROBLEM, seed=1, guarded=True)


# --- checkpoints


def interrupted(method, place, after, problem=PROBLEM, every=2, **more):
    class Stopped(Exception):
        pass

    def stop(made):
        if made.step == after:
            raise Stopped

    with pytest.raises(Stopped), followed_by(stop):
        method.run(problem, checkpoint=place, every=every, **more)


@pytest.mark.parametrize("name", [name for name in SAMPLINGS if name not in ("bins", "allocated")])
def test_a_run_goes_on_where_it_stopped_with_one_ledger(name, tmp_path):
    method, place = attrs.evolve(training(name), optimiser=GradientSteps(0.5, 0.9)), tmp_path / "run"
    every = 2
    interrupted(method, place, 5, every=every)
    run = method.run(PROBLEM, checkpoint=place, every=every)
    assert run.ledger == method.run(PROBLEM).ledger
    assert run.spent is None or run.spent.upper <= 1
    again = method.run(PROBLEM, checkpoint=place, every=every)  # complete: nothing is drawn
    assert np.array_equal(again.output, run.output)
    assert again.ledger == run.ledger


def test_a_checkpoint_that_was_gone_on_from_is_refused(tmp_path):
    method, place = training(), tmp_path / "run"
    interrupted(method, place, 5)
    shutil.copy(place, tmp_path / "before")
    method.run(PROBLEM, checkpoint=place, every=2)
    shutil.copy(tmp_path / "before", place)
    with pytest.raises(BudgetExceeded, match="gone on from step 4 to step 20"):
        method.run(PROBLEM, checkpoint=place)
    with pytest.raises(BudgetExceeded, match="missing or another run's"):
        method.run(PROBLEM, checkpoint=tmp_path / "before")
    place.unlink()
    with pytest.raises(BudgetExceeded, match="begin another"):
        method.run(PROBLEM, checkpoint=place)


def test_two_that_go_on_at_once_do_not_both_end(tmp_path):
    method, place = training(), tmp_path / "run"
    interrupted(method, place, 5)
    ended = []

    def other(made):
        if made.step == 9 and not ended:
            ended.append(None)
            thread = Thread(target=lambda: method.run(PROBLEM, checkpoint=place, every=2))
            thread.start()
            thread.join()

    with pytest.raises(BudgetExceeded, match="another attempt"), followed_by(other):
        method.run(PROBLEM, checkpoint=place, every=2)
    assert ended


@pytest.mark.parametrize("seed", [None, 7])
def test_no_noise_is_used_twice(seed, tmp_path):
    """Copies of both files, resumed each in its place: nothing tells, but their noise is not the same."""
    method, place = training("all"), tmp_path / "run"
    interrupted(method, place, 5, seed=seed)
    (tmp_path / "copy").mkdir()
    for file in ("run", "run.log"):
        shutil.copy(tmp_path / file, tmp_path / "copy" / file)
    first = method.run(PROBLEM, seed=seed, checkpoint=place, every=2)
    whole = method.run(PROBLEM, seed=seed)
    assert not np.array_equal(first.output, whole.output)
    second = method.run(PROBLEM, seed=seed, checkpoint=tmp_path / "copy" / "run", every=2)
    assert not np.array_equal(first.output, second.output)
    assert first.ledger.seeded is second.ledger.seeded is (seed is not None)
    kept = place.read_bytes()
    for part in (b"PCG64", b"bit_generator", b"seed_seq"):
        assert part not in kept


@pytest.mark.parametrize("seed", [None, 7])
@pytest.mark.parametrize("name", ["all", "poisson"])
def test_nor_where_both_files_are_put_back(name, seed, tmp_path):
    """Continuations on different records would share their noise."""
    method, place, heard = training(name), tmp_path / "run", []
    for stop in (1, 5):
        interrupted(method, place, stop, seed=seed)
    kept = {file: (tmp_path / file).read_bytes() for file in ("run", "run.log")}
    with noise_heard(heard):
        for _ in range(3):
            for file, content in kept.items():
                (tmp_path / file).write_bytes(content)
            interrupted(method, place, 8, seed=seed)
    noise = np.concatenate(heard).round(12)
    assert len(np.unique(noise)) == noise.size


def edited(place, change, keep_digest=True):
    """Write a checkpoint again with other content."""
    with zipfile.ZipFile(place) as file:
        content = {name: file.read(name) for name in file.namelist()}
    about = json.loads(content["about.json"])
    change(about, content)
    if not keep_digest:
        del about["digest"]
    content["about.json"] = json.dumps(about).encode()
    with zipfile.ZipFile(place, "w") as file:
        for name, each in content.items():
            file.writestr(name, each)


@pytest.mark.parametrize("digest", [True, False], ids=["digest", "as of version 0.2.0"])
@pytest.mark.parametrize("after", [5, None], ids=["in between", "complete"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("array", ["x", "clips"])
def test_an_iterate_that_is_not_finite_is_not_gone_on_with(array, value, after, digest, tmp_path):
    method, place = training(), tmp_path / "run"
    if after is None:
        method.run(PROBLEM, checkpoint=place, every=2)
    else:
        interrupted(method, place, after)

    def broken(_about, content):
        numbers = np.frombuffer(content[f"{array}.bytes"]).copy()
        numbers[-1] = value
        content[f"{array}.bytes"] = numbers.tobytes()

    edited(place, broken, digest)
    with pytest.raises(InvalidValue, match="points are those that a run saved" if digest else "must be finite"):
        method.run(PROBLEM, checkpoint=place, every=2)


def test_an_iterate_or_a_step_that_was_changed_is_not_gone_on_with(tmp_path):
    def moved(_about, content):
        content["x.bytes"] = (np.frombuffer(content["x.bytes"]) + 1e-9).tobytes()

    def later(about, _content):
        about["step"] = 6

    for number, change in enumerate((moved, later)):
        place = tmp_path / str(number)
        interrupted(training(), place, 5)
        edited(place, change)
        with pytest.raises(InvalidValue, match="points are those that a run saved"):
            training().run(PROBLEM, checkpoint=place, every=2)


def test_a_checkpoint_of_version_0_2_0_is_gone_on_from(tmp_path):
    interrupted(training(), tmp_path / "run", 5)
    edited(tmp_path / "run", lambda *_: None, keep_digest=False)
    assert training().run(PROBLEM, checkpoint=tmp_path / "run", every=2).spent.upper <= 1


def test_a_run_that_has_diverged_is_not_saved(tmp_path):
    place = Checkpoint(tmp_path / "run", {})
    place.begin()
    finite = {"x": np.zeros((1, 2)), "clips": np.ones((1, 1)), "state-0-0": np.array([np.inf])}
    place.save(Saved(1, finite, training().run(PROBLEM).ledger, ()))
    for name, value in (("x", np.inf), ("clips", np.nan), ("state-0-0", np.nan)):
        with pytest.raises(InvalidValue, match=f"{name} of the checkpoint .* must be finite"):
            place.save(Saved(2, {**finite, name: np.full((1, 2), value)}, training().run(PROBLEM).ledger, ()))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"clipping": QuantileClipping()}, "clipping of the checkpoint"),
        ({"steps": 30}, "planned of the checkpoint"),
        ({"noise_multiplier": 50}, "planned of the checkpoint"),
        ({"budget": PrivacyBudget.of(2, "1e-5")}, "budget of the checkpoint"),
        ({"optimiser": GradientSteps(0.1)}, None),  # post-processing: free
    ],
)
def test_what_privacy_is_computed_from_does_not_change(change, said, tmp_path):
    method, place = training(), tmp_path / "run"
    interrupted(method, place, 5)
    other = attrs.evolve(method, **change)
    if said is None:
        assert other.run(PROBLEM, checkpoint=place, every=2).spent.upper <= 1
        return
    with pytest.raises(InvalidValue, match=said):
        other.run(PROBLEM, checkpoint=place)


def test_another_problem_or_repetitions_are_refused(tmp_path):
    method, place = training(), tmp_path / "run"
    interrupted(method, place, 5)
    inner = problems.sigmoid_loss(FEATURES, SIGNS, l1=0, feature_bound=10)
    with pytest.raises(InvalidValue, match="norm of the checkpoint"):
        method.run(problems.Clipped(inner, 2), checkpoint=place)
    with pytest.raises(InvalidValue, match="repetitions of the checkpoint"):
        method.run(PROBLEM, repetitions=2, checkpoint=place)
    with pytest.raises(InvalidValue, match="guarded must be"):
        method.run(PROBLEM, checkpoint=place, guarded=True)


def test_damaged_files_are_refused(tmp_path):
    method, place = training(), tmp_path / "run"
    interrupted(method, place, 5)
    content = place.read_bytes()
    for damaged in (b"", content[:-50], content.replace(b"noise_counted", b"noise-counted")):
        place.write_bytes(damaged)
        with pytest.raises(InvalidValue):
            method.run(PROBLEM, checkpoint=place)


@pytest.mark.seconds
def test_noise_that_was_too_small_before_the_checkpoint_is_seen_at_the_end(tmp_path, monkeypatch):
    method, place = training("all", steps=400), tmp_path / "run"
    real = drawn.standard_gaussian
    with monkeypatch.context() as patched:
        patched.setattr(drawn, "standard_gaussian", lambda *given: 0.5 * real(*given))
        interrupted(method, place, 390, every=300, repetitions=4)
    with pytest.raises(BudgetExceeded, match="noise"):
        method.run(PROBLEM, checkpoint=place, every=300, repetitions=4)


VISITED = {
    "allocated": Allocated(4, 2),
    "bins": Bins(4),
    "kept-bins": Bins(4, redraw=False),
    "shuffled": Shuffle(4),
    "cyclic": Cyclic(4),
    "secret-cyclic": Cyclic(4, "secret"),
}


def noise_heard(heard):
    return watched_by(Heard(lambda given: heard.append(opened(given.noisy) - opened(given.exact))))


class Heard:
    def __init__(self, hear):
        self.hear = hear

    def answer(self, _question, answer):
        given = answer()
        self.hear(given)
        return given


def in_two_attempts(name, place, seed=None):
    """Killed in the third of four epochs, and gone on: the noise of all answers that were made, and the run."""
    method, heard = PrivateTraining(20, 16, 0.5, sampling=VISITED[name]), []
    with noise_heard(heard):
        interrupted(method, place, 10, every=4, seed=seed)
        run = method.run(PROBLEM, checkpoint=place, every=4, seed=seed)
    return method, run, np.concatenate(heard)


@pytest.mark.parametrize("name", VISITED)
def test_batches_that_depend_on_each_other_go_on_between_epochs(name, tmp_path):
    method, run, noise = in_two_attempts(name, tmp_path / "run", seed=3)
    assert run.ledger.releases == method.run(PROBLEM).ledger.releases
    assert len(noise) == 10 + 8
    assert len(np.unique(noise)) == noise.size  # none was used again
    again = method.run(PROBLEM, checkpoint=tmp_path / "run", every=4)
    assert np.array_equal(again.output, run.output)


@pytest.mark.parametrize("name", [name for name in VISITED if name != "kept-bins"])  # which deal once: streams shift
def test_a_key_used_again_after_a_resumption_would_be_seen(name, tmp_path, monkeypatch):
    monkeypatch.setattr(page, "reseeded", lambda *_: None)
    noise = in_two_attempts(name, tmp_path / "run", seed=3)[2]
    assert len(np.unique(noise.round(12))) < noise.size


@pytest.mark.parametrize("name", VISITED)
def test_every_record_is_in_its_batches_of_an_epoch_that_was_gone_on_with(name, tmp_path):
    rows = []

    class Rows(Heard):
        def answer(self, question, answer):
            given = super().answer(question, answer)
            rows.append(opened(given.rows)[0])
            return given

    method = PrivateTraining(20, 8, 0.5, sampling=VISITED[name])
    interrupted(method, tmp_path / "run", 6, every=4)
    with watched_by(Rows(lambda _: None)):
        method.run(PROBLEM, checkpoint=tmp_path / "run", every=4)
    assert len(rows) == 4
    times = 2 if name == "allocated" else 1
    assert all(len(set(batch)) == len(batch) for batch in rows)
    assert sorted(np.concatenate(rows)) == sorted(list(range(N)) * times)


class Drawn(Heard):
    """Keeps which records were asked about."""

    def __init__(self):
        super().__init__(lambda _: None)
        self.rows = []

    def answer(self, question, answer):
        given = super().answer(question, answer)
        self.rows.append(opened(given.rows)[0].tolist())
        return given


def test_records_stay_in_bins_that_are_kept_and_nobody_else_may_read_which(tmp_path, monkeypatch):
    method, place, drawn = PrivateTraining(20, 12, 0.5, sampling=Bins(4, redraw=False)), tmp_path / "run", Drawn()
    secret = tmp_path / "run.secret"
    with watched_by(drawn):
        interrupted(method, place, 6, every=4, seed=3)
        assert secret.stat().st_mode & 0o777 == 0o600
        left = secret.read_bytes()
        shutil.copytree(tmp_path, tmp_path.with_name("copy"))
        run = method.run(PROBLEM, checkpoint=place, every=4, seed=4)
    saved = drawn.rows[:4] + drawn.rows[-8:]  # what was asked after the last checkpoint is lost
    assert saved[:4] == saved[4:8] == saved[8:]
    assert run.ledger.releases == method.run(PROBLEM).ledger.releases
    assert not secret.exists()
    method.run(PROBLEM, checkpoint=place, every=4)  # complete: bins are of no use

    # planted bugs: bins that are dealt anew are seen above, and refused by the pen; those of another run are refused
    place, secret = tmp_path.with_name("copy") / "run", tmp_path.with_name("copy") / "run.secret"
    begun = {each.name: each.read_bytes() for each in place.parent.iterdir()}
    interrupted(method, tmp_path / "other", 6, every=4)
    other = (tmp_path / "other.secret").read_bytes()
    for wrong in (None, other, left[:-30], b""):
        for name, content in begun.items():
            (place.parent / name).write_bytes(content)
        secret.unlink() if wrong is None else secret.write_bytes(wrong)
        with pytest.raises(InvalidValue, match="checkpoint must be"):
            method.run(PROBLEM, checkpoint=place, every=4)
    secret.write_bytes(left)
    monkeypatch.setattr(Checkpoint, "hidden", lambda *_: None)
    with pytest.raises(InvalidValue, match="one that draws bins anew"):
        method.run(PROBLEM, checkpoint=place, every=4)


def test_an_epoch_is_not_left_in_the_middle(tmp_path, monkeypatch):
    with pytest.raises(InvalidValue, match="every must be whole epochs, of 4 steps each"):
        PrivateTraining(20, 8, 0.5, sampling=Shuffle(4)).run(PROBLEM, checkpoint=tmp_path / "run", every=2)
    # whoever forgets that is refused by the ledger's own pen: a record could be in two batches of one epoch
    method = PrivateTraining(20, 8, 0.5, sampling=Shuffle(4))
    monkeypatch.setattr(page, "epoch_of", lambda *_: 4)
    monkeypatch.setattr(PrivateTraining, "_place", lambda self, problem, path, *_: Checkpoint(path, {}))
    interrupted(method, tmp_path / "run", 6, every=2)
    with pytest.raises(InvalidValue, match="steps must be whole epochs"):
        method.run(PROBLEM, checkpoint=tmp_path / "run")


def test_an_entry_that_is_not_what_was_visited_is_not_gone_on_with():
    """Of fewer epochs, of less noise, or one that forgets what was there: planted bugs."""

    def resumed(epochs, z=20, done=8):
        pen = OpenLedger()
        before = Shuffle(4).visited(Gaussian(z), 4 * epochs)
        pen.resume(Ledger((DescribedRelease(*parts_of(before)[0]),)), ())
        visits = Visits(Shuffle(4), pen)
        visits.resume(done)
        visits.release(Gaussian(20))
        return pen.so_far().mechanism()

    assert resumed(2) == Shuffle(4).visited(Gaussian(20), 12)
    for wrong in ({"epochs": 1}, {"epochs": 2, "z": 10}, {"epochs": 2, "done": 4}):
        with pytest.raises(UnsupportedMechanism, match="one after the other"):
            resumed(**wrong)


def test_the_log_says_what_happened(tmp_path):
    method, place = training(), tmp_path / "run"
    method.run(PROBLEM, checkpoint=place)
    lines = [json.loads(line) for line in (tmp_path / "run.log").read_text().splitlines()]
    assert [line.get("step") for line in lines] == [None, None, 10, 20]
    assert Checkpoint(place, {}).log == tmp_path / "run.log"


# --- what is told, and what is refused


def test_a_run_has_a_statement_and_a_certificate_that_holds(tmp_path):
    run = training().run(PROBLEM)
    assert "(1, 1e-05)-differentially private under replace-one" in run.statement()
    assert run.noise_drawn in run.statement()
    certificates.write_certificate(tmp_path / "run.json", run._account())
    assert run.certificate() == json.loads((tmp_path / "run.json").read_text())
    with pytest.raises(InvalidValue, match="budget must be"):
        training("all").run(PROBLEM).certificate()


def test_an_epochs_line_says_what_was_spent(capsys):
    method = training()
    method.run(PROBLEM, seed=1, report=True)
    first, second = capsys.readouterr().out.splitlines()
    half = (PoissonSampled(Gaussian(method.noise_multiplier), method.sampling.sample_rate)) ** 10
    from dpbounds import epsilon

    spent = epsilon(half, "1e-5", "replace-one").upper
    assert first == f"epoch 1: step 10 of 20, epsilon {spent:.4g} of 1 spent (proven)"
    assert second == "epoch 2: step 20 of 20, epsilon 1 of 1 spent (proven)"
    told = []
    method.run(PROBLEM, seed=1, report=lambda made: told.append((made.step, made.ledger.releases[0].count)))
    assert told == [(10, 10), (20, 20)]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"optimiser": None}, "optimiser must be"),
        ({"optimiser": object()}, "optimiser must be"),
        ({"steps": 0, "epochs": None}, "steps must be"),
        ({"steps": 3}, "steps must be"),
        ({"epochs": 0}, "epochs must be"),
        ({"sampling": 0.1}, "sampling must be"),
        ({"clipping": 0.5}, "clipping must be"),
    ],
)
def test_what_does_not_fit_is_refused(change, said):
    with pytest.raises(InvalidValue, match=said):
        PrivateTraining.calibrated(PROBLEM, 1, "1e-5", **{"epochs": 2, "optimiser": 0.5} | change)


def test_more_that_does_not_fit_is_refused():
    unclipped = problems.sigmoid_loss(FEATURES, SIGNS, l1=0)
    with pytest.raises(UnsupportedMechanism, match="only clipped gradients"):
        PrivateTraining(3, 2, 0.5, clipping=QuantileClipping()).run(unclipped)
    with pytest.raises(UnsupportedMechanism, match="does not support clipping at a quantile"):
        PrivateTraining(3, 2, 0.5, clipping=QuantileClipping(), noise="secure").run(PROBLEM)
    with pytest.raises(InvalidValue, match="report must be"):
        PrivateTraining(3, 2, 0.5).run(PROBLEM, report=True)
    with pytest.raises(InvalidValue, match="radius must be"):
        PrivateTraining(3, 2, 0.5).run(problems.sigmoid_loss(FEATURES, SIGNS, l1=0, radius=1))
    for name in ("quantile", "share"):
        with pytest.raises(InvalidValue, match=f"{name} must be"):
            QuantileClipping(**{name: 1})
    with pytest.raises(InvalidValue, match="momentum must be"):
        GradientSteps(1, momentum=1)


def test_an_epoch():
    assert [page.epoch_of(each, N) for each in SAMPLINGS.values()] == [1, 10, 10, 10, 10, 10]
    assert [page.epoch_of(Poisson(rate), N) for rate in ("1/1000", "0.3", 1)] == [1000, 4, 1]
