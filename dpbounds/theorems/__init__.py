"""The language of statements, and what judges them; the statements themselves are in ``dpbounds.papers``.

``language.py`` is what a statement's file imports. ``vocabulary.py``, ``parts.py`` and ``record.py`` say what a
statement is, ``quantities.py`` and ``assumptions.py`` what it speaks of, ``index.py`` and ``registry.py`` where it is
found, ``evaluation.py`` what it amounts to, ``spending.py`` what its algorithm really spends, ``monotonicity.py`` in
what it rises or falls, ``standing.py`` what is known of it, ``checking.py`` what every statement must satisfy,
``wording.py`` how it is told.
"""
