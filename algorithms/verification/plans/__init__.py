"""Which checks there are, by family."""
