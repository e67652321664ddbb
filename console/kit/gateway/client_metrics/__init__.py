"""Subscriptions of a cluster to metrics of its clients."""
