"""The gate: nine areas, each sub-condition with a verdict and its evidence."""
