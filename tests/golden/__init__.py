"""Golden answers: the same questions asked before and after a change of structure, and how the answers differ.

    python -m tests.golden record DIRECTORY [--kinds KIND ...] [--nightly]
    python -m tests.golden compare OLD NEW
    python -m tests.golden against COMMIT [--kinds KIND ...] [--nightly]

``record`` asks the questions and writes one file per kind, one answer a line. Each kind is asked in a fresh process and
in a fixed order, because caches carry over from one answer to the next. ``compare`` reads two such directories.
``against`` records a commit in a temporary worktree of Git and the files at hand, and compares both.

Every answer has two sides. The *outcome* is what a user relies on: whether a question is answered or refused and with
which exception, certified ends as exact fractions, entries of ledgers and certificates, digests. The *text* is how it
is said and how it was reached: messages, words, ``repr``, methods, parameters of proofs. The outcome is judged:

==============  ======================================================================================================
equal           nothing changed
narrower        every interval lies inside the old one, and one is smaller; or what was not proven is proven now
wider           an end lies outside the old interval; or what was proven is not proven any more
contradiction   two intervals for the same number do not overlap: one of them is wrong
changed         another exception, an answer in place of a refusal, or another value
missing         the question is not asked any more
new             the question was not asked before
==============  ======================================================================================================

``compare`` lists what is not equal, and exits with status 1 for wider, contradiction, changed and missing. Changed
texts are listed and do not fail.

Gating a restructuring
----------------------

1. Record before the first edit, outside the repository: ``python -m tests.golden record ../before``. Digests of runs
   are digests of floating-point numbers, so a record belongs to the machine that made it. None is committed.
2. After each step: ``python -m tests.golden record ../after``, ``python -m tests.golden compare ../before ../after``.
   ``--kinds structural pairs`` takes a minute and is enough where no number can change.
3. What the comparison lists is explained in the commit: a changed text, a narrower interval. Narrower does not fail,
   but an unsound change is narrower, too: say under *Numbers* in the changelog which proof allows it. A wider one is
   mended, or given up in words in the same place.
4. Where names move, edit ``adapters.py`` and ``mechanisms.py`` in the same commit. They are the only files here that
   name what lies below the package's public names, and what makes mechanisms; keys of questions are written in the
   vocabulary of ``mechanisms.py``, which stays. ``against COMMIT`` uses the two files of that commit and everything
   else of today.

What stays in the repository for good is ``certified_ends.txt``: proven intervals that every later proof has to overlap.
"""
