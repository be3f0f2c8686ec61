"""Monte Carlo bounds, which hold with a stated confidence, and are labelled as such."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

from dpbounds.cli.printing import output
from dpbounds.cli.questions import options

if TYPE_CHECKING:
    from dpbounds.cli.questions.subjects import Subject


def answer_probably(
    wanted: Literal["epsilon", "delta"], target: Fraction, subject: Subject, given: dict[str, Any]
) -> int:
    """Print a Monte Carlo bound with the given confidence; return the exit status, 0."""
    from dpbounds.cli.printing.wording import described
    from dpbounds.privacy.accountants.probable import DEFAULT_SAMPLES, probable_delta, probable_epsilon

    ask = probable_epsilon if wanted == "epsilon" else probable_delta
    found = ask(
        subject.mechanism,
        target,
        given["relation"],
        confidence=given["probable"],
        samples=given["samples"] or DEFAULT_SAMPLES,
        seed=given["sampling_seed"],
    )
    other = "delta" if wanted == "epsilon" else "epsilon"
    fails = output.plain(1 - found.confidence)
    options.note(f"not certified: with probability {fails} the bound is wrong; publish that much more delta")
    if found.seed is not None:
        options.note("the confidence is conditional on the seed: leave --sampling-seed out for a published value")
    if subject.condition is not None:
        options.note(f"the value holds provided that {subject.condition}")
    options.warn_if_delta_is_large(target if wanted == "epsilon" else found.upper, subject.dataset_size)
    if given["as_json"]:
        output.print_json(
            {
                wanted: {"probable_upper": output.json_number(found.upper, "up")},
                other: output.json_given(target),
                "relation": given["relation"],
                "method": "sampling",
                "certified": False,
                "confidence": output.json_given(found.confidence),
                "samples": found.samples,
                "seed": found.seed,
                **subject.parameters,
            }
        )
        return 0
    shown = given["digits"] or 6
    output.print_rows(
        {
            wanted: f"at most {found.rounded(shown)}, with confidence {output.plain(found.confidence)}",
            other: output.plain(target),
            "relation": given["relation"],
            "mechanism": described(subject.mechanism),
            "method": f"sampling, not certified ({found.samples} samples in each order)",
            **({} if subject.condition is None else {"provided": subject.condition}),
        }
    )
    return 0
