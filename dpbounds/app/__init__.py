"""A calculator in the browser, with the same questions, answers and errors as the command line."""
