"""One-run audits of training: canaries among the records of any model, guessed from the released outputs.

A canary's loss is linear, steep, and along a coordinate of its own (Nasr et al. 2023, "Dirac canaries"), so that its
clipped gradient is all that a record may be, and stands out among those of the other records.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from dpbounds.algorithms.problems.differentiable_losses.problem import Differentiable, differentiable
from dpbounds.algorithms.verification.attacks.audits import Audit
from dpbounds.algorithms.verification.attacks.canaries import by_guesses
from dpbounds.algorithms.verification.attacks.transcripts import Answer, Choice, listening
from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import ExactLike, exact

Score = Literal["sum", "spread"]
_STEEP = 16  # a canary's slope in units of G: clipped, it is G


def audit_network(
    training: Callable[[Differentiable], Any],
    loss: Callable[[Any, Any], Any],
    parameters: Any,
    records: Any,
    *,
    clip: ExactLike,
    canaries: int,
    guesses: int,
    delta: float,
    score: Score = "sum",
    confidence: float = 0.95,
    seed: int = 0,
) -> Audit:
    """Train once with canaries, each in or out by its coin, and bound ε of adding or removing a record from below.

    A canary that is out has a gradient of 0: n stays what it is, and public.

    Args:
        training: From the problem with canaries to a method that is run; planned from public constants alone.
        loss: As for ``differentiable``, with the next two.
        parameters: A pytree.
        records: A pytree of arrays with n rows each; the canaries come behind them.
        clip: G.
        canaries: m, at most the number of parameters.
        guesses: On how many coins to commit, fixed in advance.
        delta: δ in [0, 1).
        score: "sum" of the noisy gradients along a canary's coordinate, or their "spread" over the steps, which sees
            noise that is used again where batches are drawn. Choose before looking at both.
        confidence: In (0, 1).
        seed: The seed of coins, coordinates and the run.

    Raises:
        InvalidValue: There are fewer parameters than canaries, or a number is not allowed.
    """
    import jax
    from jax.flatten_util import ravel_pytree

    flat, _ = ravel_pytree(parameters)
    if not 1 <= canaries <= len(flat):
        raise InvalidValue("canaries", canaries, f"from 1 to {len(flat)}, the number of parameters")
    chance, run_seed = (np.random.default_rng(stream) for stream in np.random.SeedSequence(seed).spawn(2))
    coins = chance.random(canaries) < 0.5
    places = chance.permutation(len(flat))[:canaries]
    steep = float(exact(clip, "clip")) * _STEEP
    leaves, form = jax.tree.flatten(records)
    count = len(leaves[0])
    longer = [np.concatenate([leaf, np.repeat(np.asarray(leaf)[:1], canaries, axis=0)]) for leaf in leaves]
    place = np.concatenate([np.full(count, -1), places]).astype(np.int32)
    slope = np.concatenate([np.zeros(count), np.where(coins, steep, 0.0)]).astype(np.float32)

    def with_canaries(tree: Any, record: Any) -> Any:
        own, where, along = record
        x = ravel_pytree(tree)[0]
        return jax.lax.cond(
            where < 0, lambda: loss(tree, own).astype(x.dtype), lambda: (along * x[where]).astype(x.dtype)
        )

    everyone = (jax.tree.unflatten(form, longer), place, slope)
    problem = differentiable(with_canaries, parameters, everyone, clip=clip)
    heard: list[np.ndarray[Any, Any]] = []

    def hear(answer: Answer | Choice) -> None:
        if isinstance(answer, Answer):
            heard.append(answer.noisy[0, places].copy())

    with listening(hear):
        training(problem).run(problem, seed=int(run_seed.integers(2**62)), repetitions=1)
    answers = np.stack(heard)
    scores = answers.sum(axis=0) if score == "sum" else answers.std(axis=0)
    return by_guesses(scores, coins, guesses, delta, confidence)
