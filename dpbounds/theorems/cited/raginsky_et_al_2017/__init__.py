"""Raginsky, Rakhlin & Telgarsky 2017: non-convex learning by Langevin dynamics; used by Wang, Chen & Xu 2019."""
