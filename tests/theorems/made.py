"""A statement of nobody's, for tests of what is said and checked of any."""

from dpbounds.theorems.language import Paper


def statement(*parts, conditions=()):
    """A claimed bound on the gradient norm, with these parts."""
    return Paper("mine").theorem(
        id="theorem-1",
        title="a title",
        statement="A claim.",
        where="here",
        bounds="gradient-norm, expectation",
        status="claimed",
        conditions=conditions,
        parts=parts,
    )
