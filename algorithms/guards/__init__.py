"""What watches runs: a count of answers; on request a shadow that knows only what was released, and residuals."""
