"""What is said of a mechanism without a proof of numbers: ledgers, certificates, words, refusals, options."""

from __future__ import annotations

from tests.golden import adapters
from tests.golden.mechanisms import (
    RELATIONS,
    allocated,
    ball,
    bins,
    blocks,
    correlated,
    discrete_gaussian,
    discrete_laplace,
    exponential,
    gaussian,
    gaussian_absolute,
    laplace,
    laplace_absolute,
    last_iterate,
    mixture,
    poisson,
    pure,
    response,
    shuffled,
    toeplitz,
    truncated,
    with_replacement,
    without_replacement,
    zcdp,
)
from tests.golden.recording import Answer

NOISES = {
    "gaussian": gaussian("1.5"),
    "gaussian third": gaussian("1/3"),
    "gaussian absolute": gaussian_absolute(3, "2/7"),
    "laplace": laplace("1.5"),
    "laplace in 1": laplace("1/3", 1),
    "laplace absolute": laplace_absolute(3, 2),
    "discrete gaussian": discrete_gaussian("2.5", "3/2"),
    "discrete gaussian in 1": discrete_gaussian(2, 1, 1),
    "discrete gaussian in 2": discrete_gaussian(2, 1, 2),
    "discrete laplace": discrete_laplace("2.5", 2),
    "ball": ball(9, 3),
    "mixture": mixture(2, {0: "0.5", 1: "0.3", 2: "0.2"}),
    "response": response(1, 3),
    "exponential": exponential(1),
    "pure": pure("0.1"),
    "zcdp": zcdp(1),
}


def schemes(mechanism):
    """A mechanism under every scheme, by name; the first is the full batch."""
    return {
        "full": mechanism,
        "poisson": poisson(mechanism, "0.01"),
        "poisson third": poisson(mechanism, "1/3"),
        "poisson one": poisson(mechanism, 1),
        "without": without_replacement(mechanism, 2, 20),
        "with": with_replacement(mechanism, 2, 20),
        "truncated": truncated(mechanism, "0.1", 8, 20),
        "truncated third": truncated(mechanism, "1/3", 150, 10000),
        "truncated, all fit": truncated(mechanism, "0.1", 30, 20),
        "shuffled": shuffled(mechanism, 10),
        "shuffled with rest": shuffled(mechanism, 10, "1/30"),
        "allocated": allocated(mechanism, 20),
        "allocated 2": allocated(mechanism, 21, 2),
        "allocated all": allocated(mechanism, 3, 3),
        "bins": bins(mechanism, 20, "2.5"),
        "bins redrawn": bins(mechanism, 20, 3, redraw=True),
    }


def simple():
    """Every noise under every scheme."""
    return {f"{scheme} ({name})": one for name, noise in NOISES.items() for scheme, one in schemes(noise).items()}


def pool():
    """All mechanisms of the structural questions, by name."""
    found = simple()
    for name in ("gaussian", "laplace", "discrete gaussian in 1"):
        for inner, once in schemes(NOISES[name]).items():
            if inner != "full":
                for outer, twice in schemes(once).items():
                    if outer != "full":
                        found[f"{outer} ({inner} ({name}))"] = twice
        for scheme, one in schemes(NOISES[name] @ NOISES["gaussian"]).items():
            found[f"{scheme} ({name} @ gaussian)"] = one
        for scheme, one in schemes(blocks(NOISES[name], gaussian(2))).items():
            found[f"{scheme} (blocks of {name})"] = one
    matrix = correlated(2, toeplitz([1, "1/2"], 3), groups="content")
    last = last_iterate(gaussian(2), 3, 2, "0.1", order="shuffled")
    for name, whole in {"matrix": matrix, "last iterate": last}.items():
        for scheme, one in schemes(whole).items():
            found[f"{scheme} ({name})"] = one
    for scheme, one in schemes(gaussian(2)).items():
        found[f"blocks of {scheme}"] = blocks(one, gaussian(3))
        found[f"blocks by index of {scheme}"] = blocks(one, gaussian(3), partition="index")
        found[f"{scheme} @ truncated"] = one @ (truncated(gaussian(1), "0.1", 8, 20) ** 3)
    return found


def questions():
    """All of them, in order."""
    for name, mechanism in pool().items():
        yield from _of_mechanism(name, mechanism)
        for relation in RELATIONS:
            yield from _under(name, mechanism, relation)
    yield from _hostile_entries()
    yield from _command_lines()
    yield "help", lambda: Answer(text=adapters.training_help())


def _of_mechanism(name, one):
    for count in (1, 7):
        yield f"ledger: {name} {count}", lambda count=count: Answer(adapters.entry(one, count))
        yield f"words: {name} {count}", lambda count=count: Answer(text=adapters.words(one**count))
    yield f"repr: {name}", lambda: Answer(text=repr(one))
    yield f"digest: {name}", lambda: Answer(adapters.digest(one))
    yield f"drawn: {name}", lambda: Answer(text=adapters.drawn_words(one))
    yield f"noise: {name}", lambda: Answer(text=adapters.noise_words(one))
    yield f"round trip: {name}", lambda: _round_trip(one**3)
    yield f"plan: {name}", lambda: Answer(adapters.demand_within_plan(one**2, one**3))
    yield f"beyond plan: {name}", lambda: Answer(adapters.demand_within_plan(one**4, one**3))


def _round_trip(mechanism):
    text = adapters.written(mechanism)
    return Answer([text, adapters.read(text) == mechanism])


def _under(name, one, relation):
    yield f"certificate: {name}, {relation}", lambda: Answer(adapters.certificate_entry(one, 7, relation))
    for count in (1, 7):
        yield (
            f"statement: {name} {count}, {relation}",
            lambda count=count: Answer(text=adapters.statement(one**count, relation)),
        )
    yield f"assumptions: {name}, {relation}", lambda: Answer(text=adapters.assumed(one, relation))
    yield f"classes: {name}, {relation}", lambda: _classes(one**2, relation)
    yield f"event: {name}, {relation}", lambda: Answer(adapters.event(one, relation))


def _classes(mechanism, relation):
    """Which classes there are and whether their pairs are attained; how the pairs are written is text."""
    found = adapters.classes(mechanism, relation)
    told = [(repr(product), [repr(attack) for attack in attacks]) for _, _, product, attacks in found]
    return Answer([(name, tight) for name, tight, *_ in found], text=told)


# --- readers: each field missing, unknown, of a wrong type ---

_READ = (
    "full (gaussian)",
    "poisson (gaussian)",
    "poisson (laplace)",
    "truncated (gaussian)",
    "allocated 2 (laplace in 1)",
    "full (discrete gaussian in 1)",
    "bins (gaussian)",
    "without (gaussian)",
    "shuffled with rest (gaussian)",
    "full (mixture)",
)
_HOSTILE = (None, True, "x", "1/0", -1, 0, 1.5, [], {"a": 1}, "truncated-poisson")


def _hostile_entries():
    mechanisms = simple()
    for name in _READ:
        good = dict(adapters.entry(mechanisms[name], 3))
        for field in [*good, "unknown"]:
            without = {key: value for key, value in good.items() if key != field}
            yield f"read: {name} without {field}", lambda given=without: _read(given)
            for value in _HOSTILE:
                yield f"read: {name} {field}={value!r}", lambda given={**good, field: value}: _read(given)


def _read(given):
    mechanism, count = adapters.read_entry(given)
    return Answer(adapters.described(mechanism**count))


# --- options of the command line: every scheme, with one option more or one less ---

_SCHEMES = {
    "full-batch": "--steps 4",
    "poisson": "--sampling poisson --sample-rate 1/10 --steps 4",
    "without-replacement": "--sampling without-replacement --batch-size 5 --dataset-size 50 --steps 4",
    "with-replacement": "--sampling with-replacement --batch-size 5 --dataset-size 50 --steps 4",
    "truncated-poisson": "--sampling truncated-poisson --sample-rate .1 --max-batch-size 8 --dataset-size 50 --steps 4",
    "random-allocation": "--sampling random-allocation --batches 5 --epochs 2",
    "balls-in-bins": "--sampling balls-in-bins --batches 5 --epochs 2 --redraw",
    "shuffled": "--sampling shuffled --batches 5 --epochs 2",
    "last-iterate": "--release last-iterate --smoothness-step 1/50 --batches 5 --epochs 2",
    "correlated": "--toeplitz 1,1/2 --steps 6 --participation fixed-order --separation 3",
}
_MORE = (
    "--noise laplace",
    "--noise discrete-gaussian",
    "--noise discrete-gaussian --bound 3",
    "--noise discrete-laplace",
    "--bound 3",
    "--sample-rate 1/7",
    "--steps 9",
    "--epochs 3",
    "--epochs 5/2",
    "--sampling poisson",
    "--sampling truncated-poisson",
    "--sampling random-allocation",
    "--dataset-size 70",
    "--batch-size 6",
    "--max-batch-size 9",
    "--batches 6",
    "--participations 2",
    "--participations 9",
    "--same-bins",
    "--redraw",
    "--order shuffled",
    "--release last-iterate",
    "--smoothness-step 1/40",
    "--weight-decay-step 1/4",
    "--tree",
    "--bands 2",
    "--groups content",
)
_UNKNOWNS = {None: None, "noise": 7, "steps": 7, "batches": 7, "sample-rate": "1/7"}


def _command_lines():
    for name, words in _SCHEMES.items():
        given = words.split()
        starts = [at for at, word in enumerate(given) if word.startswith("--")]
        lines = {name: given}
        for more in _MORE:
            lines[f"{name} {more}"] = given + more.split()
        for start, end in zip(starts, [*starts[1:], len(given)], strict=True):
            lines[f"{name} without {given[start]}"] = given[:start] + given[end:]
        for unknown, value in _UNKNOWNS.items():
            noise = [] if unknown == "noise" else ["--noise-multiplier", "3"]
            for relation in RELATIONS:
                for key, line in lines.items():
                    yield (
                        f"options: {key}, find {unknown}, {relation}",
                        lambda line=(*noise, *line, "--relation", relation), unknown=unknown, value=value: Answer(
                            adapters.described(adapters.training_of(line, unknown, value))
                        ),
                    )
