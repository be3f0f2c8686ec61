"""What people really run: every figure that was promised, asked once, with processor seconds and memory.

    python -m benchmarks.what_people_run [WORDS ...]     rows whose title has one of the words; all without
    python -m benchmarks.what_people_run --drawn 40 1    so many random queries of allocation and bins, by a seed

Each row is answered in a process of its own (start and imports not counted), so that nothing is warm. A row with two
given ends is tight: its interval must overlap them and be at most 1e-3 wide. One with one given end is a bound: the
upper end must not be more than 1e-3 above it. A lower end that is given must be reached as well.
"""

from __future__ import annotations

import math
import multiprocessing
import random
import resource
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from multiprocessing.connection import Connection

import cloudpickle

import dpbounds as dp

WIDTH = 1e-3
ADD_REMOVE, REPLACE, ZERO = "add-or-remove-one", "replace-one", "zero-out-one"
LIMIT, REPLACE_LIMIT, CALIBRATION_LIMIT, REPLACE_CALIBRATION_LIMIT, MEMORY = 10, 60, 60, 600, 2e9
_SLACK = 2e-4  # of a given end: what the reading's own grids leave open

Ask = Callable[[], "tuple[Fraction, Fraction]"]


@dataclass(frozen=True)
class Row:
    """One figure.

    Attributes:
        title: What is asked.
        ask: Both ends.
        upper: What the upper end must not exceed by more than ``WIDTH``; None where nothing was given.
        lower: What the lower end must reach, where something was given.
        width: The relative width that is allowed; None where the ends need not meet.
        limit: Processor seconds.
    """

    title: str
    ask: Ask
    upper: float | None = None
    lower: float | None = None
    width: float | None = None
    limit: int = LIMIT

    def faults(self, low: float, high: float, seconds: float, memory: float) -> list[str]:
        """What is missed."""
        wide = (high - low) / high if high else 0.0
        found = [
            (self.upper is not None and high > self.upper * (1 + WIDTH), "upper end"),
            (self.lower is not None and low < self.lower * (1 - WIDTH), "lower end"),
            (self.upper is not None and low > self.upper * (1 + _SLACK), "above the reading"),
            (self.width is not None and wide > self.width, f"width {wide:.1e}"),
            (seconds > self.limit, "time"),
            (memory > MEMORY, "memory"),
        ]
        return [name for missed, name in found if missed]


def _ends(found: dp.Enclosure) -> tuple[Fraction, Fraction]:
    return found.exact_lower, found.exact_upper


def _asked(mechanism: Callable[[], dp.Mechanism], relation: str, delta: str) -> Ask:
    return lambda: _ends(dp.epsilon(mechanism(), delta, relation))


def allocated(z: str, steps: int, epochs: int, participations: int = 1) -> Callable[[], dp.Mechanism]:
    return lambda: dp.RandomlyAllocated(dp.Gaussian(z), steps, participations) ** epochs


def kept_bins(z: str, bins: int, epochs: int) -> Callable[[], dp.Mechanism]:
    return lambda: dp.BallsInBins(dp.Gaussian(z), bins, epochs, redraw=False)


def truncated(most: int) -> Callable[[], dp.Mechanism]:
    return lambda: dp.TruncatedPoisson(dp.Gaussian(1), "0.01", most, 10_000) ** 1000


def last(z: str, batches: int, smoothness_step: str, order: str) -> Callable[[], dp.Mechanism]:
    return lambda: dp.LastIterate(
        dp.Gaussian(z), batches=batches, epochs=10, smoothness_step=smoothness_step, order=order
    )


def banded(participation: str) -> Callable[[], dp.Mechanism]:
    # the reading's columns have norm 1 at most; ours are not scaled, and the noise is: 3 √(1 + 1/4 + 9/64 + 25/256)
    return lambda: dp.MatrixMechanism("3.659853", dp.Toeplitz("square-root", 200, 4), participation, separation=20)


def _tight() -> Iterable[Row]:
    """Allocation with one step, and bins: [lower, upper] or the value that was read."""
    given = [
        ("1 of 100, z=1", allocated("1", 100, 1), ADD_REMOVE, "1e-5", 0.62088, 0.62100),
        ("1 of 100, 10 epochs, z=1", allocated("1", 100, 10), ADD_REMOVE, "1e-5", 1.7010, 1.7018),
        ("1 of 100, 10 epochs, z=2", allocated("2", 100, 10), ADD_REMOVE, "1e-5", 0.60229, 0.60376),
        ("1 of 1000, 5 epochs, z=.8", allocated("0.8", 1000, 5), ADD_REMOVE, "1e-6", 0.70872, 0.70927),
        ("1 of 20, 10 epochs, z=3", allocated("3", 20, 10), ADD_REMOVE, "1e-5", 0.89502, 0.89616),
        ("1 of 100, 10 epochs, z=.5", allocated("0.5", 100, 10), ADD_REMOVE, "1e-5", 12.0487, 12.0493),
        ("1 of 1000, 10 epochs, z=2", allocated("2", 1000, 10), ADD_REMOVE, "1e-5", 0.17069, 0.17273),
        ("same 100 bins, 10 epochs, z=4", kept_bins("4", 100, 10), ADD_REMOVE, "1e-5", 0.34165, 0.34181),
        ("same 100 bins, 10 epochs, z=1", kept_bins("1", 100, 10), ADD_REMOVE, "1e-5", 13.2513, 13.2515),
        ("1 of 100, 10 epochs, z=1, replace", allocated("1", 100, 10), REPLACE, "1e-5", 2.834, 2.8357),
        ("1 of 100, z=1, replace", allocated("1", 100, 1), REPLACE, "1e-5", 0.8255, 0.82603),
    ]
    for title, mechanism, relation, delta, low, high in given:
        limit = REPLACE_LIMIT if relation == REPLACE else LIMIT
        yield Row(title, _asked(mechanism, relation, delta), high, low, WIDTH, limit)
    held_out = [  # not in the specification: width, time and memory alone
        ("1 of 10, 10 epochs, z=.5", allocated("0.5", 10, 10), ADD_REMOVE, "1e-5"),
        ("1 of 10, 10 epochs, z=.3", allocated("0.3", 10, 10), ADD_REMOVE, "1e-5"),
        ("1 of 4, z=.5", allocated("0.5", 4, 1), ADD_REMOVE, "1e-6"),
        ("1 of 10, 10 epochs, z=.5, replace", allocated("0.5", 10, 10), REPLACE, "1e-5"),
        ("1 of 10, 10 epochs, z=.3, replace", allocated("0.3", 10, 10), REPLACE, "1e-5"),
        ("1 of 2, 58 epochs, z=.328, replace", allocated("0.328", 2, 58), REPLACE, "1e-11"),
        ("same 5 bins, 21 epochs, z=2.06, replace", kept_bins("2.06", 5, 21), REPLACE, "1e-8"),
        ("same 36 bins, 40 epochs, z=.302, replace", kept_bins("0.302", 36, 40), REPLACE, "1e-10"),
        ("1 of 10 000, 3 epochs, z=.7", allocated("0.7", 10_000, 3), ADD_REMOVE, "1e-8"),
        ("1 of 10 000, 3 epochs, z=.7, replace", allocated("0.7", 10_000, 3), REPLACE, "1e-8"),
        ("1 of 100 000, z=1", allocated("1", 100_000, 1), ADD_REMOVE, "1e-8"),
        ("1 of 100 000, 10 epochs, z=1", allocated("1", 100_000, 10), ADD_REMOVE, "1e-6"),
        ("1 of 100 000, 10 epochs, z=.5", allocated("0.5", 100_000, 10), ADD_REMOVE, "1e-6"),
        ("1 of 100 000, 10 epochs, z=1, replace", allocated("1", 100_000, 10), REPLACE, "1e-6"),
        ("same 100 000 bins, 10 epochs, z=2", kept_bins("2", 100_000, 10), ADD_REMOVE, "1e-6"),
    ]
    for title, mechanism, relation, delta in held_out:
        limit = REPLACE_LIMIT if relation == REPLACE else LIMIT
        yield Row(title, _asked(mechanism, relation, delta), width=WIDTH, limit=limit)


def _bounds() -> Iterable[Row]:
    shuffled = lambda z, batches, epochs=10: lambda: dp.Shuffled(dp.Gaussian(z), batches) ** epochs  # noqa: E731
    given = [
        ("shuffled 1000, 10 epochs, z=4", shuffled(4, 1000), REPLACE, 3.94, 0.0),
        ("shuffled 10 000, 10 epochs, z=4", shuffled(4, 10_000), REPLACE, 1.06, 0.0),
        ("shuffled 1000, 10 epochs, z=10", shuffled(10, 1000), REPLACE, 0.70, 0.0),
        ("shuffled 1000, 1 epoch, z=10", shuffled(10, 1000, 1), REPLACE, 0.18, 0.0),
        ("shuffled 10 000, 10 epochs, z=3", shuffled(3, 10_000), REPLACE, 2.04, 0.0),
        ("shuffled 100, 10 epochs, z=1", shuffled(1, 100), REPLACE, 46.2112, 12.048),
        ("shuffled 100, 10 epochs, z=2", shuffled(2, 100), REPLACE, 17.857, 1.700),
        ("shuffled 100, 10 epochs, z=4", shuffled(4, 100), REPLACE, 7.5113, 0.601),
        ("shuffled 1000, 1 epoch, z=2", shuffled(2, 1000, 1), REPLACE, 4.3772, 0.1386),
        ("truncated at 150", truncated(150), ADD_REMOVE, 1.8311, 1.8289),
        ("truncated at 120", truncated(120), ADD_REMOVE, 5.2287, 1.827),
        ("truncated at 110", truncated(110), ADD_REMOVE, 7.347, 0.0),
        ("truncated at 100", truncated(100), ADD_REMOVE, 9.8949, 2.339),
        ("truncated at 80", truncated(80), ADD_REMOVE, 11.084, 4.161),
        ("truncated at 50", truncated(50), ADD_REMOVE, None, 7.875),
        ("4 bands, 20 bins, 10 epochs, z=3", banded("balls-in-bins"), ADD_REMOVE, 2.9844, 1.7591),
        ("4 bands, fixed order, 10 epochs, z=3", banded("fixed-order"), ZERO, 4.6530, 4.6530),
        ("last iterate, fixed, z=4, .01", last("4", 100, "0.01", "fixed"), REPLACE, 2.2126, 0.0),
        ("last iterate, fixed, z=4, .001", last("4", 100, "0.001", "fixed"), REPLACE, 2.1013, 0.0),
        ("last iterate, fixed, z=4, .1", last("4", 100, "0.1", "fixed"), REPLACE, 3.3884, 0.0),
        ("last iterate, fixed, z=4, 1", last("4", 100, "1", "fixed"), REPLACE, 6.4501, 0.0),
        ("last iterate, fixed, z=1, .01", last("1", 100, "0.01", "fixed"), REPLACE, 11.2231, 0.0),
        ("last iterate, fixed, z=1, 1", last("1", 100, "1", "fixed"), REPLACE, 38.5057, 0.0),
        ("last iterate, secret, z=4, .01", last("4", 100, "0.01", "secret"), REPLACE, 1.5196, 0.0),
        ("last iterate, shuffled, z=4, .01", last("4", 100, "0.01", "shuffled"), REPLACE, 1.5621, 0.0),
        ("last iterate, shuffled, z=1, .01", last("1", 100, "0.01", "shuffled"), REPLACE, 8.8273, 0.0),
        ("last iterate, shuffled 1000, z=4, .01", last("4", 1000, "0.01", "shuffled"), REPLACE, 1.0681, 0.0),
        ("last iterate, shuffled 1000, z=2, .001", last("2", 1000, "0.001", "shuffled"), REPLACE, 2.3723, 0.0),
        ("last iterate, shuffled 1000, z=10, .01", last("10", 1000, "0.01", "shuffled"), REPLACE, 0.34516, 0.0),
    ]
    for title, mechanism, relation, high, low in given:
        yield Row(title, _asked(mechanism, relation, "1e-5"), high, low or None)
    k_of = allocated("1", 20, 1, 4)
    yield Row("4 of 20, z=1, at 1e-5", _asked(k_of, ADD_REMOVE, "1e-5"))
    for z, chance, delta, high, low in (
        ("20", "0.01", "1e-6", 0.4107, 0.2386),
        ("20", "0.1", "1e-6", 0.3053, 0.2151),
        ("5", "0.01", "1e-6", 1.7083, 1.0212),
        ("1", "0.01", "1e-5", 8.656, 5.349),
        ("5", "0.001", "1e-6", 2.0771, 1.1040),
    ):
        yield Row(
            f"best of a geometric number of runs, z={z}, {chance}",
            lambda z=z, chance=chance, delta=delta: _ends(  # type: ignore[misc]
                dp.tuned_enclosure(dp.Gaussian(z), dp.RandomRuns(chance), delta)
            ),
            high,
            low,
        )


def _calibrations() -> Iterable[Row]:
    def noise(make: Callable[[Fraction], dp.Mechanism], epsilon: int, relation: str) -> Ask:
        def ask() -> tuple[Fraction, Fraction]:
            found = dp.calibrate(make, epsilon, "1e-5", relation)
            return (found.fails_at or Fraction(0)), found.value

        return ask

    matrix = dp.Toeplitz("square-root", 200, 4)
    makes: list[tuple[str, Callable[[Fraction], dp.Mechanism], int, str]] = [
        ("1 of 100, 10 epochs", lambda z: dp.RandomlyAllocated(dp.Gaussian(z), 100) ** 10, 2, ADD_REMOVE),
        ("1 of 100, 10 epochs, replace", lambda z: dp.RandomlyAllocated(dp.Gaussian(z), 100) ** 10, 2, REPLACE),
        ("same 100 bins, 10 epochs", lambda z: dp.BallsInBins(dp.Gaussian(z), 100, 10, redraw=False), 2, ADD_REMOVE),
        ("4 of 20", lambda z: dp.RandomlyAllocated(dp.Gaussian(z), 20, 4), 2, ADD_REMOVE),
        ("1 of 100, little noise", lambda z: dp.RandomlyAllocated(dp.Gaussian(z), 100), 200, ADD_REMOVE),
        (
            "same 100 bins, little noise",
            lambda z: dp.BallsInBins(dp.Gaussian(z), 100, 10, redraw=False),
            200,
            ADD_REMOVE,
        ),
        ("4 of 20, little noise", lambda z: dp.RandomlyAllocated(dp.Gaussian(z), 20, 4), 1000, ADD_REMOVE),
        ("1 of 4, little noise", lambda z: dp.RandomlyAllocated(dp.Gaussian(z), 4), 1000, ADD_REMOVE),
        ("shuffled 1000, 10 epochs", lambda z: dp.Shuffled(dp.Gaussian(z), 1000) ** 10, 2, REPLACE),
        ("truncated at 150", lambda z: dp.TruncatedPoisson(dp.Gaussian(z), "0.01", 150, 10_000) ** 1000, 2, ADD_REMOVE),
        (
            "4 bands, 20 bins, 10 epochs",
            lambda z: dp.MatrixMechanism(z, matrix, "balls-in-bins", separation=20),
            2,
            ADD_REMOVE,
        ),
        (
            "4 bands, fixed order, 10 epochs",
            lambda z: dp.MatrixMechanism(z, matrix, "fixed-order", separation=20),
            2,
            REPLACE,
        ),
        *(
            (
                f"last iterate, {order}, .01",
                lambda z, order=order: dp.LastIterate(  # type: ignore[misc]
                    dp.Gaussian(z), batches=100, epochs=10, smoothness_step="0.01", order=order
                ),
                2,
                REPLACE,
            )
            for order in ("fixed", "secret", "shuffled")
        ),
    ]
    for title, make, epsilon, relation in makes:
        slow = "replace" in title
        limit = REPLACE_CALIBRATION_LIMIT if slow else CALIBRATION_LIMIT
        yield Row(f"calibrate: {title}, ε={epsilon}", noise(make, epsilon, relation), limit=limit)


def drawn(count: int, seed: int) -> Iterable[Row]:
    """Random queries of allocation and of kept bins that no one has tuned for: width, time and memory alone."""
    draw = random.Random(seed)
    for index in range(count):
        z, delta = f"{10 ** draw.uniform(math.log10(0.3), 1):.3g}", f"1e-{draw.randint(3, 12)}"
        bins, epochs = round(10 ** draw.uniform(math.log10(2), 5)), round(10 ** draw.uniform(0, 2))
        relation, make = (ADD_REMOVE, REPLACE)[index % 2], (allocated, kept_bins)[index // 2 % 2]
        title = f"{make.__name__} {bins}, {epochs} epochs, z={z}, {delta}, {relation}"
        limit = REPLACE_LIMIT if relation == REPLACE else LIMIT
        yield Row(title, _asked(make(z, bins, epochs), relation, delta), width=WIDTH, limit=limit)


ROWS: tuple[Row, ...] = (*_tight(), *_bounds(), *_calibrations())


def measured(row: Row) -> tuple[float, float, float, float]:
    """Lower end, upper end, processor seconds, and bytes beyond those of its imports, in a fresh process."""
    context = multiprocessing.get_context("spawn")  # what JAX and other benchmarks left in this one stays here
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_answer, args=(sender, cloudpickle.dumps(row.ask)))
    process.start()
    sender.close()  # so that a process that dies is an error here, and not a wait without end
    found = receiver.recv()
    process.join()
    if isinstance(found, str):
        raise RuntimeError(f"{row.title}: {found}")
    low, high, seconds, memory = found
    return low, high, seconds, memory


def _answer(sender: Connection, pickled: bytes) -> None:
    ask = cloudpickle.loads(pickled)
    start, before = time.process_time(), _most_bytes()
    try:
        low, high = ask()
    except Exception as error:  # the row says what was answered instead
        sender.send(repr(error)[:200])
        return
    seconds = time.process_time() - start
    sender.send((float(low), float(high), seconds, _most_bytes() - before))


def _most_bytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0


def line(row: Row) -> tuple[str, list[str]]:
    """A row of the table, and what it misses."""
    low, high, seconds, memory = measured(row)
    faults = row.faults(low, high, seconds, memory)
    given = "" if row.upper is None else f"{row.upper:.6g}"
    attack = "" if row.lower is None else f"{row.lower:.6g}"
    told = ", ".join(faults) or "met"
    return (
        f"| {row.title} | {low:.6g} | {high:.6g} | {attack} | {given} | {seconds:.1f} | {memory / 1e6:.0f} | {told} |",
        faults,
    )


def main(words: list[str]) -> None:
    print("| what | lower | upper | asked: at least | at most | CPU s | MB | verdict |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    random_ones = words[:1] == ["--drawn"]
    for row in drawn(int(words[1]), int(words[2])) if random_ones else ROWS:
        if not words or random_ones or any(word in row.title for word in words):
            try:
                print(line(row)[0], flush=True)
            except RuntimeError as error:
                print(f"| {error} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
