"""Answers of the verbs: computations and reports."""
