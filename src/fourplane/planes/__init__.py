"""The only home of rules: what a design gets wrong on paper, and what measurements decide, plane by plane."""
