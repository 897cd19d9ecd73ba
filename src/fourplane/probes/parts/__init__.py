"""Pieces that the probes share; packed with a probe into one file, standard library only, Python 3.8 or newer."""
