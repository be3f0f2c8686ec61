"""A formula, and its value in any precision."""
