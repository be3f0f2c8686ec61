"""Results of this library without a printed counterpart, each with its derivation."""
