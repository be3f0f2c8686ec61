"""Files of evidence: ledgers and certificates are read strictly, and whatever is written appears whole or not at all."""
