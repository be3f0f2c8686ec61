"""What the fuzzers try: values that are wrong, huge, tiny or strange, and values that are right."""

from __future__ import annotations

import decimal
import fractions
import json
import math
import os
import random
from pathlib import Path
from typing import Any

import numpy as np

_words = str.split  # of a text

NUMBERS = (
    *("", " ", *_words("0 -0 -1 1 2 nan inf -inf Infinity 1/0 0/0 1/3 -1/3 1e . 1. 1e400 1e-400 1e-5000 1e100000")),
    *("1e-100000", "1e" + "9" * 5000, "0." + "0" * 5000 + "1", "9" * 5000, "1" * 100_000),
    *_words("10**10**10 10**10 2**-99999999 2**99999999 2**-20 2**-100000 0**-1 0**0 1**99999999 1e5000**2 1e999**1"),
    *("1e-999", "9" * 999, "1/" + "7" * 999, "2**-3000", "2**3000", "1e308", "1e309", "1e-308", "4.9e-324", "1e-320"),
    *_words("1e-16 0.9999999999999999999999999 1e12 1e18 1e30 1e31 99999999999999999999 1000000 0.5 1e-3 3.7 +1 --1"),
    *("1\n", "1 2", "1;2", "0x10", "1_000", "1,5", "１２", "٣", "½", "$(id)", "__import__('os')", "True", "None", "[]"),
    *("1" + " " * 5000, "\udcff", "é", "\x1b[31m1"),
)
TEXTS = (
    *("", " ", "x", "X" * 100_000, "a\nb", "../../etc/passwd", "é", "\u202e", "\udcff", "%s%n", "{0}", "{x.__class__}"),
    *_words("a,b , ,, = None all ALL - -- 1 nan . .. / a/b/c/d __main__ a.b * [ (?P<"),
    *("\\", "'", '"', "\x1b[2J\x1b[31mOK", "\x00", "cited", "poisson", "shuffle", "./x.py", "id\r\nx"),
)
PAIRS = (
    *("", *_words("= n n= =1 n=1 n=nan n=1e400 n=-1 n=0 n=10**10**10 n=1e-5000 n==1 n=0.5"), "n=" + "9" * 5000),
    *("n=1,d=2", "n=1 d=2", *_words("d=0 d=1e100000 epsilon=0 epsilon=1e400 delta=0 delta=1 delta=2 nosuch=1 n=x")),
    *_words("n=1/0 é=1 N=1 __class__=1 n=True lambda=1 rho=0 rho=1e-300 rho=1e400 lipschitz=0 lipschitz=1e-400"),
    *_words("smoothness=0 initial_gap=0 initial_gap=1e5000 n=1e18 d=1e18 d=0.5 \udcff=1 kl_exponent=2"),
    *("kl_exponent=1e300", "T=1e12", "steps=0", "n=\x1b[1m"),
)
PATHS = (
    *(
        "",
        " ",
        *_words("adir adir/ link loop latin.csv nul empty deep.json deep2.json bigint.json nan.json twice.json"),
    ),
    *_words("escapes.json l.json sampled.json c.json d.csv r.csv my.py syntax.py exit.py deep.py nosuch nosuch/x /"),
    *("/dev/null", "/dev/full", "/proc/self/mem", "/proc/1/x", "x" * 300, "x/" * 3000, "a\nb", "é.csv", "\udcff"),
    *_words(". .. - ~ d.csv/x scores.csv fifo a\x00b out.csv out.parquet out.png out.svg out.xyz out.json :memory:"),
    *("file:x?mode=memory", "o", "p/q"),
)
WRITTEN = ("out.csv", "out.parquet", "out.png", "out.svg", "out.json", "o", "p/q", "d.csv", "c.json", "adir")

PLAUSIBLE = {
    "delta": ("1e-6", "1e-5", "0.01", "1e-300", "1/100000", "2**-20"),
    "confidence": ("0.9", "0.95", "0.999"),
    "rate": ("0.01", "1/2", "1", "1e-3", "1e-12"),
    "steps": ("1", "3", "10", "100", "1e4", "1e6"),
    "epochs": ("1", "2.5", "10"),
    "size": ("1", "2", "5", "100", "1000"),
    "dimension": ("1", "2", "10", "1000"),
    "runs": ("1", "20", "50"),
    "repetitions": ("1", "2", "3"),
    "jobs": ("1", "2"),
    "seed": ("0", "7"),
    "top": ("1", "3", "50"),
    "digits": ("1", "15", "30", "200"),
    "power": ("0", "1/2", "1", "3"),
    "tolerance": ("1e-3", "1e-9", "0.5"),
    "centre": ("0", "1/4", "1"),
    "epsilon": ("0.1", "1", "1/3", "8", "0.01"),
    "time-limit": ("5", "30"),
}
ORDINARY = ("0.5", "1", "2", "10", "1/3", "100", "3.25")


def plausible(name: str, draw: random.Random) -> str:
    """A number that the option of that name may well take."""
    found = [pool for part, pool in PLAUSIBLE.items() if part in name]
    return draw.choice(found[0] if found else ORDINARY)


def world(root: Path, certificate: str) -> None:
    """Files, directories, a pipe and links that options may name."""
    draw = random.Random(1)
    rows = "".join(f"{draw.random():.3f},{draw.random():.3f},{i % 2}\n" for i in range(60))
    ledger = '{"format": "dpbounds/ledger", "version": 2, "releases": [%s]}'
    entry = '{"mechanism": "gaussian", "noise_multiplier": %s, "sampling": "full-batch", "count": 3}'
    sampled = (
        '{"mechanism": "gaussian", "noise_multiplier": "1", "sampling": "poisson", "sample_rate": "0.01", "count": 9}'
    )
    texts = {
        "d.csv": "a,b,y\n" + rows,
        "r.csv": "feature,lower,upper\na,0,1\nb,0,1\n",
        "scores.csv": "score,in\n" + "".join(f"{draw.random() + i % 2:.3f},{i % 2}\n" for i in range(60)),
        "l.json": ledger % (entry % '"5"'),
        "sampled.json": ledger % sampled,
        "c.json": certificate,
        "empty": "",
        "deep.json": "[" * 200_000,
        "deep2.json": '{"a":' * 100_000 + "1" + "}" * 100_000,
        "bigint.json": ledger % (entry % ("9" * 6000)),
        "nan.json": ledger % (entry % "NaN"),
        "twice.json": ledger % (entry % '"5", "noise_multiplier": "500"'),
        "escapes.json": ledger % (entry % '"5"').replace("gaussian", "\\u001b[2J\\u001b[31mOK"),
        "my.py": "raise RuntimeError('boom\\x1b[31m')\n",
        "syntax.py": "def (\n",
        "exit.py": "raise SystemExit(7)\n",
        "deep.py": "def f():\n    return f()\nf()\n",
    }
    for name, text in texts.items():
        (root / name).write_text(text, encoding="utf-8")
    (root / "latin.csv").write_bytes(b"a,b,y\n\xff\xfe,1,0\n")
    (root / "nul").write_bytes(b"\0" * 1000)
    (root / "adir").mkdir()
    (root / "CONTRIBUTING.md").write_text("as in a checkout")
    (root / "dpbounds" / "papers").mkdir(parents=True)
    for folder in (
        "dpbounds/privacy",
        "algorithms/descents",
        "algorithms/spider",
        "tests/papers",
        "tests/privacy",
        "tests/algorithms",
    ):
        (root / folder).mkdir(parents=True)
    os.mkfifo(root / "fifo")
    (root / "link").symlink_to(root / "nowhere")
    (root / "loop").symlink_to("loop")


def a_certificate() -> str:
    """A certificate that holds."""
    import dpbounds as dp
    from dpbounds.privacy.publishing.certificates import certificate

    return json.dumps(certificate(dp.account(dp.Gaussian(5), delta="1e-5")))


# --- Python -----------------------------------------------------------------------------------------------------------


class _NoText:
    def __float__(self) -> float:
        raise RuntimeError("no float")

    def __repr__(self) -> str:
        raise RuntimeError("no repr")


class _Index:
    def __index__(self) -> int:
        return 3


class _Float(float):
    def __str__(self) -> str:
        raise RuntimeError("no text")


class _Text(str):
    __slots__ = ()


def values() -> list[Any]:
    """Values of all kinds, right ones among them; new objects at each call, as some are used up."""
    import sympy

    import dpbounds as dp

    return [
        *(None, True, False, 0, 1, -1, 2, 3, 10, 10**6, 10**18, 10**31, 10**400, -(10**400), 2**100_000, 10**5000),
        *(0.0, -0.0, 0.5, 1.0, 1e-6, 1e-320, 5e-324, 1e308, math.nan, math.inf, -math.inf),
        *(
            np.float32(0.5),
            np.float64(0.5),
            np.longdouble("0.1"),
            np.int64(3),
            np.uint8(3),
            np.int8(-3),
            np.bool_(True),
        ),
        *(np.array(0.5), np.array(3), np.array([0.5]), np.array([1, 2]), np.array([]), np.ones((30, 30))),
        *(np.float64("inf"), np.float64("nan"), np.datetime64("2020-01-01")),
        *(decimal.Decimal(text) for text in ("0.5", "1e-6", "NaN", "sNaN", "Infinity", "1e999999", "1e-999999", "-0")),
        *(fractions.Fraction(1, number) for number in (1, 2, 3, 10**400, 10**999, 10**5000)),
        *(fractions.Fraction(10**400), fractions.Fraction(10**999)),
        *(complex(1, 0), 1j, "", "x", "0.5", "1e-6", "1/3", "1/0", "nan", "1e400", "9" * 5000, "\ud800", "2**-20"),
        *(b"0.5", bytearray(b"1"), [], [1], (), (1, 2), {}, {"a": 1}, {1: 2}, set(), frozenset([1]), object()),
        *(_NoText(), _Index(), _Float(0.5), _Text("0.5"), type, int, print, range(3), iter([1]), (i for i in [1])),
        *(Ellipsis, NotImplemented, ValueError("x"), sympy.Symbol("x"), sympy.pi, sympy.Rational(1, 3), sympy.oo),
        *(lambda x: x, lambda x: dp.Gaussian(x), lambda: None, [(1, 2, 3)], [("a", "b")], [(dp.Gaussian(1), 0)]),
        *("add-or-remove-one", "replace-one", dp.Relation.REPLACE_ONE, "zcdp", "certified", "noise", "steps", "index"),
        *("gradient-norm", dp.Gaussian(1), dp.Gaussian, "wang-xu-2019/theorem-2", "nosuch/theorem", "X" * 100_000),
    ]


def right_values() -> dict[str, list[Any]]:
    """For the name of a parameter, values that it takes."""
    import dpbounds as dp

    gaussian = dp.Gaussian(2)
    fraction = fractions.Fraction
    sampled = dp.PoissonSampled(gaussian, "0.1")
    return {
        "mechanism": [
            *(gaussian, gaussian**3, dp.Laplace(2), sampled, sampled**100, dp.UniformBall(3, 2)),
            *(dp.ZCDP("0.1", relation="add-or-remove-one"), dp.PureDP("0.1", relation="add-or-remove-one")),
            *(
                dp.RandomizedResponse("0.5"),
                dp.DiscreteLaplace(2),
                dp.DiscreteGaussian(2),
                dp.DiscreteGaussian(noise_variance="7/3"),
                dp.MixtureOfGaussians(2, {0: "0.5", 1: "0.25", 2: "0.25"}),
                dp.SampledWithoutReplacement(gaussian, 2, 10),
                dp.TruncatedPoisson(gaussian, "0.1", 2, 10),
                dp.InParallel((gaussian,) * 2),
                dp.RandomlyAllocated(gaussian, 3),
            ),
        ],
        "participations": [1],
        "bins": [3],
        "redraw": [True, False],
        "relation": ["add-or-remove-one", "replace-one", "zero-out-one"],
        "delta": ["1e-5", 0.01],
        "target_delta": ["1e-5"],
        "sample_rate": ["0.1"],
        "steps": [3],
        "dimension": [3],
        "dataset_size": [100],
        "batch_size": [5],
        "max_batch_size": [5],
        "radius": ["2"],
        "tolerance": [1e-6],
        "epsilon_tolerance": ["0.01"],
        "group_size": [2],
        "rho": ["0.1"],
        "factory": [dp.Gaussian, lambda z: dp.Gaussian(z) ** 2],
        "norms": [{0: "0.9", 1: "0.1"}, [(1, 1)]],
        "bound": [1, 3],
        "points": [[(2, "0.5"), (4, "0.1")], {2: 1}],
        "calibrate_to_curve.points": [[(1, "1e-5"), ("1/2", "0.01")]],
        "parts": [((gaussian, 2),), [(gaussian, 1), (dp.Laplace(3), 2)]],
        "blocks": [(gaussian, gaussian)],
        "exact_lower": [fraction(0)],
        "exact_upper": [fraction(1)],
        "name": ["wang-xu-2019/theorem-2"],
        "metric": ["gradient-norm", "excess-empirical-risk"],
        "theorem": [dp.theorem("wang-xu-2019/theorem-1"), dp.theorem("wang-xu-2019/theorem-2")],
        "values": [{"epsilon": 1, "delta": "1e-5"}],
        "method": ["zcdp", "rdp", "basic"],
        "solve": ["noise"],
        "options": [2],
        "gamma": ["0.1"],
        "eta": [1],
        "target": ["0.1"],
        "calibrate_to_true_positive_rate.target": ["0.5"],
        "calibrate_to_true_positive_rate.false_positive_rate": ["0.01"],
        "mu": ["1"],
        "total_variation": ["0.1"],
        "convert.to": ["zcdp", "gdp", "pure"],
        "budget": [fraction(1)],
        "spent": [fraction(0)],
        "monotone": [False],
        "value": ["replace-one"],
        "allowed": ["a number"],
        "enclosure": [dp.epsilon(gaussian, "1e-5")],
        "runs": [3],
        "event": [_event()],
        **{
            f"tuned_{of}.runs": [dp.RandomRuns("0.1"), dp.PoissonRuns(3)]
            for of in ("epsilon", "pure", "enclosure", "guarantee")
        },
        "least_max_batch_size.mechanism": [dp.TruncatedPoisson(gaussian, "0.1", 20, 100)],
        "LastIterate.mechanism": [gaussian],
        "smoothness_step": ["0.01"],
        **{
            f"{of}.relation": [dp.Relation.REPLACE_ONE]
            for of in ("GaussianFilter", "ZCDPFilter", "RenyiFilter", "Odometer")
        },
        "confidence": ["0.99"],
        "scores": [[0.5, 2, -1, 3, 0, 7], np.arange(6)],
        "included": [[0, 1, 0, 1, 0, 1], np.arange(6) > 2],
        "design": ["many-runs", "one-run"],
        "threshold": [0.5],
        "guesses": [None],
        **{f"probable_{of}.mechanism": [dp.RandomlyAllocated(gaussian, 4, 2)] for of in ("epsilon", "delta")},
        "accountant": ["rdp"],
        **{f"{of}.orders": [(fraction(2), fraction(4))] for of in ("Odometer", "RenyiFilter")},
        "shares": [(fraction(1, 2), fraction(1, 4))],
        "losses": [(fraction(1), fraction(1, 8))],
        "budgets": [(fraction(1), fraction(2))],
        "RenyiFilter.spent": [(fraction(0), fraction(1, 8))],
        "epsilons": [(0, "0.5", 2)],
        "sampling": ["poisson"],
        "participation": ["single"],
        "MatrixMechanism.matrix": [dp.BinaryTree(4), ((1,), (2, 1))],
        "prefix_error.matrix": [dp.Toeplitz([1, "1/2"], 9)],
        "coefficients": [(1, "1/2"), "square-root"],
        "optimal_toeplitz.steps": [16],
        "optimal_toeplitz.bands": [2],
        "optimal_toeplitz.separation": [None, 8],
        "optimal_toeplitz.error": ["mean"],
        "spending.theorem": [dp.theorem("tholeti-kalyani-2020/equation-6")],
        "spending.values": [{"distance": 1, "radius": 1, "dimension": 3, "delta": "0.7"}],
        "to_dp_event.mechanism": [gaussian, sampled**100],
    }


def _event() -> Any:
    import dpbounds as dp
    from dpbounds.privacy.publishing.interoperability import to_dp_event

    return to_dp_event(dp.Gaussian(1) ** 3)
