"""Fourplane: decide, design, prove, operate and account for GPU clusters."""

__version__ = "0.1.0"
