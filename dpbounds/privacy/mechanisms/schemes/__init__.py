"""Ways in which records come into batches, and what runs on these: one file for each family."""
