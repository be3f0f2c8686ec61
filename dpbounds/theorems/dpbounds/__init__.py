"""Results of this library without a printed counterpart."""
