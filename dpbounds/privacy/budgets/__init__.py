"""What a budget allows: calibration, filters, what remains."""
