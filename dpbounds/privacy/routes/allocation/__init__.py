"""What steps that are allocated in secret spend: the mean of many likelihood ratios, enclosed (``proof.md``)."""
