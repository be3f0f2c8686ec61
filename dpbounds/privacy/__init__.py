"""Privacy accounting of mechanisms."""
