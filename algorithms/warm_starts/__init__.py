"""Two private steps in a row: a start with small excess risk, then stationarity from there; random projections."""
