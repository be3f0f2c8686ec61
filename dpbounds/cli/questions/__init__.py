"""Questions of the verbs: options, training runs, ledgers."""
