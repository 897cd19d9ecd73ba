"""Procurement (B5): what to ask a provider, by which test each answer is accepted, and what a quote leaves open."""
