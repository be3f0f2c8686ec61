"""Printing of answers."""
