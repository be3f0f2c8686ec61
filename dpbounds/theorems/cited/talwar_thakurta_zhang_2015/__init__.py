"""Talwar, Thakurta & Zhang 2015: a nearly optimal private LASSO; the abstract was read."""
