"""The pictures of ``tables/figures``: maps of regimes, ball noise, privacy curves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from dpbounds.render.regime_map import regime_map
from dpbounds.render.style import COLOURS, DASHES, canvas, keyed, save, titled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from dpbounds.privacy.accountants.side_by_side import Method

ENDINGS = ("png", "svg")
_WITH_DISPUTED = ("proved", "proved here", "repaired", "claimed", "disputed")


def figures() -> Mapping[str, Callable[[], Figure]]:
    """Every picture by its file's name (without ending)."""
    return {
        "regimes-gradient-norm": lambda: _regimes("gradient-norm"),
        "regimes-population-gradient-norm": lambda: _regimes("population-gradient-norm"),
        "regimes-sosp-with-disputed": lambda: _regimes("sosp", _WITH_DISPUTED),
        "regimes-population-sosp-with-disputed": lambda: _regimes("population-sosp", _WITH_DISPUTED),
        "ball-noise": ball_noise,
        "privacy-curves": privacy_curves,
    }


def write(folder: Path) -> list[Path]:
    """Draw all of them as PNG and SVG."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, draw in figures().items():
        figure = draw()
        for ending in ENDINGS:
            path = folder / f"{name}.{ending}"
            save(figure, path)
            written.append(path)
    return written


def _regimes(metric: str, statuses: tuple[str, ...] | None = None) -> Figure:
    from dpbounds.rates.promises import ACCEPTED, compared, promises
    from dpbounds.rates.spaces import standard

    found = compared(promises(metric, statuses=statuses or ACCEPTED), standard())
    title = (
        metric.replace("-", " ").replace("sosp", "second-order stationarity")
        + ": best known orders of growth"
        + (", disputed proofs included" if statuses else "")
    )
    return regime_map(found, standard(), title=title)


def ball_noise() -> Figure:
    """Tholeti & Kalyani 2020, Figure 2: δ of one release against the distance of the gradients, for several d."""
    from dpbounds.theorems.registry import theorem

    equation = theorem("tholeti-kalyani-2020/equation-6")
    figure, (axes,) = canvas(7, 4.6)
    distances = [Fraction(step, 40) for step in range(81)]
    for dimension, line, colour in zip((1, 2, 3, 10, 50, 200), DASHES, COLOURS, strict=False):
        values = [equation.evaluate(distance=at, radius=1, dimension=dimension).value.upper for at in distances]
        axes.plot([float(at) for at in distances], values, linestyle=line, color=colour, label=f"d = {dimension}")
    axes.set(xlabel="distance of the gradients, in radii", ylabel="δ of one release, at every ε")
    axes.set(xlim=(0, 2), ylim=(0, 1.02))
    titled(axes, "Noise uniform on a ball")
    keyed(axes)
    return figure


def privacy_curves() -> Figure:
    """δ against ε of training runs: proven, next to the bounds by Rényi divergences and the zCDP conversion."""
    import dpbounds as dp

    training = dp.PoissonSampled(dp.Gaussian("1"), "0.01") ** 1000
    full = dp.Gaussian("20") ** 100
    budgets = [Fraction(step, 5) for step in range(1, 16)]
    figure, (left, right) = canvas(9, 4.4, 2, share_y=True)
    for axes, mechanism, title in (
        (left, training, "Poisson sampling: q = 0.01, z = 1, T = 1000"),
        (right, full, "full batch: z = 20, T = 100"),
    ):
        methods: tuple[Method, ...] = ("certified", "rdp", "zcdp")
        names = ("exact, proven", "by Rényi divergences", "by zCDP")
        for method, name, line, colour in zip(methods, names, DASHES, COLOURS, strict=False):
            proven = [dp.by_method(method, mechanism, epsilon=at).enclosure for at in budgets]
            uppers = [1.0 if one is None else one.upper for one in proven]
            axes.plot([float(at) for at in budgets], uppers, linestyle=line, color=colour, label=name)
        axes.set(yscale="log", xlabel="ε", ylim=(1e-12, 2))
        titled(axes, title)
        keyed(axes)
    left.set_ylabel("δ, add-or-remove-one")
    return figure
