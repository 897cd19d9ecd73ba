"""Storage plane: staging, weights, checkpoints, restore."""
