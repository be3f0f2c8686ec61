"""Ask several accountants the same questions, and print their answers and costs as the table of accountants.md.

Run ``python docs/accountants.py``. Accountants that are not installed are left out: the extras ``interoperability`` and
``opacus`` bring them, and ``pip install pld-accounting`` PLD_accounting. Every answer is asked for in a process of its
own, and its cost is the CPU time of all threads: for Poisson samples after a warm-up by another question, the median of
three processes; for other samples of one process, imports included.
"""

import functools
import multiprocessing
import operator
import statistics
import time
import warnings
from collections.abc import Callable
from importlib.util import find_spec

REPETITIONS = 3

# A question: (sample rate, noise multipliers with their numbers of steps, δ).
Question = tuple[float, tuple[tuple[float, int], ...], float]
QUESTIONS: dict[str, Question] = {
    "long run": (0.01, ((1.0, 10_000),), 1e-6),
    "small δ": (0.01, ((1.0, 10_000),), 1e-12),
    "much noise": (0.01, ((50.0, 100_000),), 1e-12),
    "100 noise levels": (0.01, tuple((1 + level / 100, 5) for level in range(100)), 1e-6),
}
WARM_UP: Question = (0.02, ((1.5, 100), (1.7, 50)), 1e-5)


def dpbounds(question: Question) -> float:
    """The proven upper end."""
    import dpbounds as dp

    rate, levels, delta = question
    parts = (dp.PoissonSampled(dp.Gaussian(noise), rate) ** steps for noise, steps in levels)
    return dp.epsilon(functools.reduce(operator.matmul, parts), delta=delta).upper


def _event(question: Question) -> object:
    from dp_accounting import dp_event

    rate, levels, _ = question
    return dp_event.ComposedDpEvent(
        [
            dp_event.SelfComposedDpEvent(dp_event.PoissonSampledDpEvent(rate, dp_event.GaussianDpEvent(noise)), steps)
            for noise, steps in levels
        ]
    )


def dp_accounting_pld(question: Question) -> float:
    """A discretised distribution of the loss, by Fourier transform, rounded up but for the transform."""
    from dp_accounting.pld import PLDAccountant

    return float(PLDAccountant().compose(_event(question)).get_epsilon(question[2]))


def dp_accounting_rdp(question: Question) -> float:
    """Moments at some orders."""
    from dp_accounting.rdp import RdpAccountant

    return float(RdpAccountant().compose(_event(question)).get_epsilon(question[2]))


def _opacus(mechanism: str, question: Question) -> float:
    from opacus.accountants import create_accountant

    rate, levels, delta = question
    accountant = create_accountant(mechanism)
    accountant.history = [(noise, rate, steps) for noise, steps in levels]
    return float(accountant.get_epsilon(delta))


def opacus_prv(question: Question) -> float:
    """A discretised distribution of the loss; the upper end of its error bars."""
    return _opacus("prv", question)


def opacus_rdp(question: Question) -> float:
    """Moments at some orders."""
    return _opacus("rdp", question)


ACCOUNTANTS: dict[str, tuple[str, Callable[[Question], float]]] = {
    "dpbounds": ("dpbounds", dpbounds),
    "dp-accounting, PLD": ("dp_accounting", dp_accounting_pld),
    "dp-accounting, RDP": ("dp_accounting", dp_accounting_rdp),
    "Opacus, prv": ("opacus", opacus_prv),
    "Opacus, rdp": ("opacus", opacus_rdp),
}


def answer(accountant: str, question: str) -> float:
    """ε of one accountant."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # others warn of orders that are too few, or of their own style
        return ACCOUNTANTS[accountant][1](QUESTIONS[question])


def measured(accountant: str, question: str) -> tuple[float, float]:
    """ε, and the CPU seconds that it took after a warm-up."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ACCOUNTANTS[accountant][1](WARM_UP)
    before = time.process_time()
    epsilon = answer(accountant, question)
    return epsilon, time.process_time() - before


# Under replace-one: (dpbounds' mechanism, dp-accounting's event), both at δ = 1e-6.
def _full_batch() -> tuple[object, object]:
    from dp_accounting import dp_event

    import dpbounds as dp

    return dp.Gaussian(10) ** 10, dp_event.SelfComposedDpEvent(dp_event.GaussianDpEvent(10.0), 10)


def _fixed_size() -> tuple[object, object]:
    from dp_accounting import dp_event

    import dpbounds as dp

    sampled = dp_event.SampledWithoutReplacementDpEvent(1000, 10, dp_event.GaussianDpEvent(2.0))
    return dp.SampledWithoutReplacement(dp.Gaussian(2), 10, 1000) ** 100, dp_event.SelfComposedDpEvent(sampled, 100)


REPLACED: dict[str, Callable[[], tuple[object, object]]] = {
    "full batch, noise multiplier 10, 10 steps": _full_batch,
    "10 of 1000 without replacement, noise multiplier 2, 100 steps": _fixed_size,
}


def replaced(question: str) -> tuple[str, str, str]:
    """ε under replace-one at δ = 1e-6: the proven ends, and what PLD and RDP of dp-accounting answer."""
    from dp_accounting import NeighboringRelation, UnsupportedEventError
    from dp_accounting.pld import PLDAccountant
    from dp_accounting.rdp import RdpAccountant

    import dpbounds as dp

    mechanism, event = REPLACED[question]()
    told = [" to ".join(dp.epsilon(mechanism, "1e-6", "replace-one").decimals(5))]
    for accountant in (PLDAccountant, RdpAccountant):
        try:
            asked = accountant(neighboring_relation=NeighboringRelation.REPLACE_ONE).compose(event)
            told.append(f"{asked.get_epsilon(1e-6):.5g}")
        except UnsupportedEventError:
            told.append("refused")
    return told[0], told[1], told[2]


# Samples other than Poisson's, noise multiplier 1, at δ = 1e-5: (dpbounds' question, the peer's module and question).
SAMPLED_DELTA = 1e-5


def _allocated(epochs: int) -> tuple[float, float]:
    import dpbounds as dp

    found = dp.epsilon(dp.RandomlyAllocated(dp.Gaussian(1), 100) ** epochs, SAMPLED_DELTA)
    return found.lower, found.upper


def _allocated_by_pld(epochs: int, accuracy: float) -> tuple[float, float]:
    from PLD_accounting import gaussian_allocation_epsilon_range

    high, low = gaussian_allocation_epsilon_range(
        delta=SAMPLED_DELTA, sigma=1.0, num_steps=100, num_selected=1, num_epochs=epochs, epsilon_accuracy=accuracy
    )
    return low, high


def _truncated(most: int, relation: str) -> tuple[float, float]:
    import dpbounds as dp

    run = dp.TruncatedPoisson(dp.Gaussian(1), "0.01", most, 10_000) ** 1000
    found = dp.epsilon(run, SAMPLED_DELTA, relation)
    return found.lower, found.upper


def _truncated_by_pld(most: int, relation: str) -> tuple[float, float]:
    from dp_accounting import NeighboringRelation, dp_event
    from dp_accounting.pld import PLDAccountant

    theirs = {"add-or-remove-one": "ADD_OR_REMOVE_ONE", "zero-out-one": "REPLACE_SPECIAL"}
    event = dp_event.TruncatedSubsampledGaussianDpEvent(10_000, 0.01, most, 1.0)
    asked = PLDAccountant(NeighboringRelation[theirs[relation]]).compose(dp_event.SelfComposedDpEvent(event, 1000))
    return 0.0, float(asked.get_epsilon(SAMPLED_DELTA))


Ends = Callable[[], tuple[float, float]]
SAMPLED: dict[str, tuple[Ends, str, Ends]] = {
    "each record in one of 100 steps, 1 epoch": (
        functools.partial(_allocated, 1),
        "PLD_accounting",
        functools.partial(_allocated_by_pld, 1, 0.01),
    ),
    "each record in one of 100 steps, 10 epochs": (
        functools.partial(_allocated, 10),
        "PLD_accounting",
        functools.partial(_allocated_by_pld, 10, 0.1),
    ),
} | {
    f"batches of at most {most}, 1000 steps, {relation}": (
        functools.partial(_truncated, most, relation),
        "dp_accounting",
        functools.partial(_truncated_by_pld, most, relation),
    )
    for most, relation in ((150, "add-or-remove-one"), (120, "add-or-remove-one"), (120, "zero-out-one"))
}


def between(ends: tuple[float, float]) -> str:
    """Both ends, or the upper one where a library tells no other."""
    low, high = ends
    return f"{low:.5g} to {high:.5g}" if low else f"{high:.5g}"


def timed(question: str, place: int) -> tuple[str, float]:
    """What dpbounds (place 0) or its peer (place 2) answers, and the CPU seconds that it took, imports included."""
    ask = SAMPLED[question][place]
    assert not isinstance(ask, str)
    before = time.process_time()
    return between(ask()), time.process_time() - before


def rounded_up(epsilon: float) -> str:
    """Return a proven upper bound with six digits, not below it."""
    from dpbounds.expressions.exact import to_decimal

    return to_decimal(epsilon, 6, "up")


def main() -> None:
    """Print one row per question, one column per accountant."""
    context = multiprocessing.get_context("spawn")
    present = [name for name, (module, _) in ACCOUNTANTS.items() if find_spec(module)]
    print(f"| question | {' | '.join(present)} |")
    print("|" + " --- |" * (len(present) + 1))
    for question in QUESTIONS:
        print(f"| {question} |", end="", flush=True)
        for accountant in present:
            runs = []
            for _ in range(REPETITIONS):
                with context.Pool(1) as pool:
                    runs.append(pool.apply(measured, (accountant, question)))
            seconds = statistics.median(run[1] for run in runs)
            told = rounded_up(runs[0][0]) if accountant == "dpbounds" else f"{runs[0][0]:.6g}"
            print(f" {told} in {seconds:.2g} s |", end="", flush=True)
        print()
    if find_spec("dp_accounting"):
        print("\n| under replace-one | dpbounds, proven | dp-accounting, PLD | dp-accounting, RDP |\n|" + " --- |" * 4)
        for question in REPLACED:
            print(f"| {question} | {' | '.join(replaced(question))} |")
    print("\n| other samples | dpbounds, proven | who else | answers |\n|" + " --- |" * 4)
    for question, (_, peer, _) in SAMPLED.items():
        cells = []
        for place in (0, 2) if find_spec(peer) else (0,):
            with context.Pool(1) as pool:
                told, seconds = pool.apply(timed, (question, place))
            cells.append(f"{told} in {seconds:.2g} s")
        print(f"| {question} | {f' | {peer} | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
