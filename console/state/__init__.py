"""The cluster as the collector saw it last: clusters, consumer groups, history."""
