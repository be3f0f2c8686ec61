"""What papers prove: one statement per file, a claim next to its number.

``record.py`` says what a statement is, ``assumptions.py`` what it may assume, ``registry.py`` where it is found,
``evaluation.py`` what it amounts to, ``spending.py`` what its algorithm really spends, ``checking.py`` what every
statement must satisfy, ``wording.py`` how it is told.
"""
