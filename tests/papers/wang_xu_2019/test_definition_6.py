"""Definition 6, a second time from the text."""

TWINS = {"inverse_temperature": lambda step_epsilon, score_sensitivity: step_epsilon / score_sensitivity / 2}
