"""A broker that leaves for good: its replicas are moved away, then it is stopped in order, then it is forgotten."""
