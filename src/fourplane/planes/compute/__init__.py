"""Compute plane: node shapes, GPUs, memory, life cycle."""
