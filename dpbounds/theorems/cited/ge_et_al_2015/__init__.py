"""Ge, Huang, Jin & Yuan 2015: escaping from saddle points; quoted by Tholeti & Kalyani 2020."""
