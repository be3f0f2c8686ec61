"""The language of theorems, and their checks; the theorems themselves are in ``dpbounds.papers``.

A statement's file imports ``language.py``. ``vocabulary.py``, ``parts.py`` and ``record.py`` define statements,
``quantities.py`` and ``assumptions.py`` their terms; ``index.py`` and ``registry.py`` find them, ``evaluation.py``
evaluates them, ``spending.py`` computes the privacy of their algorithms, ``monotonicity.py`` the directions in which
they grow, and ``standing.py`` their status; ``checking.py`` checks them, and ``wording.py`` prints them.
"""
