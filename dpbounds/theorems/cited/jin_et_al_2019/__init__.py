"""Jin, Netrapalli, Ge, Kakade & Jordan 2019: sums of norm-sub-Gaussian vectors; quoted by Ganesh et al. 2023."""
