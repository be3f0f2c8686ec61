"""The symbol table: every quantity that formulas speak of, with its name, domain, unit and meaning.

There is one SymPy ``Symbol`` per quantity, and formulas import it from here: two symbols of one name but with different
assumptions are different to SymPy, and would silently fail to cancel. A quantity is named by the word used in keyword
arguments (``dataset_size``); the letter is kept for printing (``latex``). Only the letters that mean the same in
every paper (n, d, T) are accepted as second names: L, for one, is a Lipschitz constant here and a smoothness there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from types import MappingProxyType
from typing import TypeAlias

from sympy import Expr, Rational, Symbol

from dpbounds.errors import InvalidValue, nearest

Exponent: TypeAlias = int | Fraction | Expr  # an expression where the unit itself depends on a quantity


def as_expression(value: object, name: str = "formula") -> Expr:
    """Return a number or a formula as a SymPy expression; never text, which SymPy would run as a program.

    Raises:
        InvalidValue: It is neither.

    >>> as_expression(Fraction(1, 2))
    1/2
    """
    if isinstance(value, Expr):
        return value
    if isinstance(value, int | Fraction) and not isinstance(value, bool):
        return Rational(value.numerator, value.denominator)
    raise InvalidValue(name, value, "a SymPy expression or an exact number", "text is not read as a formula")


@dataclass(frozen=True, slots=True)
class Unit:
    """The scaling of a quantity when the problem is measured in other units.

    Attributes:
        loss: Exponent of c when every loss is multiplied by c (F -> cF).
        length: Exponent of s when every distance between parameters is multiplied by s (w -> sw).
        samples: Exponent of k when every record is repeated k times. Privacy is measured per record, so what k copies
            of a record may leak together is k times ε and k² times ρ: the units of ε and ρ are -1 and -2. Formulas
            that mix ε with log(1/δ) do not scale in this sense, and are not asked to.
    """

    loss: Exponent = 0
    length: Exponent = 0
    samples: Exponent = 0

    def exponent(self, base: str) -> Expr:
        """Return the exponent of ``base`` ("loss", "length" or "samples") as a SymPy expression."""
        return as_expression(getattr(self, base), base)

    def __str__(self) -> str:
        parts = [(base, self.exponent(base)) for base in ("loss", "length", "samples")]
        return " ".join(f"{base}**({power})" if power != 1 else base for base, power in parts if power != 0) or "1"


@dataclass(frozen=True, slots=True)
class Domain:
    """An interval of real or whole numbers; an end that is ``None`` does not bound.

    >>> unit = Domain(Fraction(0), Fraction(1), upper_open=False)
    >>> str(unit), unit.contains(Fraction(1)), unit.contains(Fraction(0))
    ('greater than 0 and at most 1', True, False)
    """

    lower: Fraction | None = None
    upper: Fraction | None = None
    lower_open: bool = True
    upper_open: bool = True
    whole: bool = False

    def contains(self, value: Fraction) -> bool:
        """Return whether the number is allowed, decided exactly."""
        if self.whole and value.denominator != 1:
            return False
        if self.lower is not None and (value <= self.lower if self.lower_open else value < self.lower):
            return False
        return self.upper is None or (value < self.upper if self.upper_open else value <= self.upper)

    def __str__(self) -> str:
        ends = []
        if self.lower is not None:
            ends.append(f"{'greater than' if self.lower_open else 'at least'} {self.lower}")
        if self.upper is not None:
            ends.append(f"{'less than' if self.upper_open else 'at most'} {self.upper}")
        kind = "a whole number" if self.whole else "" if ends else "a number"
        return " ".join([kind, " and ".join(ends)]).strip()

    @classmethod
    def of_symbol(cls, symbol: Symbol) -> Domain:
        """Return the domain that a symbol's assumptions state (for symbols local to one formula)."""
        whole = bool(symbol.is_integer)
        zero = Fraction(0)
        if symbol.is_positive:
            return cls(zero, whole=whole)
        if symbol.is_nonnegative:
            return cls(zero, lower_open=False, whole=whole)
        if symbol.is_negative:
            return cls(upper=zero, whole=whole)
        if symbol.is_nonpositive:
            return cls(upper=zero, upper_open=False, whole=whole)
        return cls(whole=whole)


@dataclass(frozen=True, slots=True)
class Quantity:
    """One quantity of the symbol table.

    Attributes:
        name: The word used in keyword arguments, in tables and on the command line.
        symbol: Its one SymPy symbol; ``symbol.name`` is ``name``, and its assumptions follow from the domain.
        latex: The LaTeX of the quantity in formulas.
        aliases: Other names under which a value may be given.
    """

    name: str
    symbol: Symbol
    domain: Domain
    unit: Unit
    meaning: str
    latex: str
    aliases: tuple[str, ...] = ()


_ZERO, _ONE, _TWO = Fraction(0), Fraction(1), Fraction(2)
_POSITIVE = Domain(_ZERO)
_NONNEGATIVE = Domain(_ZERO, lower_open=False)
_COUNT = Domain(_ONE, lower_open=False, whole=True)
_PROBABILITY = Domain(_ZERO, _ONE)  # open at both endpoints
_FRACTION = Domain(_ZERO, _ONE, upper_open=False)

_PURE, _LOSS, _LENGTH = Unit(), Unit(loss=1), Unit(length=1)
_GRADIENT, _CURVATURE, _CURVATURE_CHANGE = Unit(1, -1), Unit(1, -2), Unit(1, -3)

_records: list[Quantity] = []  # filled by the lines below and by nothing else; ``QUANTITIES`` is its frozen form


def _define(name: str, latex: str, domain: Domain, unit: Unit, meaning: str, *aliases: str) -> Symbol:
    assumptions: dict[str, bool] = {"integer": True} if domain.whole else {"real": True}
    if domain.lower is not None:
        starts_at_zero = domain.lower == 0 and not domain.lower_open
        assumptions["nonnegative" if starts_at_zero else "positive"] = True
    symbol = Symbol(name, **assumptions)
    _records.append(Quantity(name, symbol, domain, unit, meaning, latex, aliases))
    return symbol


# The data and the run
dataset_size = _define("dataset_size", "n", _COUNT, Unit(samples=1), "number of records, public", "n")
dimension = _define("dimension", "d", _COUNT, _PURE, "number of parameters", "d")
rank = _define("rank", "r", _COUNT, _PURE, "rank of the matrix of features")
steps = _define("steps", "T", _COUNT, _PURE, "number of iterations", "T")
batch_size = _define("batch_size", "b", _COUNT, _PURE, "number of records in one batch")
sample_rate = _define("sample_rate", "q", _FRACTION, _PURE, "probability that a record takes part in a step")
step_size = _define("step_size", r"\eta", _POSITIVE, Unit(-1, 2), "factor of the gradient in one update")
anchor_period = _define("anchor_period", "q_{a}", _COUNT, _PURE, "steps from one full gradient estimate to the next")
candidates = _define("candidates", "N", _COUNT, _PURE, "number of points that a selection chooses from")

# Privacy
epsilon = _define("epsilon", r"\varepsilon", _POSITIVE, Unit(samples=-1), "privacy loss of (ε, δ)-DP")
delta = _define("delta", r"\delta", _PROBABILITY, _PURE, "failure probability of (ε, δ)-DP")
rho = _define("rho", r"\rho", _POSITIVE, Unit(samples=-2), "budget of zero-concentrated DP (zCDP)")
gaussian_mu = _define("gaussian_mu", r"\mu_{G}", _POSITIVE, Unit(samples=-1), "parameter of Gaussian DP")
step_epsilon = _define(
    "step_epsilon", r"\varepsilon_{0}", _POSITIVE, Unit(samples=-1), "privacy loss of one pure-DP step"
)
noise_constant = _define(
    "noise_constant", "c", _POSITIVE, _PURE, "constant of a noise variance whose existence alone is stated"
)
noise_multiplier = _define("noise_multiplier", "z", _POSITIVE, _PURE, "noise per unit of the per-record bound")
noise_stddev = _define("noise_stddev", r"\sigma", _NONNEGATIVE, _GRADIENT, "standard deviation of gradient noise")
hessian_noise_stddev = _define(
    "hessian_noise_stddev", r"\sigma_{H}", _NONNEGATIVE, _CURVATURE, "standard deviation of each entry of Hessian noise"
)
difference_noise_stddev = _define(
    "difference_noise_stddev", r"\sigma_{2}", _NONNEGATIVE, _CURVATURE, "noise of a gradient difference per distance"
)
sensitivity = _define("sensitivity", r"\Delta", _POSITIVE, _GRADIENT, "largest distance of two neighbours' gradients")
score_sensitivity = _define("score_sensitivity", r"\Delta_u", _POSITIVE, _LOSS, "largest change of a selection's score")
radius = _define("radius", "r_{u}", _POSITIVE, _GRADIENT, "radius of the ball of uniform gradient noise")
distance = _define("distance", r"\Delta_{g}", _NONNEGATIVE, _GRADIENT, "distance between two gradients")
inverse_temperature = _define(
    "inverse_temperature", r"\beta", _POSITIVE, Unit(loss=-1), "factor of the loss in a Gibbs distribution"
)

# The loss
lipschitz = _define("lipschitz", "G", _POSITIVE, _GRADIENT, "bound on the l2 norm of one record's gradient")
lipschitz_l1 = _define("lipschitz_l1", "G_{1}", _POSITIVE, _GRADIENT, "bound on one record's partial derivatives")
smoothness = _define("smoothness", "L", _POSITIVE, _CURVATURE, "Lipschitz constant of the gradient (l2)")
hessian_lipschitz = _define(
    "hessian_lipschitz", r"\rho_{H}", _POSITIVE, _CURVATURE_CHANGE, "Lipschitz constant of the Hessian (operator norm)"
)
smoothness_l1 = _define("smoothness_l1", "L_{1}", _POSITIVE, _CURVATURE, "Lipschitz constant of the gradient, l1 to l∞")
relative_smoothness = _define(
    "relative_smoothness", r"\tilde{L}", _POSITIVE, _LOSS, "smoothness in a norm whose unit ball is the set itself"
)
initial_gap = _define("initial_gap", r"\Delta_{F}", _NONNEGATIVE, _LOSS, "F at the first iterate minus its infimum")
loss_range = _define("loss_range", "B", _POSITIVE, _LOSS, "largest minus smallest value of the loss")
excess_risk = _define("excess_risk", r"\psi", _NONNEGATIVE, _LOSS, "risk minus the smallest possible risk")
stationarity = _define("stationarity", r"\alpha", _POSITIVE, _GRADIENT, "gradient norm to reach")
sub_gaussian = _define("sub_gaussian", r"\tau", _POSITIVE, _GRADIENT, "sub-Gaussian constant of one record's gradient")
regularisation = _define("regularisation", r"\lambda", _POSITIVE, _CURVATURE, "factor of |w|²/2 added to the loss")
pl_constant = _define(
    "pl_constant", r"\mu", _POSITIVE, _CURVATURE, "Polyak-Łojasiewicz constant: |∇F|² >= 2μ(F - inf F)"
)
kl_exponent = _define(
    "kl_exponent",
    "k",
    Domain(_ONE, _TWO, lower_open=False, upper_open=False),
    _PURE,
    "exponent of F - inf F <= γᵏ|∇F|ᵏ",
)
kl_constant = _define(
    "kl_constant", r"\gamma", _POSITIVE, Unit(1 / kl_exponent - 1, 1), "constant of F - inf F <= γᵏ|∇F|ᵏ"
)
quasar_convexity = _define(
    "quasar_convexity", "q_{c}", _FRACTION, _PURE, "q of <∇F(w), w - w*> >= q(F(w) - inf F): 1 for star-convex"
)
log_sobolev = _define(
    "log_sobolev", "C_{LS}", _POSITIVE, Unit(length=2), "constant of Ent(f²) <= 2C E|∇f|² (log-Sobolev)"
)
drift_threshold = _define(
    "drift_threshold", r"\kappa", _POSITIVE, Unit(length=2), "squared distance after which a gradient is taken anew"
)

# The constraint set
diameter = _define("diameter", "D", _POSITIVE, _LENGTH, "largest l2 distance within the constraint set")
l1_diameter = _define("l1_diameter", "D_{1}", _POSITIVE, _LENGTH, "largest l1 distance within the constraint set")
net_radius = _define(
    "net_radius", "r_{n}", _POSITIVE, _LENGTH, "largest distance from the set to the nearest net point"
)
enclosing_radius = _define(
    "enclosing_radius", "R", _POSITIVE, _LENGTH, "radius of a ball that holds the constraint set"
)
norm_bound = _define("norm_bound", "R_{C}", _POSITIVE, _LENGTH, "largest l2 norm within the constraint set")
l1_norm_bound = _define("l1_norm_bound", "C_1", _POSITIVE, _LENGTH, "largest l1 norm within the constraint set")
gaussian_width = _define("gaussian_width", "w_{C}", _POSITIVE, _LENGTH, "E sup <w, g> over the set, g ~ N(0, I)")
dual_norm_square = _define("dual_norm_square", "W", _POSITIVE, _PURE, "E |g|², g ~ N(0, I), in the dual norm")
approximation_ratio = _define(
    "approximation_ratio", r"\Phi", _FRACTION, _PURE, "share of the optimum that a quadratic-programming oracle reaches"
)

# The guarantee
failure_probability = _define("failure_probability", r"\zeta", _PROBABILITY, _PURE, "probability that the bound fails")

QUANTITIES: tuple[Quantity, ...] = tuple(_records)


@cache
def by_name() -> Mapping[str, Quantity]:
    """Every quantity under its name and under each alias."""
    return MappingProxyType({name: record for record in QUANTITIES for name in (record.name, *record.aliases)})


def quantity(name: str | Symbol) -> Quantity:
    """Return the record of that name, alias or symbol.

    Raises:
        InvalidValue: The table has none; or it has one of that name whose symbol is not the one given.

    >>> quantity("n").name, str(quantity("delta").domain)
    ('dataset_size', 'greater than 0 and less than 1')
    """
    word = name.name if isinstance(name, Symbol) else name
    record = by_name().get(word)
    if record is None:
        near = ", ".join(nearest(word, by_name()))
        allowed = "a quantity of the symbol table (dpbounds.expressions.symbols)" + (
            f", such as {near}" if near else ""
        )
        raise InvalidValue("quantity", repr(word), allowed)
    if isinstance(name, Symbol) and name != record.symbol:
        advice = f"use dpbounds.expressions.symbols.{record.name}"
        raise InvalidValue("symbol", name, f"the symbol table's own symbol for {record.meaning}", advice)
    return record


def domain_of(symbol: Symbol) -> Domain:
    """Return the table's domain of a symbol, or that of its assumptions if its name is not in the table.

    Raises:
        InvalidValue: The name is in the table, but this is another symbol (other assumptions, or an alias).
    """
    return quantity(symbol).domain if symbol.name in by_name() else Domain.of_symbol(symbol)


def latex_names() -> dict[Symbol, str]:
    """Symbol to printed letter, as ``sympy.latex(..., symbol_names=...)`` takes it."""
    return {record.symbol: record.latex for record in QUANTITIES}
