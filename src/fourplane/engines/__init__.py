"""Engines bring a probe to nodes and its lines back."""
