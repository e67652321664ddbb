"""What a topic holds, by a bounded reading of some of its records."""
