"""Numbers of dominating pairs: moments, masses of the loss, δ(ε) by law and in closed form, pairs of groups."""

from __future__ import annotations

import math

from tests.golden import adapters
from tests.golden.mechanisms import RELATIONS
from tests.golden.recording import Answer
from tests.golden.structural import simple

_ORDERS = ("3/2", 2, 16)
_EPSILONS, _CLOSED_FORM_EPSILONS = (0, 3), ("1/2",)
_IN_CLOSED_FORM = ("full (", "poisson (", "poisson third (")  # schemes: with others it takes seconds and says no more
_LOSSES = ("-1/2", 0, "1/4", 2)
_GROUPS = (2, 3)


def questions():
    """Of every noise under every scheme, one release; what the same product gave before is not computed again."""
    known = {}
    for name, mechanism in simple().items():
        for relation in RELATIONS:
            yield from _of_classes(f"{name}, {relation}", mechanism, relation, known)
            yield from _of_groups(f"{name}, {relation}", mechanism, relation)


def _of_classes(name, mechanism, relation, known):
    """One row per kind of number; its parts are named by the class and the argument."""
    for kind, numbers in _NUMBERS.items():
        if kind == "closed form" and not name.startswith(_IN_CLOSED_FORM):
            continue
        yield (
            f"{kind}: {name}",
            lambda kind=kind, numbers=numbers: _collected(adapters.classes(mechanism, relation), kind, numbers, known),
        )


def _collected(classes, kind, numbers, known):
    ends, refused = {}, []
    for at, (_, _, product, _) in enumerate(classes):
        key = kind, repr(product)
        if key not in known:
            known[key] = numbers(product)
        found, reasons = known[key]
        ends |= {f"class {at}, {argument}": value for argument, value in found.items()}
        refused += [(at, *reason) for reason in reasons]
    return Answer([(at, argument) for at, argument, _ in refused], ends, text=[reason for *_, reason in refused])


def _asked(arguments, ask):
    """The ends by argument, and the refusals."""
    found, refused = {}, []
    for argument in arguments:
        try:
            value = ask(argument)
        except adapters.REFUSALS as error:
            refused.append((str(argument), f"{type(error).__name__}: {error}"))
        else:
            if value is not None:
                found[str(argument)] = value
    return found, refused


def _moments(product):
    return _asked(_ORDERS, lambda order: adapters.log_moment(product, order))


def _deltas(product):
    return _asked(_EPSILONS, lambda epsilon: adapters.delta_of(product[0][0], epsilon))


def _closed_forms(product):
    return _asked(_CLOSED_FORM_EPSILONS, lambda epsilon: adapters.delta_in_closed_form(product, epsilon))


def _masses(product):
    found, refused = _asked(_LOSSES, lambda loss: adapters.masses_above(product[0][0], loss))
    parts = ("P above", "Q above", "infinite")
    return {
        f"{loss}, {part}": ends for loss, all_ends in found.items() for part, ends in zip(parts, all_ends, strict=True)
    }, refused


_NUMBERS = {"moments": _moments, "profile": _deltas, "closed form": _closed_forms, "masses": _masses}


def _of_groups(name, mechanism, relation):
    for size in _GROUPS:
        yield f"groups of {size}: {name}", lambda size=size: _of_group(mechanism, relation, size)


def _of_group(mechanism, relation, size):
    products, attained = adapters.group_products(mechanism, relation, size)
    ends = {}
    for at, product in enumerate(products):
        found, _ = _asked((2,), lambda order, product=product: adapters.log_moment(product, order))
        ends |= {f"product {at}, order {order}": value for order, value in found.items()}
    return Answer(
        [len(products), attained, math.prod(len(one) for one in products)], ends, text=list(map(repr, products))
    )
