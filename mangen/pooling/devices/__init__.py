"""Devices: memory that models live in, seen from their child and from the parent.

`device` has the two protocols and the makers; `cpu`, `cuda` and `simulated` implement them.
"""
