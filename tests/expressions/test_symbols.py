"""The symbol table is complete, consistent and strict."""

import subprocess
import sys
from fractions import Fraction

import pytest
from sympy import Symbol, latex, sqrt

from dpbounds.errors import InvalidValue
from dpbounds.expressions import symbols
from dpbounds.expressions.symbols import QUANTITIES, Domain, Unit, by_name, domain_of, latex_names, quantity


def test_names_and_aliases_are_distinct():
    words = [word for record in QUANTITIES for word in (record.name, *record.aliases)]
    assert len(words) == len(set(words)) == len(by_name())
    assert len({record.latex for record in QUANTITIES}) == len(QUANTITIES)


@pytest.mark.parametrize("record", QUANTITIES, ids=lambda record: record.name)
def test_record_is_consistent(record):
    assert getattr(symbols, record.name) is record.symbol
    assert record.symbol.name == record.name
    assert record.symbol.is_real
    assert bool(record.symbol.is_integer) == record.domain.whole
    # The assumptions promise no more than the domain keeps.
    if record.symbol.is_positive:
        assert not record.domain.contains(Fraction(0))
    assert not record.domain.contains(Fraction(-1))
    assert record.domain.contains(Fraction(1)) or record.domain.contains(Fraction(1, 2))
    assert record.meaning
    assert not record.meaning.endswith(".")
    assert {
        str(symbol) for base in ("loss", "length", "samples") for symbol in record.unit.exponent(base).free_symbols
    } <= {entry.name for entry in QUANTITIES}


def test_units_agree_with_the_relations_between_quantities():
    def unit(name):
        entry = quantity(name).unit
        return [entry.exponent(base) for base in ("loss", "length")]

    length = unit("diameter")
    for name, derivative in (("lipschitz", 1), ("smoothness", 2), ("hessian_lipschitz", 3)):
        assert unit(name) == [loss - derivative * step for loss, step in zip(unit("initial_gap"), length, strict=True)]
    # A gradient step is a distance; a squared gradient over a curvature is a loss.
    assert [a + b for a, b in zip(unit("step_size"), unit("lipschitz"), strict=True)] == length
    assert [2 * a - b for a, b in zip(unit("lipschitz"), unit("pl_constant"), strict=True)] == unit("excess_risk")
    k = symbols.kl_exponent
    assert [
        k * (a + b) - c for a, b, c in zip(unit("kl_constant"), unit("lipschitz"), unit("excess_risk"), strict=True)
    ] == [0, 0]


@pytest.mark.parametrize(
    ("domain", "text", "inside", "outside"),
    [
        (Domain(), "a number", ["-7", "1/3"], []),
        (Domain(Fraction(0), Fraction(1)), "greater than 0 and less than 1", ["1/2"], ["0", "1", "2"]),
        (
            Domain(Fraction(0), Fraction(1), False, False),
            "at least 0 and at most 1",
            ["0", "1"],
            ["-1/9", "10/9"],
        ),
        (Domain(Fraction(1), lower_open=False, whole=True), "a whole number at least 1", ["1", "9"], ["0", "3/2"]),
        (Domain(upper=Fraction(2)), "less than 2", ["-5"], ["2"]),
    ],
)
def test_domain(domain, text, inside, outside):
    assert str(domain) == text
    assert all(domain.contains(Fraction(value)) for value in inside)
    assert not any(domain.contains(Fraction(value)) for value in outside)


def test_domain_from_assumptions():
    assert Domain.of_symbol(Symbol("x")) == Domain()
    assert Domain.of_symbol(Symbol("x", positive=True)) == Domain(Fraction(0))
    assert Domain.of_symbol(Symbol("x", nonnegative=True)) == Domain(Fraction(0), lower_open=False)
    assert Domain.of_symbol(Symbol("x", negative=True)) == Domain(upper=Fraction(0))
    assert Domain.of_symbol(Symbol("x", nonpositive=True)) == Domain(upper=Fraction(0), upper_open=False)
    assert Domain.of_symbol(Symbol("x", integer=True, positive=True)) == Domain(Fraction(0), whole=True)


@pytest.mark.parametrize("name", ["epsilon", "n", "T"])
def test_another_symbol_of_a_known_name_is_refused(name):
    with pytest.raises(InvalidValue, match="the symbol table's own symbol"):
        domain_of(Symbol(name))


def test_unknown_quantity_lists_the_known_ones():
    with pytest.raises(InvalidValue, match="dataset_size"):
        quantity("datasetsize")


def test_unit_and_latex_print():
    assert str(Unit(1, -2)) == "loss length**(-2)"
    assert str(Unit()) == "1"
    assert str(Unit(loss=Fraction(1, 2))) == "loss**(1/2)"
    assert latex(sqrt(symbols.epsilon), symbol_names=latex_names()) == r"\sqrt{\varepsilon}"


def test_importing_the_package_does_not_import_sympy():
    code = "import sys, dpbounds, dpbounds.expressions; sys.exit('sympy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
