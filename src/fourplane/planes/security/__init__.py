"""Security across the planes: sharing, isolation, owners of decisions."""
