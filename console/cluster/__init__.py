"""The parts of a cluster, each shown and changed: topics, brokers, records, access lists, quotas and more."""
