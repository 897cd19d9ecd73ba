"""Bounded YAML with the place of every key and value: what declarations, quotes and catalogue overlays are read by."""
