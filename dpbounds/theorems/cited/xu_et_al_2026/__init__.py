"""Xu, Tao, Ding, Fan & Wang 2026: private second-order points of minimax problems; the abstract was read."""
