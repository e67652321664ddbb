"""The cluster as the collector last saw it: its state, brokers, topics and partitions. What every feature reads."""
