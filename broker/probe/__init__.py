"""A probe: writes to every broker, reads it back and tells from outside how the cluster is (as Kafka Monitor does)."""
