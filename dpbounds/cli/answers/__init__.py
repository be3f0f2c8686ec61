"""What the verbs answer with: computations and reports."""
