"""What workers keep: configurations, source offsets and states, in three compacted topics or, standalone, in a file."""
