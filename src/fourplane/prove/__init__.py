"""The job that measures: plan, run, resume, record."""
