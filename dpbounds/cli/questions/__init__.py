"""What the verbs ask: options, training runs, ledgers."""
