"""Formulas as papers write them, read back by a parser that knows nothing of the printer: the same numbers."""

import random
import re
from dataclasses import replace

import mpmath
import pytest
from sympy import Max, Min, Rational, lambdify, log, sqrt

from dpbounds.expressions.symbols import dataset_size, delta, dimension, epsilon, quantity
from dpbounds.theorems.formulas import letters
from dpbounds.theorems.language import q
from dpbounds.theorems.paper_style import in_a_line
from dpbounds.theorems.registry import library

SMALL = ("delta", "failure_probability", "sample_rate")
UNREAD = re.compile(r"\\begin|\\operatorname|\\l?r?floor|\\l?r?ceil|\\left|\\pi|W")  # no sums, products, powers


class Parser:
    """Sums of products of powers; a product may end with a slash, under which one factor stands."""

    def __init__(self, text, values):
        words = sorted(map(re.escape, values), key=len, reverse=True)
        word = "|".join([*words, r"\\(?:sqrt|log|ln|min|max)\b", r"\\[{}]", r"\d+", r"[-+/^(){},]", "e"])
        self.tokens = re.findall(word, text)
        assert "".join(self.tokens) == text.replace(" ", ""), text
        self.values = values

    def next(self, wanted=None):
        word = self.tokens.pop(0)
        assert wanted in (None, word), (wanted, word)
        return word

    def sees(self, *tokens):
        return bool(self.tokens) and self.tokens[0] in tokens

    def sum(self):
        negative = self.sees("-") and self.next()
        total = -self.product() if negative else self.product()
        while self.sees("+", "-"):
            total = total + self.product() if self.next() == "+" else total - self.product()
        return total

    def product(self):
        value = self.factor()
        while self.tokens and not self.sees("+", "-", "/", ")", "}", r"\}", ","):
            value *= self.factor()
        return value / self.factor() if self.sees("/") and self.next() else value

    def power(self, of):
        if not self.sees("^"):
            return of
        self.next()
        return of ** self.within("{", "}")

    def within(self, opening, closing):
        self.next(opening)
        value = self.sum()
        self.next(closing)
        return value

    def factor(self):
        word = self.next()
        if word == r"\sqrt":
            return self.power(mpmath.sqrt(self.within("{", "}")))
        if word in (r"\log", r"\ln"):
            raised = self.power(mpmath.mpf(1)) if not self.sees("^") else (self.next("^"), self.within("{", "}"))[1]
            return mpmath.log(self.within("(", ")")) ** raised
        if word in (r"\min", r"\max"):
            self.next(r"\{")
            found = [self.sum()]
            while self.sees(",") and self.next():
                found.append(self.sum())
            self.next(r"\}")
            return (min if word == r"\min" else max)(found)
        if word == "(":
            value = self.sum()
            self.next(")")
            return self.power(value)
        if word.isdigit():
            return self.power(mpmath.mpf(word))
        return self.power(self.values.get(word, mpmath.e))


def read(text, values):
    """The value of a formula in LaTeX."""
    parser = Parser(text, values)
    value = parser.sum()
    assert not parser.tokens, parser.tokens
    return value


def agreed(expression, local, text, seed):
    """The formula's value by SymPy is that of its LaTeX at the same random values."""
    draw = random.Random(seed)
    symbols = sorted(expression.free_symbols, key=str)
    at = [draw.uniform(0.05, 0.2) if one.name in SMALL else draw.uniform(1.1, 1.9) for one in symbols]
    named = letters(local)
    with mpmath.workdps(30):
        value = lambdify(symbols, expression, "mpmath")(*map(mpmath.mpf, at))
        shown = read(text, {named[one]: mpmath.mpf(x) for one, x in zip(symbols, at, strict=True)})
    assert abs(shown - value) <= 1e-9 * abs(value), text


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        (q.G * sqrt(q.d * log(1 / q.delta)) / (q.n * q.epsilon), r"G \sqrt{d \log(1/\delta)}/(\varepsilon n)"),
        ((sqrt(q.L * q.d) / (q.n * q.epsilon)) ** Rational(2, 3), r"(\sqrt{L d}/(\varepsilon n))^{2/3}"),
        (log(q.n) ** 3 / sqrt(q.n), r"\log^{3}(n)/\sqrt{n}"),
        (2 * q.G / (3 * q.n), r"2 G/(3 n)"),
        (q.G - (q.d - q.G) / q.n, r"G - (d - G)/n"),
        (-q.G / 2, r"- G/2"),
        (Min(1, Max(q.G, q.L)) ** Rational(1, 3), r"(\min\{1, \max\{G, L\}\})^{1/3}"),
        (1 / q.n ** Rational(1, 3), r"1/n^{1/3}"),
    ],
)
def test_as_papers_write_it(formula, text):
    assert in_a_line(formula, logarithm=r"\log") == text


def test_letters_of_ones_own():
    smoothness = replace(quantity("smoothness"), latex=r"\beta")
    assert in_a_line(sqrt(q.L), [smoothness]) == r"\sqrt{\beta}"


@pytest.mark.parametrize(
    ("formula", "wrong"),
    [
        (sqrt(dimension * log(1 / delta)) / (dataset_size * epsilon), r"\sqrt{d} \log(1/\delta)/(\varepsilon n)"),
        (sqrt(dimension) / (dataset_size * epsilon), r"\sqrt{d}/\varepsilon n"),
        ((dimension / epsilon) ** Rational(2, 3), r"(d/\varepsilon)^{1/3}"),
    ],
)
def test_the_parser_sees_what_is_wrong(formula, wrong):
    with pytest.raises(AssertionError):
        agreed(formula, (), wrong, 1)


def agree(parts):
    for theorem, part in parts:
        for expression in (part.expression, part.restored_expression):
            for roots in (True, False):
                text = "" if expression is None else in_a_line(expression, theorem.local, roots_of_sums=roots)
                if not text or UNREAD.search(text):
                    continue
                agreed(expression, theorem.local, text, theorem.id + part.name)
                yield theorem


def every_part():
    return [(one, part) for one in library() for part in one.parts]


def test_orders_say_the_same():
    assert len(list(agree([one for one in every_part() if one[1].is_order][::4]))) > 50


@pytest.mark.seconds
def test_every_formula_says_the_same():
    parts = every_part()
    assert len(list(agree(parts))) > 1.6 * len(parts)  # few have what the parser does not know
