"""Moves of partitions that begin at a time and go in batches: planned at once, paused, resumed, slowed, called off."""
