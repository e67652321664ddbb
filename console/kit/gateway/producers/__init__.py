"""Producers and transactions that are open."""
