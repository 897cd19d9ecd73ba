"""The run store: observations and raw files, append-only, chained by hashes, redacted before storing."""
