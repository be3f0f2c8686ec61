"""Results of this library without a printed counterpart; a name begins with what the result is about."""
