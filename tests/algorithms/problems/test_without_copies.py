"""Gradients that are not written out: convolutions, rows that are looked up, attention; against copies, one by one."""

from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from dpbounds.algorithms.problems import differentiable
from dpbounds.algorithms.problems.differentiable_losses import sums
from tests.algorithms.problems.lazy_jax import jax, jnp, needs_jax
from tests.algorithms.shared import exact_square

pytestmark = [pytest.mark.seconds, needs_jax]

N = 6


def drawn(draw, *shape):
    return jnp.asarray(draw.standard_normal(shape) / 3, jnp.float32)


def convolution(w, z):
    image, label = z
    last = ("NHWC", "HWIO", "NHWC")
    here = jnp.tanh(jax.lax.conv_general_dilated(image[None], w["first"], (2, 2), "SAME", dimension_numbers=last))
    there = jax.lax.conv_general_dilated(here.transpose(0, 3, 1, 2), w["second"], (1, 1), "VALID", rhs_dilation=(1, 2))
    return -jax.nn.log_softmax(there.mean(axis=(0, 2, 3)))[label]


def embedding(w, z):
    """Words, some twice; one more row by its number; a table that is transposed."""
    words, label = z
    found = w["words"][words] + jnp.take(w["other"].T, words - 3, axis=0)
    return (found.sum(axis=0) ** 2 * w["row"][label]).sum()


def attention(w, z):
    rows, label = z
    query, key, value = (jnp.einsum("ta,ahk->htk", rows, w[name]) for name in "qkv")
    scores = jax.nn.softmax(query @ key.transpose(0, 2, 1) / 2, axis=-1)
    return -jax.nn.log_softmax((scores @ value).mean(axis=1).ravel() @ w["out"])[label]


NAMES = ("convolution", "embedding", "attention")


@cache
def cases():
    """By name: a loss, its parameters, its records, and how many rows of each leaf have no copies."""
    draw = np.random.default_rng(0)
    labels = draw.integers(0, 3, N)
    return {
        "convolution": (
            convolution,
            {"first": drawn(draw, 3, 3, 8, 20), "second": drawn(draw, 10, 20, 2, 2)},
            (draw.standard_normal((N, 5, 6, 8)).astype(np.float32), labels),
            {"first": 9, "second": 2},
        ),
        "embedding": (
            embedding,
            {"words": drawn(draw, 20, 5), "other": drawn(draw, 5, 20), "row": drawn(draw, 3, 5)},
            # the second record's words are not all in the table
            (
                np.concatenate(
                    [draw.integers(0, 3, (1, 6)), [[1, 19, 25, 1, -30, 2]], draw.integers(-2, 20, (N - 2, 6))]
                ),
                labels,
            ),
            {"words": 6, "other": 6, "row": 1},
        ),
        "attention": (
            attention,
            {**{name: drawn(draw, 16, 2, 12) for name in "qkv"}, "out": drawn(draw, 24, 3)},
            (draw.standard_normal((N, 4, 16)).astype(np.float32), labels),
            {"q": 4, "k": 4, "v": 4, "out": 1},
        ),
    }


@cache
def made(name, copies):
    loss, start, records, _ = cases()[name]
    return differentiable(loss, start, records, clip="1/20", copies=copies)


def total(problem, rows):
    return problem.summed_gradients(problem.initial_point, np.asarray(rows))


def forms_of(problem):
    """T of each leaf that has no copies."""
    shapes = [jax.ShapeDtypeStruct((1, *leaf.shape[1:]), leaf.dtype) for leaf in problem.leaves]
    answers = jax.eval_shape(
        problem.compiled.gradients, jax.ShapeDtypeStruct((problem.dimension,), jnp.float32), shapes
    )
    names = sorted(problem.parameters(problem.initial_point))
    return {name: each[1].shape[1] for name, each in zip(names, answers, strict=True) if isinstance(each, tuple)}


@pytest.mark.parametrize("name", NAMES)
def test_sums_are_those_of_copies_and_one_record_moves_them_by_at_most_the_bound_exactly(name):
    copied, kept = made(name, True), made(name, False)
    assert forms_of(kept) == cases()[name][3]
    assert not forms_of(copied)
    for rows in (np.arange(N), [1, 1, 5]):
        assert total(kept, rows) == pytest.approx(total(copied, rows), abs=2e-6)
    every, clip = total(kept, np.arange(N)), kept.clip**2
    alone = [exact_square(total(kept, [row])) for row in range(N)]
    assert clip * Fraction(999, 1000) < max(alone) <= clip
    moved = [exact_square(every - total(kept, np.delete(np.arange(N), gone))) for gone in range(N)]
    assert max(moved) <= clip * (1 + Fraction(1, 2**50))


def forgets_that_words_occur_twice(self):
    there, D = self._doubles()
    found = (D**2).sum(axis=(1, 2))
    return found, there.sum(axis=1) * found


def test_a_norm_that_forgets_that_words_occur_twice_breaks_the_bound(monkeypatch):
    loss, start, (_, labels), _ = cases()["embedding"]
    words = np.tile(np.arange(N)[:, None], (1, 6))  # one word, six times
    monkeypatch.setattr(sums.Picked, "sizes", forgets_that_words_occur_twice)
    wrong = differentiable(loss, start, (words, labels), clip="1/1000", copies=False)
    assert exact_square(total(wrong, [4])) > Fraction(11, 10**7)


def test_a_grouped_convolution_and_parts_of_rows_keep_their_copies():
    def grouped(w, z):
        image = z[0][None]
        found = jax.lax.conv_general_dilated(image, w["first"], (1, 1), "SAME", feature_group_count=2)
        return (found**2).sum() + (w["words"][z[1], 1:4] ** 2).sum()

    draw = np.random.default_rng(1)
    start = {"first": drawn(draw, 40, 2, 3, 3), "words": drawn(draw, 20, 5)}
    records = (draw.standard_normal((N, 4, 2, 2)).astype(np.float32), draw.integers(0, 3, N))
    problem = differentiable(grouped, start, records, clip=1, copies=False)
    assert not forms_of(problem)
