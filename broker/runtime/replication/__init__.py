"""The partitions a broker hosts, and the fetches that keep their copies alike."""
