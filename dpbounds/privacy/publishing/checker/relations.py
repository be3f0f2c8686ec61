"""Neighbouring relations, and the orders of two neighbours."""

from __future__ import annotations

RELATIONS = {
    "add-or-remove-one": "two datasets are neighbours when one is the other plus one record",
    "replace-one": "two datasets are neighbours when one record is replaced by another",
    "zero-out-one": "two datasets are neighbours when they agree but for one position, whose record in one of the two "
    "contributes nothing to any answer; its place, and how many records there are, stay and are public",
}
ORDERS = ("remove", "add", "replace", "both orders")
RECORD = {"replace-one": ("replace",), "zero-out-one": ("remove", "add"), "add-or-remove-one": ("remove", "add")}
