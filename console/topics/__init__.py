"""Topics and partitions as the collector last saw them; list and detail pages; creating and deleting a topic."""
