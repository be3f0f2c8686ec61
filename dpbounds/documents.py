"""Files of evidence: ledgers and certificates are read strictly, and what is written appears whole or not at all."""
