"""Probes: each one file, standard library only, Python 3.8 or newer, JSON lines on stdout.

They are sent to nodes as files and never imported by the product.
"""
