"""Points that are drawn, not walked to: exponential mechanisms on nets and on convex sets, above-threshold."""
