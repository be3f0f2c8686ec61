"""Kernel certificates: integers that a checker proven in Coq accepts."""
