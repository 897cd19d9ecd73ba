"""Control plane: scheduler, queues, quotas, retries, runbooks."""
