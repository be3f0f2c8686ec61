"""A search for counter-examples to the constants that a problem declares of itself.

That none is found proves nothing. The search goes through single records' gradients along lines: through points of the
domain, in the directions of gradients (along which a linear model varies) and in random ones, on grids that are refined
around the largest values. Along a line with step h and unit direction u, whatever the function,

    ‖∇f(x)‖ <= G,  ‖∇f(x + hu) - ∇f(x)‖ <= L h,  ‖∇f(x + hu) - 2∇f(x) + ∇f(x - hu)‖ <= M h²

for every record, and |F(x + hu) - F(x)| <= G h, |F(x + hu) - F(x) - h<∇F(x), u>| <= L h²/2, ‖∇²F(x)‖ <= L and
‖∇F(x + hu) - ∇F(x) - h ∇²F(x) u‖ <= M h²/2 for their mean.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import sympy

from dpbounds.algorithms.problems.domain import radius_of_domain, weight_of_l1
from dpbounds.algorithms.problems.finite_sum import Array, FiniteSum, Indices, record_gradients
from dpbounds.errors import InvalidValue
from dpbounds.expressions.evaluation import evaluate
from dpbounds.expressions.exact import ExactLike, exact, positive_integer

_RELATIVE = 1e-9  # relative excess over a constant that counts
_UNIT = 2.0**-53
_ROUNDED = 64.0  # units in the last place that a gradient is allowed to be off
_GRID, _REFINED, _ROUNDS = 301, 21, 6
_MOST_RECORDS = 64
_CHUNK = 4096  # records whose gradients are held at once


@dataclass(frozen=True, slots=True)
class Searched:
    """The result of a search about one constant.

    Attributes:
        declared: The constant, rounded up.
        largest: The largest value that was found of what it bounds, less what rounding may have added (not private).
        record: Whose it is, or None where it is about the mean.
        point: The point, shape (p,).
    """

    declared: float
    largest: float
    record: int | None
    point: tuple[float, ...]

    @property
    def share(self) -> float:
        """Largest over declared: near 1 where the constant is no larger than it need be."""
        return self.largest / self.declared if self.declared else float(self.largest > 0)


@dataclass(frozen=True, slots=True)
class ProblemReport:
    """Results of a search, by the name of the constant: no counter-example. They depend on the records: not private."""

    found: Mapping[str, Searched]

    def __str__(self) -> str:
        lines = [f"{name}: at most {one.declared:.6g}, found {one.largest:.6g}" for name, one in self.found.items()]
        return "\n".join(("no counter-example was found, which proves nothing (and is not private)", *lines))


class CounterExample(InvalidValue):
    """A constant of a problem is wrong, or its gradient is that of another function; ``witness`` shows it."""

    witness: Searched | None = None


def check_problem(problem: FiniteSum, reach: ExactLike | None = None, lines: int = 20, seed: int = 0) -> ProblemReport:
    """Search for records and points at which a problem's own constants do not hold.

    Args:
        problem: The problem with ``lipschitz``, ``smoothness``, ``hessian_lipschitz``, ``loss_range`` and
            ``initial_gap``; constants that are None are skipped.
        reach: The largest distance from 0; None for the problem's radius, or 10 if it has none.
        lines: The number of lines to search: 20 take some tenths of a second for a linear model in few dimensions.
        seed: The seed of the points, directions and records.

    Returns:
        The largest value found for each constant, with the constant.

    Raises:
        CounterExample: A constant is exceeded by more than rounding (also if F does not agree with its gradient), a
            batch is not the mean of its records, or x₁ lies outside the problem's ball.
        InvalidValue: An argument is not allowed.
    """
    radius = radius_of_domain(problem)
    span = float(exact(10 if radius is None else radius, "reach") if reach is None else exact(reach, "reach"))
    if not span > 0 or (radius is not None and span > radius):
        raise InvalidValue("reach", reach, "greater than 0 and within the problem's ball")
    search = _Search(problem, span, np.random.default_rng(seed))
    search.fits_together()
    for start, direction in search.lines(positive_integer(lines, "lines")):
        search.along(start, direction)
    search.of_the_mean()
    return ProblemReport(dict(search.found))


class _Search:
    def __init__(self, problem: FiniteSum, span: float, generator: np.random.Generator) -> None:
        self.problem, self.span, self.generator = problem, span, generator
        self.found: dict[str, Searched] = {}
        self.limits = {name: _limit(getattr(problem, name)) for name in _CONSTANTS}
        count = min(problem.records, _MOST_RECORDS)
        self.rows: Indices = np.sort(generator.choice(problem.records, size=count, replace=False))

    # --- where --------------------------------------------------------------------------------------------------------

    def points(self, count: int) -> Array:
        """Return points of the ball, up to its sphere, and near x₁, shape (count, p)."""
        drawn = self.generator.standard_normal((count, self.problem.dimension))
        lengths = self.span * np.minimum(1, 1.3 * self.generator.random((count, 1)))
        drawn *= lengths / np.linalg.norm(drawn, axis=1, keepdims=True)
        start = self.problem.initial_point
        near = start + 1e-3 * (drawn[: count // 4] - start)
        drawn[: count // 4] = near
        return drawn

    def lines(self, count: int) -> Iterator[tuple[Array, Array]]:
        """Yield points, and directions of unit length: in turn of a gradient and random; the first through x₁."""
        for number, start in enumerate((self.problem.initial_point, *self.points(count - 1))):
            # at several points, as a gradient may vanish far out; one of them is near x₁
            slopes = np.concatenate([record_gradients(self.problem, x, self.rows) for x in self.points(4)])
            if number % 4:  # from any record
                slopes = slopes[int(self.generator.integers(len(self.rows))) :: len(self.rows)]
            steepest = slopes[int(np.linalg.norm(slopes, axis=1).argmax())]
            direction = self.generator.standard_normal(self.problem.dimension) if number % 2 else steepest
            length = float(np.linalg.norm(direction))
            if math.isfinite(length) and length > 0:
                yield start, direction / length

    def along(self, start: Array, direction: Array) -> None:
        """Search one line: a grid within the ball, then finer ones around the largest value."""
        along = float(start @ direction)
        half = math.sqrt(max(0.0, along * along - float(start @ start) + self.span**2)) * (1 - 1e-12)
        whole = np.linspace(-along - half, -along + half, _GRID)
        first = self._slopes(start, direction, whole)
        for name in _ORDERS:
            if self.limits[name] is None:
                continue
            grid, slopes = whole, first
            for _ in range(_ROUNDS):
                at, h = self._on(name, start, direction, grid, slopes), float(grid[1] - grid[0])
                low, high = max(float(grid[0]), at - 2 * h), min(float(grid[-1]), at + 2 * h)
                if not high - low > 1e-6 * self.span:
                    break
                grid = np.linspace(low, high, _REFINED)
                slopes = self._slopes(start, direction, grid)

    def _slopes(self, start: Array, direction: Array, grid: Array) -> Array:
        """Return gradients of the chosen records along a line, shape (grid, records, p)."""
        return np.stack([record_gradients(self.problem, start + t * direction, self.rows) for t in grid])

    def _on(self, name: str, start: Array, direction: Array, grid: Array, slopes: Array) -> float:
        """Search a grid on a line for one constant; returns where the largest value is."""
        order = _ORDERS[name]
        h = (grid[1] - grid[0]) ** order
        changed = np.diff(slopes, n=order, axis=0)
        sizes = np.linalg.norm(changed, axis=2) / h
        # rounding of gradients, and of the points at which they were taken
        scale, L = np.linalg.norm(slopes, axis=2).max(axis=0), self.limits["smoothness"] or 0.0
        reached = float(np.abs(grid).max()) + float(np.linalg.norm(start))
        sizes -= _ROUNDED * _UNIT * 2**order * (scale + L * reached) / h
        step, which = (int(index) for index in np.unravel_index(int(sizes.argmax()), sizes.shape))
        at = float(grid[step + order // 2])
        self.compare(name, float(sizes[step, which]), start + at * direction, int(self.rows[which]))
        return at

    # --- what ---------------------------------------------------------------------------------------------------------

    def compare(self, name: str, size: float, point: Array, record: int | None = None) -> None:
        """Keep the largest value so far, and raise ``CounterExample`` if it exceeds a constant."""
        limit = self.limits[name]
        if limit is None:
            return
        size = max(0.0, float(size))
        witness = Searched(limit, size, record, tuple(map(float, point)))
        if not size <= limit * (1 + _RELATIVE):
            whose = "the mean" if record is None else f"record {record}"
            raise _counter_example(
                f"problem.{name}", limit, f"at least {size:.6g}", f"{_WHY[name]} of {whose}", witness
            )
        before = self.found.get(name)
        if before is None or size > before.largest:
            self.found[name] = witness

    def fits_together(self) -> None:
        """Check that gradients of records, of batches and of all agree, and that points outside are refused."""
        problem, X = self.problem, self.points(8)
        few = self.rows[:8]
        for x in X:
            each = record_gradients(problem, x, few)
            size = np.linalg.norm(each, axis=1).max() + np.abs(x).max() * _UNIT
            batched = problem.batch_gradient(x[None], few[None])[0]
            alone = np.concatenate([problem.batch_gradient(x[None], few[None, i : i + 1]) for i in range(len(few))])
            for name, off in (("batch_gradient", batched - each.mean(axis=0)), ("record_gradients", alone - each)):
                if not np.abs(off).max() <= 1e-9 * size + 1e-300:
                    what = "the mean of its records' gradients"
                    raise _counter_example(f"problem.{name}", "another", what, f"at {_shown(x)}")
        x, total = X[0], np.zeros(problem.dimension)
        for start in range(0, problem.records, _CHUNK):
            total += record_gradients(problem, x, np.arange(start, min(start + _CHUNK, problem.records))).sum(axis=0)
        gradient = problem.gradient(x[None])[0]
        if not np.abs(gradient - total / problem.records).max() <= 1e-9 * (np.abs(gradient).max() + 1):
            what = "the mean of all records' gradients"
            raise _counter_example("problem.gradient", "another", what, f"at {_shown(x)}")
        radius = radius_of_domain(problem)
        if radius is not None and float(np.linalg.norm(problem.initial_point)) > float(radius):
            raise _counter_example("problem.initial_point", "outside", f"in the ball of radius {radius}")

    def of_the_mean(self) -> None:
        """Compare F and its Hessian with gradients, gap and range, at points and along descents from them."""
        problem, X = self.problem, self.points(64)
        X = np.concatenate([X, self._downhill(X[:8]), problem.initial_point[None]])
        values, slopes = self._values(X), problem.gradient(X)
        rounding = _ROUNDED * _UNIT * float(np.abs(values).max())
        lowest, highest = int(values.argmin()), int(values.argmax())
        risks = problem.objective(X)  # with the term that is public
        self.compare("initial_gap", float(risks[-1] - risks.min()) - rounding, X[int(risks.argmin())])
        self.compare("loss_range", float(values[highest] - values[lowest]) - rounding, X[highest])
        G, L = self.limits["lipschitz"], self.limits["smoothness"]
        directions = self.generator.standard_normal(X.shape)
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        for h in self.span * 10.0 ** -np.arange(1, 5):
            moved = X + h * directions
            inside = np.linalg.norm(moved, axis=1) <= self.span
            if not inside.any():
                continue
            x, y, u = X[inside], moved[inside], directions[inside]
            rise, slope = self._values(y) - values[inside], slopes[inside]
            if G is not None:
                self._of_values("lipschitz", np.abs(rise) / h, rounding / h, x)
            if L is not None:
                bent = np.abs(rise - h * (slope * u).sum(axis=1))
                self._of_values(
                    "smoothness", 2 * bent / h**2, 2 * (rounding + _ROUNDED * _UNIT * h * (G or 1)) / h**2, x
                )
                self._of_hessians(x, y, u, slope, h)

    def _of_hessians(self, x: Array, y: Array, u: Array, slope: Array, h: float) -> None:
        hessians = self.problem.hessian(x)
        sizes = np.linalg.norm(hessians, ord=2, axis=(1, 2))
        self._of_values("smoothness", sizes, _ROUNDED * _UNIT * float(sizes.max()), x)
        if self.limits["hessian_lipschitz"] is not None:
            off = self.problem.gradient(y) - slope - h * np.einsum("rij,rj->ri", hessians, u)
            scale = float(np.linalg.norm(slope, axis=1).max()) + float(sizes.max()) * self.span
            self._of_values(
                "hessian_lipschitz", 2 * np.linalg.norm(off, axis=1) / h**2, 2 * _ROUNDED * _UNIT * scale / h**2, x
            )

    def _of_values(self, name: str, sizes: Array, slack: float, points: Array) -> None:
        worst = int(sizes.argmax())
        self.compare(name, float(sizes[worst]) - slack, points[worst])

    def _values(self, X: Array) -> Array:
        """Return F without a public term λ‖x‖₁, shape (R,)."""
        values: Array = self.problem.objective(X) - float(weight_of_l1(self.problem)) * np.abs(X).sum(axis=1)
        return values

    def _downhill(self, X: Array) -> Array:
        """Return the points after some hundred gradient steps, within the ball."""
        L = self.limits["smoothness"] or math.inf
        for _ in range(100 if math.isfinite(L) else 0):
            X = X - self.problem.gradient(X) / L
            X = X * np.minimum(
                1, self.span * (1 - 1e-12) / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-300)
            )
        return X


_ORDERS = {"lipschitz": 0, "smoothness": 1, "hessian_lipschitz": 2}
_WHY = {
    "lipschitz": "the slope",
    "smoothness": "the curvature",
    "hessian_lipschitz": "the change of curvature",
    "initial_gap": "the descent from the start",
    "loss_range": "the range",
}
_CONSTANTS = tuple(_WHY)


def _limit(constant: sympy.Expr | None) -> float | None:
    return None if constant is None or constant.is_finite is False else evaluate(sympy.sympify(constant), {}).upper


def _counter_example(
    name: str, value: object, allowed: str, advice: str = "", witness: Searched | None = None
) -> CounterExample:
    where = "" if witness is None else f" at {_shown(np.array(witness.point))}"
    error = CounterExample(name, value, allowed, advice + where)
    error.witness = witness
    return error


def _shown(x: Array) -> str:
    entries = ", ".join(f"{entry:.6g}" for entry in x[:6])
    return f"x = [{entries}{', ...' if len(x) > 6 else ''}]"
