"""Restarting all brokers one after the other, so that clients notice nothing: planned, watched, paused, called off."""
