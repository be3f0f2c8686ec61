"""The roof, too: a calculator in the browser, whose questions, answers and refusals are those of the command line."""
