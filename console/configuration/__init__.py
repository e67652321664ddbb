"""The settings of a topic: what counts, where it comes from, what it means, and a change of one by plan."""
