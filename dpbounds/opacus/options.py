"""The options of ``make_private``: which values are accounted for, and why others are refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import torch
from opacus.data_loader import DPDataLoader
from torch.utils.data import BatchSampler, IterableDataset, RandomSampler, SequentialSampler

from dpbounds.errors import InvalidValue, UnsupportedMechanism
from dpbounds.expressions.exact import exact, positive_integer
from dpbounds.opacus.forward import demand_independent_layers
from dpbounds.privacy.values import open_unit, positive


def demand_decided(options: Mapping[str, Any]) -> None:
    """Raise ``InvalidValue`` or ``UnsupportedMechanism`` where an option is missing, unknown or not accounted for."""
    missing = {"module", "optimizer", "data_loader", "noise_multiplier", "max_grad_norm"} - set(options)
    if missing:
        raise InvalidValue("options of make_private", sorted(options), f"given with {', '.join(sorted(missing))}")
    for name, value in options.items():
        if name in ELSEWHERE:
            raise UnsupportedMechanism(f"the option {name} is not supported: {ELSEWHERE[name]}")
        if name not in OPTIONS | ADDITIONAL:
            raise UnsupportedMechanism(f"the option {name} of Opacus is not supported; leave it out")
        (OPTIONS | ADDITIONAL)[name](value)
    reduction = getattr(options.get("criterion"), "reduction", None)
    if reduction in {"mean", "sum"} - {options.get("loss_reduction", "mean")}:
        raise InvalidValue(
            "loss_reduction",
            options.get("loss_reduction", "mean"),
            f"{reduction!r}, as the criterion has it",
            "else gradients are scaled by the size of the sample before they are clipped",
        )
    clipping = options.get("clipping", "flat")
    if isinstance(options["max_grad_norm"], list | tuple) is not (clipping == "per_layer"):
        raise InvalidValue(
            "max_grad_norm",
            options["max_grad_norm"],
            "a number with clipping='flat', 'automatic' or 'adaptive', a list with 'per_layer'",
        )
    _demand_options_of_clipping(clipping, options)
    if options.get("grad_sample_mode") == "ghost":
        plain = {"clipping": "flat", "augmentations": 1}
        for name in (each for each, usual in plain.items() if options.get(each, usual) != usual):
            raise InvalidValue(
                "grad_sample_mode",
                "ghost",
                f"'hooks' or 'functorch' with {name}={options[name]!r}",
                "ghost clipping holds no gradients of single records",
            )


def _demand_options_of_clipping(clipping: str, options: Mapping[str, Any]) -> None:
    """Raise ``InvalidValue`` unless the options of each clipping rule are given with it, and only with it."""
    for rule, names in OF_CLIPPING.items():
        given = [name for name in names if name in options]
        if given and clipping != rule:
            raise InvalidValue("clipping", clipping, f"{rule!r} with the option {given[0]}")
    if clipping != "adaptive":
        return
    if missing := set(OF_CLIPPING["adaptive"]) - set(options):
        raise InvalidValue("clipping", clipping, f"given with {', '.join(sorted(missing))}")
    least, largest = options["min_clipbound"], options["max_clipbound"]
    if not exact(least, "min_clipbound") < exact(largest, "max_clipbound"):
        raise InvalidValue("max_clipbound", largest, f"greater than min_clipbound, {least}")


def _anything(_: Any) -> None:
    """Every value is accounted for as it is."""


def _one_of(name: str, allowed: Mapping[Any, str]) -> Callable[[Any], None]:
    """Return the values that are allowed (with an empty reason), and why others are not."""
    good = [value for value, reason in allowed.items() if not reason]

    def check(value: Any) -> None:
        reason = allowed.get(value, "it is not supported")
        if reason:
            raise InvalidValue(name, value, " or ".join(map(repr, good)), reason)

    return check


def _module(module: Any) -> None:
    inside = getattr(module, "_module", module)
    for each in inside.modules():
        if isinstance(each, _distributed()) and not (each is inside and trains_on_workers(module)):
            raise UnsupportedMechanism(
                f"{type(each).__name__} is not supported: to train on several workers give the whole model as "
                "opacus.distributed.DifferentiallyPrivateDistributedDataParallel(model)"
            )
    demand_independent_layers(module)
    for parameter in module.parameters():
        if parameter.dtype not in (torch.float32, torch.float64):
            raise UnsupportedMechanism(
                f"parameters of type {parameter.dtype}: noise would be rounded to as few bits; keep parameters in "
                "torch.float32 (autocast is fine)"
            )


def trains_on_workers(module: Any) -> bool:
    """Return whether a model, as given to ``make_private``, is made to train on several workers."""
    from opacus.distributed import DifferentiallyPrivateDistributedDataParallel

    return isinstance(getattr(module, "_module", module), DifferentiallyPrivateDistributedDataParallel)


def _distributed() -> tuple[type, ...]:
    from opacus.distributed import DifferentiallyPrivateDistributedDataParallel
    from torch.distributed.fsdp import FSDPModule
    from torch.nn.parallel import DistributedDataParallel

    return DifferentiallyPrivateDistributedDataParallel, DistributedDataParallel, FSDPModule


def _noise_multiplier(value: Any) -> None:
    if exact(value, "noise_multiplier") < 0:
        raise InvalidValue("noise_multiplier", value, "at least 0")


def _max_grad_norm(value: Any) -> None:
    for norm in value if isinstance(value, list | tuple) else (value,):
        positive(norm, "max_grad_norm")


_NOT_POISSON = (
    "batches that are not Poisson samples have no such account: PrivacyEngine(sampling='shuffled', "
    "relation='replace-one') draws and accounts for shuffled ones; in one order for all epochs they spend what "
    "dpbounds.shuffled_epochs(noise_multiplier, epochs) does"
)

# Every option of make_private, and what is refused; the tests fail for an option that is not here.
OPTIONS: dict[str, Callable[[Any], object]] = {
    "module": _module,
    "optimizer": _anything,
    "criterion": _anything,
    "data_loader": lambda loader: demand_plain_loader(loader),
    "noise_multiplier": _noise_multiplier,
    "max_grad_norm": _max_grad_norm,
    "batch_first": _anything,
    "loss_reduction": _anything,
    "poisson_sampling": _one_of("poisson_sampling", {True: "", False: _NOT_POISSON}),
    "clipping": _one_of(
        "clipping",
        {
            "flat": "",
            "per_layer": "",
            "automatic": "",
            "adaptive": "",
        },
    ),
    "noise_generator": _anything,
    "grad_sample_mode": _one_of(
        "grad_sample_mode",
        {
            "hooks": "",
            "functorch": "",
            "ghost": "",
            "ew": "it stops at an empty sample, which reveals that it was empty",
            "no_op": "the model's own gradients cannot be seen to be those of single records",
            "ghost_fsdp": "it trains on several workers",
            "ghost_tp": "it trains on several workers",
        },
    ),
    "wrap_model": _anything,
    "rand_on_empty": _one_of(
        "rand_on_empty", {False: "", True: "a made-up record in place of none moves the sum by twice the clipping norm"}
    ),
}

# Options that Opacus' make_private does not name: those of adaptive clipping, which it passes on, and the engine's own
ADDITIONAL: dict[str, Callable[[Any], object]] = {
    "target_unclipped_quantile": partial(open_unit, name="target_unclipped_quantile"),
    "clipbound_learning_rate": partial(positive, name="clipbound_learning_rate"),
    "max_clipbound": partial(positive, name="max_clipbound"),
    "min_clipbound": partial(positive, name="min_clipbound"),
    "unclipped_num_std": partial(positive, name="unclipped_num_std"),
    "stability": partial(positive, name="stability"),
    "augmentations": partial(positive_integer, name="augmentations"),
}

# The options that belong to one clipping rule
OF_CLIPPING: dict[str, tuple[str, ...]] = {
    "adaptive": (
        "target_unclipped_quantile",
        "clipbound_learning_rate",
        "max_clipbound",
        "min_clipbound",
        "unclipped_num_std",
    ),
    "automatic": ("stability",),
}

_MICROBATCHES = (
    "one record moves the clipped mean of a microbatch by up to twice the clipping norm, and if microbatches are cut "
    "from a Poisson sample, it moves records between them; clip single records, and split batches by BatchMemoryManager"
)
_ACCUMULATION = (
    "a record that is in two of the batches of a step counts twice; choose batch_size for the batch of a step, and "
    "split it into parts that fit into memory by opacus.utils.batch_memory_manager.BatchMemoryManager"
)

# Options of other libraries, and why the engine does not have them
ELSEWHERE = {
    "num_microbatches": _MICROBATCHES,
    "microbatch_size": _MICROBATCHES,
    "accumulation_steps": _ACCUMULATION,
    "gradient_accumulation_steps": _ACCUMULATION,
}


def demand_plain_loader(loader: Any) -> None:
    """Raise ``UnsupportedMechanism`` unless Poisson sampling can replace all options of a loader."""
    instead = "give DataLoader(dataset, batch_size=b), of which a Poisson loader is made"
    if isinstance(loader, DPDataLoader):
        raise UnsupportedMechanism(f"the loader is private already, at a rate of its own; {instead}")
    if isinstance(loader.dataset, IterableDataset):
        raise UnsupportedMechanism(f"records of a stream cannot be drawn independently; {instead} of an indexed one")
    batches = loader.batch_sampler
    if type(batches) is not BatchSampler:
        what = "no batches" if batches is None else f"batches of its own ({type(batches).__name__})"
        raise UnsupportedMechanism(f"the loader has {what}, which would be thrown away; {instead}")
    sampler = batches.sampler
    whole = type(sampler) is RandomSampler and not sampler.replacement and sampler._num_samples is None
    if not (whole or type(sampler) is SequentialSampler):
        raise UnsupportedMechanism(
            f"the loader draws by {type(sampler).__name__}, which would be thrown away, weights and numbers with it: "
            f"every record is drawn at one rate; {instead}"
        )
