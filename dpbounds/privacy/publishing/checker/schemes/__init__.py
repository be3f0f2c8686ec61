"""Kinds of releases: one file per family of schemes."""
