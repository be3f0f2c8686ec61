"""What groups of records spend."""

from __future__ import annotations

import dpbounds as dp
from tests.golden.mechanisms import RELATIONS, made
from tests.golden.recording import enclosed

_ADD_OR_REMOVE, _REPLACE, _ZERO = RELATIONS
_MECHANISMS = (
    (_ADD_OR_REMOVE, 'poisson(gaussian(2), "0.01") ** 100'),
    (_REPLACE, 'poisson(gaussian(2), "0.01") ** 100'),
    (_ZERO, 'poisson(gaussian(4), "0.01") ** 10'),
    (_ADD_OR_REMOVE, 'poisson(laplace(9), "0.1") ** 5'),
    (_REPLACE, "without_replacement(gaussian(4), 5, 100) ** 5"),
    (_REPLACE, "with_replacement(gaussian(4), 5, 100) ** 5"),
    (_ADD_OR_REMOVE, "discrete_gaussian(9, 1, 1) ** 10"),
    (_ADD_OR_REMOVE, "discrete_laplace(9) ** 10"),
    (_REPLACE, 'response("1/4") ** 10'),
    (_REPLACE, 'zcdp("1/100") ** 10'),
    (_ADD_OR_REMOVE, "blocks(gaussian(9), laplace(12)) ** 2"),
    (_REPLACE, 'last_iterate(gaussian(9), 5, 2, "0.1") ** 1'),
    (_ADD_OR_REMOVE, "allocated(gaussian(9), 20) ** 1"),
    (_ADD_OR_REMOVE, '(gaussian(9) ** 3) @ (poisson(gaussian(2), "0.01") ** 10)'),
    (_REPLACE, "shuffled(gaussian(20), 100) ** 1"),
)


def questions():
    """Every mechanism for a small and a larger group."""
    for relation, expression in _MECHANISMS:
        for size, target in ((2, {"delta": "1e-5"}), (6, {"epsilon": 3})):
            yield (
                f"{size}, {target}: {expression}, {relation}",
                lambda s=size, t=target, r=relation, e=expression: enclosed(
                    value=dp.group_account(made(e), s, relation=r, **t)
                ),
            )
