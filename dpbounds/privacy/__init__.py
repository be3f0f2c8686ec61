"""What a mechanism spends."""
