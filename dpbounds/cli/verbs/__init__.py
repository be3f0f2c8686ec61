"""One file per verb, of the verb's name."""
