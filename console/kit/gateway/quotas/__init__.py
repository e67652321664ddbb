"""Quotas: for whom, of what, and which of several counts."""
