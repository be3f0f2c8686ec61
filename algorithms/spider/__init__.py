"""Steps along an estimate kept up to date by noisy differences of gradients (SPIDER), restarted or with kicks."""
