"""Mirrors that copy topics of other clusters into this one: how far they are, as they say themselves."""
