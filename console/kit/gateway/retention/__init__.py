"""Retention: what it would delete, and the settings it follows."""
