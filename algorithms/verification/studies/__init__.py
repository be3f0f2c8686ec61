"""One study for each family of algorithms: its problems, its runs, its checks, its examples.

A study is a module with ``CHECKS`` (planned checks) and ``EXAMPLES``; ``dpbounds.algorithms.verification.catalogue``
finds it.
"""
