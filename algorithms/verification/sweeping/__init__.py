"""Runs as cells: on all cores or on a cluster, stored, resumable, with the same numbers everywhere."""
