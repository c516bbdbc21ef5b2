"""Families of models, and the CPU animatic, that can run stages."""
