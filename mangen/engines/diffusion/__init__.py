"""Diffusion models behind the stages: families of pipelines, their batches, their checkpoints."""
